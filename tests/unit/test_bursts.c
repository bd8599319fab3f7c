/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "lib/record.h"
#include "probe/bursts.h"

#define START 17000000000

static void setup(struct batch **batch)
{
    const struct job job = {.name = "j", .kind = "command", .command = "", .exit = -1};
    const struct volume volume = {.name = "v", .source = "", .fstype = ""};
    struct flow *flow;
    uint32_t at;

    assert_int_equal(batch_new(batch), 0);
    assert_int_equal(batch_job(*batch, &job, &at), 0);
    assert_int_equal(batch_volume(*batch, &volume, &at), 0);
    assert_int_equal(batch_flow(*batch, 0, 0, &flow), 0);
}

/* So many reads of an octave, of 1000 bytes each, that ended in a slot. */
static void reads(struct bursts *bursts, int64_t slot, uint32_t count, unsigned octave)
{
    const struct demand_slot amount = {{[DEMAND_READ_BYTES] = 1000 * count, [DEMAND_READ_OPS] = count}};
    uint32_t octaves[ABI_OCTAVES] = {0};

    octaves[octave] = count;
    assert_int_equal(bursts_add(bursts, 0, slot, OP_READ, &amount, octaves), 0);
}

static void drain(struct bursts *bursts, struct batch *batch, int64_t now, uint64_t burst, uint64_t steady)
{
    assert_int_equal(bursts_judge(bursts, batch, now), 0);
    assert_int_equal(histogram_count(&batch->flows[0].burst[FLOW_DATA]), burst);
    assert_int_equal(histogram_count(&batch->flows[0].steady[FLOW_DATA]), steady);
}

/* Nine slots of one read and one of ten: the mean is 1.9, so at twice the mean the one is a burst. */
static void a_slot_of_twice_the_mean_is_in_a_burst(void **state)
{
    struct bursts *bursts;
    struct batch *batch;

    setup(&batch);
    assert_int_equal(bursts_new(2, &bursts), 0);
    for (int i = 0; i < 9; i++)
        reads(bursts, START + i, 1, 3);
    reads(bursts, START + 9, 10, 5);
    drain(bursts, batch, START + 10, 10, 9);
    assert_int_equal(batch->flows[0].burst[FLOW_DATA].cells[0].bucket,
                     flow_octave_bucket(ABI_OCTAVE_FIRST + 5));
    bursts_free(bursts);
    batch_free(batch);
}

static void the_factor_is_the_callers(void **state)
{
    struct bursts *bursts;
    struct batch *batch;

    setup(&batch);
    assert_int_equal(bursts_new(6, &bursts), 0);
    for (int i = 0; i < 9; i++)
        reads(bursts, START + i, 1, 3);
    reads(bursts, START + 9, 10, 5);
    drain(bursts, batch, START + 10, 0, 19);
    bursts_free(bursts);
    batch_free(batch);
}

static void even_demand_is_no_burst(void **state)
{
    struct bursts *bursts;
    struct batch *batch;

    setup(&batch);
    assert_int_equal(bursts_new(2, &bursts), 0);
    for (int second = 0; second < 200; second++) {
        for (int i = 0; i < 10; i++)
            reads(bursts, START + 10 * second + i, 4, 3);
        drain(bursts, batch, START + 10 * second + 10, 0, 40 * (second + 1));
    }
    bursts_free(bursts);
    batch_free(batch);
}

/* A minute of calm, then ten times as much for good: a burst until it has become the mean. */
static void the_mean_is_of_the_last_minute(void **state)
{
    struct bursts *bursts;
    struct batch *batch;
    uint64_t in_bursts;

    setup(&batch);
    assert_int_equal(bursts_new(2, &bursts), 0);
    for (int second = 0; second < 300; second++) {
        for (int i = 0; i < 10; i++)
            reads(bursts, START + 10 * second + i, second < 100 ? 1 : 10, 3);
        assert_int_equal(bursts_judge(bursts, batch, START + 10 * second + 10), 0);
    }
    /* 10 a slot is twice the mean of n seconds with 10 and 60 - n with 1 up to n = 26 */
    in_bursts = histogram_count(&batch->flows[0].burst[FLOW_DATA]);
    assert_in_range(in_bursts, 25 * 100, 27 * 100);
    assert_int_equal(in_bursts + histogram_count(&batch->flows[0].steady[FLOW_DATA]), 100 * 10 + 200 * 100);
    bursts_free(bursts);
    batch_free(batch);
}

/* What is told of times to come, by a clock that was set back since, is no reason to judge nothing. */
static void a_clock_that_is_set_back_begins_anew(void **state)
{
    struct bursts *bursts;
    struct batch *batch;

    setup(&batch);
    assert_int_equal(bursts_new(2, &bursts), 0);
    for (int i = 0; i < 600; i++)
        reads(bursts, START + 36000 + i, 100, 3);
    drain(bursts, batch, START + 36600, 0, 60000);
    for (int i = 0; i < 9; i++)
        reads(bursts, START + i, 1, 3);
    reads(bursts, START + 9, 10, 5);
    drain(bursts, batch, START + 10, 10, 60009);
    bursts_free(bursts);
    batch_free(batch);
}

/* Idle slots count in the mean, and metadata is judged by its own number. */
static void kinds_have_thresholds_of_their_own(void **state)
{
    const struct demand_slot stat = {{[DEMAND_METADATA_OPS] = 1}};
    const uint32_t octaves[ABI_OCTAVES] = {1};
    struct bursts *bursts;
    struct batch *batch;

    setup(&batch);
    assert_int_equal(bursts_new(2, &bursts), 0);
    for (int i = 0; i < 10; i++)
        assert_int_equal(bursts_add(bursts, 0, START + i, OP_STAT, &stat, octaves), 0);
    reads(bursts, START + 2, 5, 3);
    drain(bursts, batch, START + 10, 5, 0);
    assert_int_equal(histogram_count(&batch->flows[0].steady[FLOW_METADATA]), 10);
    assert_int_equal(histogram_count(&batch->flows[0].burst[FLOW_METADATA]), 0);
    bursts_free(bursts);
    batch_free(batch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slot_of_twice_the_mean_is_in_a_burst),
        cmocka_unit_test(the_factor_is_the_callers),
        cmocka_unit_test(even_demand_is_no_burst),
        cmocka_unit_test(the_mean_is_of_the_last_minute),
        cmocka_unit_test(a_clock_that_is_set_back_begins_anew),
        cmocka_unit_test(kinds_have_thresholds_of_their_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
