/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/codec_flow.h"
#include "lib/record.h"

static void add(struct flow *flow, int64_t slot, uint64_t bytes)
{
    const struct demand_slot amount = {{[DEMAND_READ_BYTES] = bytes, [DEMAND_READ_OPS] = 1}};

    assert_int_equal(flow_add(flow, slot, &amount), 0);
}

static uint64_t total(const struct flow *flow, enum demand demand)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < flow->length; i++)
        sum += flow->slots[i].demand[demand];
    return sum;
}

static void slots_come_in_any_order(void **state)
{
    struct flow flow = {0};

    add(&flow, 1000, 5);
    add(&flow, 1003, 7);
    add(&flow, 997, 11);
    add(&flow, 1000, 1);
    assert_int_equal(flow.first, 997);
    assert_int_equal(flow.length, 7);
    assert_int_equal(flow.slots[0].demand[DEMAND_READ_BYTES], 11);
    assert_int_equal(flow.slots[3].demand[DEMAND_READ_BYTES], 6);
    assert_int_equal(flow.slots[6].demand[DEMAND_READ_BYTES], 7);
    assert_int_equal(total(&flow, DEMAND_READ_OPS), 4);
    flow_clear(&flow);
}

/* A clock that was set must cost neither memory nor counts. */
static void far_slots_are_kept_near(void **state)
{
    struct flow flow = {0};

    add(&flow, 1000000, 1);
    add(&flow, 9000000000, 2);
    add(&flow, 5, 4);
    assert_int_equal(flow.length, FLOW_SLOTS_MAX);
    assert_int_equal(total(&flow, DEMAND_READ_BYTES), 7);
    flow_clear(&flow);
}

static void a_sum_that_has_no_number_is_refused(void **state)
{
    const struct demand_slot huge = {{[DEMAND_WRITE_BYTES] = INT64_MAX}};
    struct flow flow = {0};

    assert_int_equal(flow_add(&flow, 1, &huge), 0);
    assert_int_equal(flow_add(&flow, 1, &huge), -ERANGE);
    assert_true(flow.slots[0].demand[DEMAND_WRITE_BYTES] == INT64_MAX);
    flow_clear(&flow);
}

static void what_has_no_time_is_spread_to_the_last_unit(void **state)
{
    const struct demand_slot amount = {{[DEMAND_READ_BYTES] = 1003, [DEMAND_READ_OPS] = 3}};
    struct flow flow = {0};

    assert_int_equal(flow_spread(&flow, 10, 19, &amount), 0);
    assert_int_equal(flow.length, 10);
    assert_int_equal(total(&flow, DEMAND_READ_BYTES), 1003);
    assert_int_equal(total(&flow, DEMAND_READ_OPS), 3);
    for (uint32_t i = 0; i < 10; i++)
        assert_in_range(flow.slots[i].demand[DEMAND_READ_BYTES], 100, 101);
    flow_clear(&flow);
}

static void packed_slots_come_back(void **state)
{
    struct flow flow = {0}, again = {0};

    add(&flow, 50, 4096);
    add(&flow, 60, 4096);
    add(&flow, 61, 4096);
    assert_int_equal(codec_slots_span(&again, flow.first, flow.length), 0);
    for (enum demand demand = 0; demand < DEMAND_COUNT; demand++) {
        size_t size;
        _cleanup_free_ unsigned char *data = codec_slots_pack(&flow, demand, &size);

        assert_non_null(data);
        if (demand == DEMAND_READ_BYTES)
            assert_int_equal(size, 8); /* 4096 takes two bytes, 0 and the times one */
        else if (demand != DEMAND_READ_OPS)
            assert_int_equal(size, 0);
        assert_int_equal(codec_slots_unpack(data, size, &again, demand), 0);
    }
    assert_int_equal(again.length, flow.length);
    assert_memory_equal(again.slots, flow.slots, flow.length * sizeof(*flow.slots));
    assert_int_equal(codec_slots_unpack("\x05", 1, &again, DEMAND_READ_OPS), -EINVAL);
    assert_int_equal(codec_slots_unpack("\x05\x00", 2, &again, DEMAND_READ_OPS), -EINVAL);
    assert_int_equal(codec_slots_unpack("\x05\x0b", 2, &again, DEMAND_READ_OPS), -EINVAL);
    assert_int_equal(codec_slots_unpack("\x05\x0d", 2, &again, DEMAND_READ_OPS), -ERANGE);
    assert_int_equal(codec_slots_span(&again, 0, FLOW_SLOTS_MAX + 1), -ERANGE);
    flow_clear(&flow);
    flow_clear(&again);
}

static void make(struct batch **batch, const char *job_name, int64_t slot)
{
    const struct job job = {.name = job_name, .kind = "command", .command = "", .exit = -1};
    const struct volume volume = {.name = "v", .source = "", .fstype = ""};
    uint32_t j, v;
    struct flow *flow;

    assert_int_equal(batch_new(batch), 0);
    assert_int_equal(batch_job(*batch, &job, &j), 0);
    assert_int_equal(batch_volume(*batch, &volume, &v), 0);
    assert_int_equal(batch_flow(*batch, j + 1, v, &flow), -EINVAL);
    assert_int_equal(batch_flow(*batch, j, v, &flow), 0);
    add(flow, slot, 10);
    flow->in_flight_max[OP_READ] = flow->in_flight_max[OP_NONE] = (uint32_t)(slot % 7);
    assert_int_equal(histogram_add(&flow->burst[FLOW_DATA], 1024, 1), 0);
}

static void batches_add_flows_of_the_same_job_and_volume(void **state)
{
    struct batch *sum, *one, *two, *other;

    assert_int_equal(batch_new(&sum), 0);
    make(&one, "a", 100);
    make(&two, "a", 110);
    make(&other, "b", 100);
    assert_int_equal(batch_merge(sum, one, GRAIN_JOBS), 0);
    assert_int_equal(batch_merge(sum, other, GRAIN_JOBS), 0);
    assert_int_equal(batch_merge(sum, two, GRAIN_JOBS), 0);
    assert_int_equal(sum->flow_count, 2);
    assert_int_equal(sum->flows[0].length, 11);
    assert_int_equal(total(&sum->flows[0], DEMAND_READ_BYTES), 20);
    assert_int_equal(histogram_count(&sum->flows[0].burst[FLOW_DATA]), 2);
    assert_int_equal(sum->flows[0].in_flight_max[OP_READ], 110 % 7);
    assert_int_equal(total(&sum->flows[1], DEMAND_READ_BYTES), 10);
    batch_free(sum);
    batch_free(one);
    batch_free(two);
    batch_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_come_in_any_order),
        cmocka_unit_test(far_slots_are_kept_near),
        cmocka_unit_test(a_sum_that_has_no_number_is_refused),
        cmocka_unit_test(what_has_no_time_is_spread_to_the_last_unit),
        cmocka_unit_test(packed_slots_come_back),
        cmocka_unit_test(batches_add_flows_of_the_same_job_and_volume),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
