/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "analyzer/feature.h"
#include "tests/unit/history.h"

static void near(double value, double expected)
{
    assert_true(fabs(value - expected) < 1e-12);
}

static void ratios_by_hand(void **state)
{
    struct batch *batch = history_batch(0);
    struct tally tally = {0};
    struct ratios r;

    history_ops(batch, "j", 0, OP_OPEN, 0, 8);
    history_errors(batch, "j", 0, OP_OPEN, 0, 2);
    history_ops(batch, "j", 0, OP_CREATE, 0, 2);
    history_ops(batch, "j", 0, OP_CLOSE, 0, 10);
    history_ops(batch, "j", 0, OP_STAT, 0, 20);
    history_ops(batch, "j", 0, OP_SEEK, 0, 16);
    history_ops(batch, "j", 0, OP_READ, 65536, 24);
    history_ops(batch, "j", 0, OP_READ, 0, 6);
    history_ops(batch, "j", 0, OP_WRITE, 524288, 5);
    history_ops(batch, "j", 0, OP_WRITE, 0, 5);
    history_ops(batch, "j", 0, OP_FSYNC, 0, 2);
    history_ops(batch, "j", 0, OP_MMAP_FAULT, 4096, 1000);
    history_ops(batch, "j", 0, OP_BLOCK_READ, 4096, 1000);
    for (uint32_t i = 0; i < batch->record_count; i++)
        assert_int_equal(tally_add(&tally, &batch->records[i]), 0);
    ratios_of(&tally, &r);
    /* metadata 12 + 10 + 20 = 42; all without seek 42 + 30 + 10 + 2 = 84 */
    near(r.read_ops, 0.75);
    near(r.read_bytes, 1.5 / 4); /* 1.5 MiB read, 2.5 MiB written */
    near(r.metadata_ops, 42.0 / 84);
    near(r.metadata_ops_no_close, 32.0 / 74);
    near(r.metadata_ops_with_seek, 58.0 / 100);
    near(r.open_ops, 12.0 / 84);
    near(r.opens_per_read, 12.0 / 36);
    near(r.opens_per_mib, 3);
    assert_int_equal(tally_file_ops(&tally), 1100);
    assert_int_equal(tally_succeeded(&tally, OP_OPEN), 8);
    tally_clear(&tally);
    batch_free(batch);
}

static void nothing_is_not_zero(void **state)
{
    struct tally tally = {0};
    struct ratios r;

    ratios_of(&tally, &r);
    assert_true(isnan(r.read_ops) && isnan(r.read_bytes) && isnan(r.metadata_ops));
    assert_true(isnan(r.open_ops) && isnan(r.opens_per_read) && isnan(r.opens_per_mib));
}

static void sums_stay_where_they_can_be_held(void **state)
{
    struct batch *batch = history_batch(0);
    struct tally tally = {0};
    struct record *read;

    history_ops(batch, "j", 0, OP_READ, 4096, 3);
    read = &batch->records[0];
    read->latency_sum_ns = UINT64_C(1) << 62;
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(tally_add(&tally, read), 0);
    assert_int_equal(tally.op[OP_READ].latency_sum_ns, INT64_MAX);
    assert_int_equal(tally.op[OP_READ].bytes, 3 * 3 * 4096);
    assert_int_equal(tally_ops(&tally, OP_READ), 9);
    tally_clear(&tally);
    batch_free(batch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ratios_by_hand),
        cmocka_unit_test(nothing_is_not_zero),
        cmocka_unit_test(sums_stay_where_they_can_be_held),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
