/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/plausible.h"

static void expect(const struct batch *batch, const char *field)
{
    struct codec_error error = {.field = ""};

    assert_int_equal(batch_plausible(batch, &error), field ? -EBADMSG : 0);
    assert_string_equal(error.field, field ? field : "");
}

static struct batch *of_two_records(void)
{
    const struct volume volume = {.name = "v", .source = "", .fstype = ""};
    const struct job job = {.name = "j", .kind = "", .command = "", .exit = -1};
    const struct station key = {.job = NO_INDEX};
    struct batch *batch;
    struct record *record;
    struct station *station;
    uint32_t index;

    assert_int_equal(batch_new(&batch), 0);
    assert_int_equal(batch_set(batch, &batch->stream, "0123456789abcdef0123456789abcdef"), 0);
    assert_int_equal(batch_job(batch, &job, &index), 0);
    assert_int_equal(batch_volume(batch, &volume, &index), 0);
    assert_int_equal(batch_record(batch, 0, 0, NO_INDEX, OP_READ, &record), 0);
    assert_int_equal(batch_record(batch, 0, 0, NO_INDEX, OP_WRITE, &record), 0);
    assert_int_equal(batch_station(batch, &key, &station), 0);
    expect(batch, NULL);
    return batch;
}

static void all_records_together_have_a_bound(void **state)
{
    struct batch *batch = of_two_records();

    batch->records[0].bytes = PLAUSIBLE_COUNT;
    expect(batch, NULL);
    batch->records[1].bytes = 1;
    expect(batch, "records[1].bytes");
    batch->records[0].bytes = UINT64_C(1) << 62;
    expect(batch, "records[0].bytes");
    batch_free(batch);
}

static void each_number_has_one(void **state)
{
    struct batch *batch = of_two_records();
    const struct {
        uint64_t *number;
        const char *field;
    } numbers[] = {
        {&batch->records[0].errors, "records[0].errors"},
        {&batch->records[0].latency_sum_ns, "records[0].latency_sum_ns"},
        {&batch->records[0].order[1], "records[0].order"},
        {&batch->records[0].cache[3], "records[0].cache"},
        {&batch->records[0].faults[0], "records[0].faults"},
        {&batch->records[0].in_flight_ns, "records[0].in_flight_ns"},
        {&batch->stations[0].merges, "storage[0].merges"},
        {&batch->stations[0].service_sum_ns, "storage[0].service_sum_ns"},
        {&batch->jobs[0].exposed_ns, "jobs[0].exposed_ns"},
        {&batch->jobs[0].gpu.watched_ns, "jobs[0].gpu"},
        {&batch->coverage.lost, "coverage.lost_ops"},
        {&batch->pressure.some_ns, "io_pressure"},
    };

    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        uint64_t before = *numbers[i].number;

        *numbers[i].number = INT64_MAX;
        expect(batch, numbers[i].field);
        *numbers[i].number = before;
    }
    assert_int_equal(histogram_add(&batch->records[0].latency_ns, 1000, UINT64_C(1) << 57), 0);
    expect(batch, "records[0].latency_ns");
    batch_free(batch);
}

static void flows_have_one(void **state)
{
    struct batch *batch = of_two_records();
    struct demand_slot slot = {{[DEMAND_WRITE_BYTES] = PLAUSIBLE_COUNT / 2 + 1}};
    struct flow *flow;

    assert_int_equal(batch_flow(batch, 0, 0, &flow), 0);
    assert_int_equal(flow_add(flow, 5, &slot), 0);
    expect(batch, NULL);
    assert_int_equal(flow_add(flow, 6, &slot), 0);
    expect(batch, "flows[0].write_bytes");
    batch_free(batch);
}

static void what_is_not_believed_is_told_as_dropped(void **state)
{
    struct batch *batch = of_two_records();
    struct record *record;

    assert_int_equal(batch_distrust(batch), 0);
    assert_int_equal(batch->record_count + batch->flow_count + batch->station_count + batch->tree_count, 0);
    assert_int_equal(batch->coverage.lost + batch->jobs[0].watched_ns, 0);
    assert_int_equal(batch->coverage.dropped_count, 1);
    assert_int_equal(batch->coverage.dropped[0].first, batch->seq);
    assert_string_equal(batch->coverage.dropped[0].stream, batch->stream);
    expect(batch, NULL);
    assert_int_equal(batch_record(batch, 0, 0, NO_INDEX, OP_READ, &record), 0);
    assert_int_equal(batch->record_count, 1);
    batch_free(batch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_records_together_have_a_bound),
        cmocka_unit_test(each_number_has_one),
        cmocka_unit_test(flows_have_one),
        cmocka_unit_test(what_is_not_believed_is_told_as_dropped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
