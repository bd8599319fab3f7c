/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyzer/concert.h"
#include "tests/unit/classified.h"
#include "tests/unit/history.h"

#define MIB     UINT64_C(1048576)
#define SECONDS 40

/* Reads and writes of 1 MiB in a second. */
typedef uint64_t (*rate)(int second);

static uint64_t steps(int second)
{
    return 8 + (uint64_t)(second * 5 % 7);
}

static uint64_t saves(int second)
{
    return second % 10 < 2 ? 50 : 0;
}

static uint64_t none(int second)
{
    return 0;
}

/* A sum of so many seconds; others: reads that nothing is written of. */
static void fill(struct aggregate *totals, rate reads, rate others, rate writes, int seconds)
{
    for (int second = 0; second < seconds; second++) {
        struct batch *batch = history_batch(second);

        history_ops(batch, "j", 0, OP_READ, MIB, reads(second) + others(second));
        history_ops(batch, "j", 0, OP_STAT, 0, 1);
        if (writes(second))
            history_ops(batch, "j", 0, OP_WRITE, MIB, writes(second));
        history_into(totals, batch);
    }
}

static bool apart(rate reads, rate others, rate writes, int seconds)
{
    struct aggregate totals = {0};
    bool is;

    fill(&totals, reads, others, writes, seconds);
    is = concert_apart(&totals.jobs[0].volumes[0].concert, bucket_of(MIB));
    aggregate_clear(&totals);
    return is;
}

static void what_comes_together_is_not_apart(void **state)
{
    assert_false(apart(steps, none, steps, SECONDS));
    assert_false(apart(saves, none, saves, SECONDS));
    assert_false(apart(saves, steps, saves, SECONDS)); /* beside other reads of that size */
    assert_false(apart(steps, saves, steps, SECONDS)); /* which may be more, and come in bursts */
}

static void what_comes_at_other_times_is_apart(void **state)
{
    assert_true(apart(steps, none, saves, SECONDS));
    assert_true(apart(saves, none, steps, SECONDS));
}

static uint64_t early(int second)
{
    return second < 2 * SECONDS ? steps(second) : 0;
}

static uint64_t late(int second)
{
    return second < SECONDS ? 0 : steps(second + 3);
}

/* Who begins when others end is no more apart from them than who begins with them belongs to them. */
static void when_programs_begin_tells_nothing(void **state)
{
    assert_false(apart(steps, late, steps, 3 * SECONDS));
    assert_false(apart(early, late, early, 3 * SECONDS));
    assert_false(apart(early, late, late, 3 * SECONDS));
}

static void little_tells_nothing(void **state)
{
    assert_false(apart(steps, none, saves, 10));
    assert_false(apart(steps, none, none, SECONDS));
    assert_false(concert_apart(&(struct concert){0}, bucket_of(MIB)));
}

/* One interval's records in two batches, as of two nodes. */
static void how_batches_are_cut_is_the_same(void **state)
{
    for (unsigned cut = 0; cut < 2; cut++) {
        struct aggregate totals = {0};

        for (int second = 0; second < SECONDS; second++) {
            struct batch *batch = history_batch(second);

            history_ops(batch, "j", 0, OP_READ, MIB, steps(second));
            if (cut) {
                history_into(&totals, batch);
                batch = history_batch(second);
            }
            history_ops(batch, "j", 0, OP_WRITE, MIB, steps(second));
            history_into(&totals, batch);
        }
        assert_false(concert_apart(&totals.jobs[0].volumes[0].concert, bucket_of(MIB)));
        aggregate_clear(&totals);
    }
}

/* Shards are read, and as many pieces of that size saved now and then: it is no copy of them. */
static void who_saves_beside_reads_copies_nothing(void **state)
{
    for (unsigned copies = 0; copies < 2; copies++) {
        struct aggregate totals = {0};
        struct batch *batch = history_batch(SECONDS);
        struct profile_list list;

        fill(&totals, copies ? saves : steps, none, saves, SECONDS);
        history_ops(batch, "j", 0, OP_OPEN, 100 * MIB, 4);
        history_ops(batch, "j", 0, OP_CREATE, 0, 4);
        history_ops(batch, "j", 0, OP_FSYNC, 0, copies ? 0 : 4);
        history_ops(batch, "j", 0, OP_CLOSE, 0, 8);
        history_into(&totals, batch);
        aggregate_sort(&totals);
        assert_int_equal(classify_job(&classified_by, &totals.jobs[0], false, &list), 0);
        assert_true((classified_bytes(&list, "stage-copy") > 0.95) == copies);
        assert_true((classified_bytes(&list, "shard-streaming") > 0.4) == !copies);
        assert_true((classified_bytes(&list, "checkpoint") > 0.4) == !copies);
        profile_list_clear(&list);
        aggregate_clear(&totals);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_comes_together_is_not_apart),
        cmocka_unit_test(what_comes_at_other_times_is_apart),
        cmocka_unit_test(when_programs_begin_tells_nothing),
        cmocka_unit_test(little_tells_nothing),
        cmocka_unit_test(how_batches_are_cut_is_the_same),
        cmocka_unit_test(who_saves_beside_reads_copies_nothing),
    };

    return cmocka_run_group_tests(tests, classified_load, classified_unload);
}
