/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Operations that compare, slot by slot. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "analyzer/kinds.h"
#include "tests/unit/history.h"

#define SECOND_MS 1000

/* Some reads of that second, or of so many from there on, which take so long each. */
static void add(struct kinds *kinds, struct series *busy, int second, uint32_t seconds, uint64_t size, uint64_t count,
                uint64_t each_ns)
{
    struct batch *batch = history_batch(second);
    const struct demand_slot nothing = {{0}};

    batch->interval_ms = seconds * SECOND_MS;
    batch->duration_ns = seconds * UINT64_C(1000000000);
    history_ops(batch, "j", 0, OP_READ, size, count);
    batch->records[0].latency_sum_ns = count * each_ns;
    assert_int_equal(series_add(busy, batch->start_ns, batch->duration_ns, batch->interval_ms, &nothing), 0);
    assert_int_equal(kinds_add(kinds, busy, batch, &batch->records[0]), 0);
    batch_free(batch);
}

/* Of a word of windows: a alone, t together. */
static struct contrast compare(const struct kinds *kinds, uint32_t window_ms, const char *word)
{
    struct sides sides = {.window_ms = window_ms, .from = HISTORY_START / 1000000, .count = strlen(word)};
    struct contrast contrast;
    uint8_t side[64] = {0};

    for (size_t i = 0; i < sides.count; i++)
        side[i] = word[i] == 'a' ? KINDS_ALONE : word[i] == 't' ? KINDS_TOGETHER : KINDS_NEITHER;
    sides.side = side;
    kinds_compare(kinds, &sides, &contrast);
    return contrast;
}

/* Each takes 10 ns for a byte: what is larger takes longer. */
static void sizes_about_alike_compare(void **state)
{
    static const uint64_t sizes[] = {65536, 60000, 80000, 131072, 32768};

    for (unsigned i = 0; i < 5; i++) {
        struct kinds kinds = {0};
        struct series busy = {0};
        struct contrast contrast;

        add(&kinds, &busy, 0, 1, 65536, 100, 655360);
        add(&kinds, &busy, 1, 1, sizes[i], 100, 10 * sizes[i]);
        contrast = compare(&kinds, SECOND_MS, "at");
        assert_true((contrast.ops > 0) == (i < 3));
        assert_true(contrast.all_ops == 100);
        assert_true(i >= 3 || fabs(contrast.time_ns / contrast.expected_ns - 1) < 0.25);
        assert_true(isnan(contrast.doubt));
        kinds_clear(&kinds);
        series_clear(&busy);
    }
}

static void nodes_may_come_late_and_intervals_become_longer(void **state)
{
    struct kinds kinds = {0};
    struct series busy = {0};
    struct contrast contrast;

    for (int second = 39; second >= 0; second -= 3) {
        add(&kinds, &busy, second, 1, 65536, 10, 1000);
        add(&kinds, &busy, second, 1, 1 << 20, 10, 20000);
        add(&kinds, &busy, second, 1, 65536, 10, 3000);
    }
    assert_int_equal(kinds.count, 2 * 14);
    contrast = compare(&kinds, SECOND_MS, "aaaaaaaaaaaaaaaaaaaatttttttttttttttttttt");
    assert_true(contrast.ops == 7 * 30 && contrast.alone_ops == 7 * 30);
    assert_true(fabs(contrast.expected_ns - 7 * (20 * 2000 + 10 * 20000)) < 1e-3);
    assert_true(contrast.doubt < 1e-9);
    add(&kinds, &busy, 40, 10, 65536, 10, 1000);
    assert_int_equal(kinds.slot_ms, 10 * SECOND_MS);
    assert_int_equal(kinds.count, 2 * 4 + 1);
    contrast = compare(&kinds, 10 * SECOND_MS, "aatt");
    assert_true(contrast.ops == 7 * 30 && contrast.alone_ops == 7 * 30);
    assert_true(fabs(contrast.expected_ns - 7 * (20 * 2000 + 10 * 20000)) < 1e-3);
    assert_int_equal(contrast.windows, 2);
    kinds_clear(&kinds);
    series_clear(&busy);
}

/* Two of five take three times as long: 1.96 standard errors of a mean of 1800. */
static void how_sure_it_is_depends_on_how_it_varies(void **state)
{
    struct kinds kinds = {0};
    struct series busy = {0};
    struct contrast contrast;

    for (int second = 0; second < 6; second++)
        add(&kinds, &busy, second, 1, 65536, 100, second % 2 ? 3000 : 1000);
    contrast = compare(&kinds, SECOND_MS, "aaaaat");
    assert_true(fabs(contrast.expected_ns - 100 * 1800) < 1e-3);
    assert_true(fabs(contrast.doubt - 1.96 * sqrt((3 * 800. * 800 + 2 * 1200. * 1200) / 4 / 5) / 1800) < 1e-9);
    assert_true(isnan(compare(&kinds, SECOND_MS, "aaaa.t").doubt));
    kinds_clear(&kinds);
    series_clear(&busy);
}

/* Memory is bounded: what comes later is not compared. */
static void there_are_no_more_kinds_than_that(void **state)
{
    struct kinds kinds = {0};
    struct series busy = {0};

    for (unsigned octave = 4; octave < 60; octave++) {
        add(&kinds, &busy, 0, 1, UINT64_C(1) << octave, 1, 1000);
        add(&kinds, &busy, 0, 1, UINT64_C(3) << (octave - 1), 1, 1000);
    }
    assert_int_equal(kinds.count, KINDS_MAX);
    kinds_clear(&kinds);
    series_clear(&busy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_about_alike_compare),
        cmocka_unit_test(nodes_may_come_late_and_intervals_become_longer),
        cmocka_unit_test(how_sure_it_is_depends_on_how_it_varies),
        cmocka_unit_test(there_are_no_more_kinds_than_that),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
