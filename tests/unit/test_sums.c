/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyzer/fitting.h"
#include "tests/unit/classified.h"
#include "tests/unit/history.h"

#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)

static void open_files(struct batch *batch, uint64_t size, uint64_t count)
{
    history_ops(batch, "j", 0, OP_OPEN, 0, count);
    for (uint32_t i = 0; i < batch->record_count; i++)
        if (batch->records[i].op == OP_OPEN)
            assert_int_equal(histogram_add(&batch->records[i].size, size, count), 0);
}

/* A library may ask a file that it has open for its state four times, and look at its name before: nobody walks
   through names then. */
static void who_asks_open_files_walks_nowhere(void **state)
{
    static const struct {
        uint64_t of_open, by_name;
        bool walks;
    } stats[] = {{8000, 0, false}, {2000, 4000, false}, {2000, 40000, true}};

    for (unsigned i = 0; i < sizeof(stats) / sizeof(*stats); i++) {
        struct batch *batch = history_batch(0);
        struct profile_list list;

        open_files(batch, 40 * KIB, 2000);
        history_ops(batch, "j", 0, OP_CLOSE, 0, 2000);
        history_ops(batch, "j", 0, OP_STAT, 0, stats[i].of_open + stats[i].by_name);
        history_order(batch, "j", 0, OP_STAT, ORDER_OF_OPEN, stats[i].of_open);
        history_order(batch, "j", 0, OP_STAT, ORDER_BY_NAME, stats[i].by_name);
        history_ops(batch, "j", 0, OP_READ, 40 * KIB, 2000);
        classified(batch, false, &list);
        assert_non_null(classified_find(&list, "losf"));
        assert_int_equal(classified_find(&list, "ingest-scan") != NULL, stats[i].walks);
        profile_list_clear(&list);
    }
}

/* Who reads whole files makes reads as large as they are, and tar's blocks of 10 KiB are none of these. */
static void blocks_are_nobodys_files(void **state)
{
    struct batch *batch = history_batch(0);
    struct profile_list list;
    double small = 1000.0 * 40 * KIB, blocks = 50000.0 * 10 * KIB;

    open_files(batch, 40 * KIB, 1000);
    history_ops(batch, "j", 0, OP_CLOSE, 0, 1005);
    history_ops(batch, "j", 0, OP_STAT, 0, 2000);
    history_ops(batch, "j", 0, OP_SEEK, 0, 2000);
    history_ops(batch, "j", 0, OP_READ, 40 * KIB, 1000);
    history_ops(batch, "j", 0, OP_READ, 0, 1000);
    open_files(batch, 100 * MIB, 5);
    history_ops(batch, "j", 0, OP_READ, 10 * KIB, 50000);
    classified(batch, false, &list);
    assert_non_null(classified_find(&list, "losf"));
    assert_non_null(classified_find(&list, "shard-streaming"));
    assert_true(fabs(classified_find(&list, "losf")->share_bytes - small / (small + blocks)) < 0.01);
    assert_true(fabs(classified_find(&list, "shard-streaming")->share_bytes - blocks / (small + blocks)) < 0.01);
    profile_list_clear(&list);
}

/* How many blocks a file has follows from its size: of blocks that small and large files have alike, each gets its own. */
static void blocks_are_divided_by_what_files_have(void **state)
{
    static const uint64_t sizes[] = {200 * KIB, 600 * KIB, 2 * MIB};

    for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        uint64_t large = 240 * MIB / sizes[i], small = 1500, block = 4 * KIB;
        uint64_t of_large = large * sizes[i] / block, of_small = small * 20 * KIB / block;
        double ops = (double)(4 * large + of_large), others = (double)(4 * small + of_small);
        struct batch *batch = history_batch(0);
        struct profile_list list;

        open_files(batch, sizes[i], large);
        open_files(batch, 20 * KIB, small);
        history_ops(batch, "j", 0, OP_CLOSE, 0, large + small);
        history_ops(batch, "j", 0, OP_STAT, 0, large + small);
        history_order(batch, "j", 0, OP_STAT, ORDER_OF_OPEN, large + small);
        history_ops(batch, "j", 0, OP_READ, 0, large + small);
        history_ops(batch, "j", 0, OP_READ, block, of_large + of_small);
        history_order(batch, "j", 0, OP_READ, ORDER_CONSECUTIVE, of_large + of_small);
        classified(batch, false, &list);
        assert_non_null(classified_find(&list, "cv-training"));
        assert_non_null(classified_find(&list, "losf"));
        assert_true(fabs(classified_find(&list, "cv-training")->share_ops - ops / (ops + others)) < 0.05);
        assert_true(fabs(classified_find(&list, "losf")->share_ops - others / (ops + others)) < 0.05);
        profile_list_clear(&list);
    }
}

/* What is mapped of libraries belongs to whoever loads them: some of it is their own data, which are written to. */
static void libraries_are_no_data(void **state)
{
    for (unsigned loads = 0; loads < 2; loads++) {
        struct batch *batch = history_batch(0);
        const struct profile_share *share;
        struct profile_list list;

        open_files(batch, 8 * KIB, 1600);
        history_ops(batch, "j", 0, OP_CLOSE, 0, 1600);
        history_ops(batch, "j", 0, OP_STAT, 0, 8000);
        history_order(batch, "j", 0, OP_STAT, ORDER_OF_OPEN, 3000);
        history_order(batch, "j", 0, OP_STAT, ORDER_BY_NAME, 5000);
        history_errors(batch, "j", 0, OP_STAT, ENOENT, 500);
        history_ops(batch, "j", 0, OP_SEEK, 0, 2600);
        history_ops(batch, "j", 0, OP_READ, 8 * KIB, 1500);
        history_ops(batch, "j", 0, OP_READ, 0, 1500);
        history_ops(batch, "j", 0, OP_READDIR, 0, 340);
        history_ops(batch, "j", 0, OP_MMAP_FAULT, 80 * KIB, 640);
        for (uint32_t i = 0; i < batch->record_count; i++)
            if (batch->records[i].op == OP_MMAP_FAULT) {
                batch->records[i].faults[FAULT_WRITE] = loads ? 90 : 0;
                batch->records[i].faults[FAULT_READ] = loads ? 550 : 640;
            }
        classified(batch, false, &list);
        assert_int_equal(classified_find(&list, "mmap-read") == NULL, loads);
        share = classified_find(&list, "import-storm");
        assert_non_null(share);
        assert_true(loads ? share->share_bytes > 0.95 : share->share_bytes < 0.5);
        profile_list_clear(&list);
    }
}

/* Large reads beside opens are those of large samples only where what was opened is as large. */
static void files_are_told_by_what_is_opened(void **state)
{
    for (unsigned large = 0; large < 2; large++) {
        struct batch *batch = history_batch(0);
        struct profile_list list;

        open_files(batch, large ? 512 * KIB : 20000, 1000);
        history_ops(batch, "j", 0, OP_CLOSE, 0, 1000);
        history_ops(batch, "j", 0, OP_STAT, 0, 2000);
        history_ops(batch, "j", 0, OP_SEEK, 0, 2000);
        history_ops(batch, "j", 0, OP_READ, 512 * KIB, 1000);
        history_ops(batch, "j", 0, OP_READ, 0, 1000);
        classified(batch, false, &list);
        assert_true(!classified_find(&list, "cv-training") == !large);
        profile_list_clear(&list);
    }
}

static void mapped_files_are_files(void **state)
{
    struct batch *batch = history_batch(0);
    struct profile_list list;

    open_files(batch, 64 * KIB, 2000);
    history_ops(batch, "j", 0, OP_CLOSE, 0, 2000);
    history_ops(batch, "j", 0, OP_STAT, 0, 3000);
    history_ops(batch, "j", 0, OP_MMAP_FAULT, 64 * KIB, 2000);
    classified(batch, false, &list);
    assert_non_null(classified_find(&list, "losf"));
    assert_true(classified_find(&list, "losf")->share_ops > 0.95 && classified_find(&list, "losf")->share_bytes > 0.95);
    profile_list_clear(&list);
}

/* Pages of mapped files may all be in the page cache: then nothing is read, and a page fault for each file says so. */
static void mapped_files_may_be_in_the_page_cache(void **state)
{
    static const uint64_t sizes[] = {40 * KIB, 512 * KIB}, faults[] = {0, 1000, 8000};
    static const char *const profiles[] = {"losf", "cv-training"};

    for (unsigned large = 0; large < 2; large++)
        for (unsigned mapped = 0; mapped < 2; mapped++) {
            struct batch *batch = history_batch(0);
            struct profile_list list;

            open_files(batch, sizes[large], 1000);
            history_ops(batch, "j", 0, OP_CLOSE, 0, 1000);
            history_ops(batch, "j", 0, OP_STAT, 0, 2000);
            history_ops(batch, "j", 0, OP_WRITE, 4 * MIB, 512);
            history_ops(batch, "j", 0, OP_FSYNC, 0, 8);
            history_minor_faults(batch, "j", 0, faults[mapped ? 1 + large : 0]);
            classified(batch, false, &list);
            assert_true(!classified_find(&list, profiles[large]) == !mapped);
            if (mapped)
                assert_true(fabs(classified_find(&list, profiles[large])->share_ops - 4000.0 / 4520) < 0.02);
            profile_list_clear(&list);
        }
}

/* Programs that begin map libraries, of which they read the header and nothing else: no samples, however many begin. */
static void who_begins_maps_no_samples(void **state)
{
    for (unsigned loaded = 0; loaded < 2; loaded++) {
        struct batch *batch = history_batch(0);
        struct profile_list list;

        open_files(batch, 512 * KIB, 4000);
        open_files(batch, 40 * KIB, 4000);
        history_ops(batch, "j", 0, OP_CLOSE, 0, 8000);
        history_ops(batch, "j", 0, OP_STAT, 0, 16000);
        history_ops(batch, "j", 0, OP_READ, loaded ? 832 : 700, 5000);
        history_ops(batch, "j", 0, OP_READ, 777, 2700);
        history_minor_faults(batch, "j", 0, 80000);
        classified(batch, false, &list);
        assert_true(!classified_find(&list, "cv-training") == !!loaded);
        profile_list_clear(&list);
    }
}

/* Whoever opens them reads what he opens, with calls: none of it is of these files, and no page fault is either. */
static void who_reads_nothing_reads_no_files(void **state)
{
    for (unsigned read = 0; read < 2; read++) {
        struct batch *batch = history_batch(0);
        struct profile_list list;

        open_files(batch, 512 * KIB, 1000);
        history_ops(batch, "j", 0, OP_CLOSE, 0, 1000);
        history_ops(batch, "j", 0, OP_STAT, 0, 2000);
        history_ops(batch, "j", 0, OP_WRITE, 4 * MIB, 512);
        history_ops(batch, "j", 0, OP_FSYNC, 0, 8);
        history_minor_faults(batch, "j", 0, 8000);
        if (read) {
            history_ops(batch, "j", 0, OP_READ, 16 * KIB, 1200);
            history_order(batch, "j", 0, OP_READ, ORDER_RANDOM, 1200);
        }
        classified(batch, false, &list);
        assert_true(!classified_find(&list, "cv-training") == !!read);
        profile_list_clear(&list);
    }
}

/* As many reads jump as there are of one size: these are samples, and those of the other size go on and are shards. */
static void whoever_jumps_is_told_by_size(void **state)
{
    for (unsigned jumps = 0; jumps < 2; jumps++) {
        struct batch *batch = history_batch(0);
        struct profile_list list;
        double samples = 9000.0 * 72 * KIB, shards = 1000.0 * MIB;

        history_ops(batch, "j", 0, OP_READ, 72 * KIB, 9000);
        history_ops(batch, "j", 0, OP_READ, MIB, 1000);
        history_order(batch, "j", 0, OP_READ, ORDER_RANDOM, jumps ? 9010 : 5000);
        history_order(batch, "j", 0, OP_READ, ORDER_CONSECUTIVE, jumps ? 990 : 5000);
        classified(batch, false, &list);
        assert_non_null(classified_find(&list, "sample-read"));
        if (jumps)
            assert_true(fabs(classified_find(&list, "shard-streaming")->share_bytes - shards / (shards + samples)) <
                        0.01);
        else
            assert_true(classified_find(&list, "shard-streaming")->share_ops > 0.4);
        profile_list_clear(&list);
    }
}

/* Writes that have reads of their size are a copy's; where they have none, somebody else's. */
static void copies_are_told_in_sums(void **state)
{
    for (unsigned copied = 0; copied < 2; copied++) {
        struct batch *batch = history_batch(0);
        struct profile_list list;

        history_ops(batch, "j", 0, OP_READ, MIB, 512);
        history_ops(batch, "j", 0, OP_WRITE, copied ? MIB : 4 * MIB, copied ? 512 : 128);
        history_ops(batch, "j", 0, OP_STAT, 0, 40000);
        history_ops(batch, "j", 0, OP_READDIR, 0, 6000);
        classified(batch, false, &list);
        assert_true(!classified_find(&list, "stage-copy") == !copied);
        if (copied)
            assert_true(classified_find(&list, "stage-copy")->share_bytes > 0.95);
        profile_list_clear(&list);
    }
}

/* Somebody else may have read what a copy wrote, but not as often by chance. */
static void as_many_reads_as_writes_are_a_copy(void **state)
{
    struct batch *batch = history_batch(0);
    struct profile_list list;
    double samples = 0, copied = 2 * 4000.0 * MIB;

    for (unsigned i = 1; i <= 20; i++) {
        history_ops(batch, "j", 0, OP_READ, i * 20 * KIB, 2000);
        samples += i * 20.0 * KIB * 2000;
    }
    history_ops(batch, "j", 0, OP_SEEK, 0, 40000);
    history_ops(batch, "j", 0, OP_READ, MIB, 4000);
    history_ops(batch, "j", 0, OP_WRITE, MIB, 4000);
    history_ops(batch, "j", 0, OP_FSYNC, 0, 1);
    classified(batch, false, &list);
    assert_non_null(classified_find(&list, "stage-copy"));
    assert_true(fabs(classified_find(&list, "stage-copy")->share_bytes - copied / (copied + samples)) < 0.02);
    profile_list_clear(&list);
}

/* How well a copy of so many pieces explains them. */
static double score_of_copy(uint64_t size, uint64_t count)
{
    static const enum operation both[] = {OP_READ, OP_WRITE};
    struct tally tally = {0};
    struct fitting fitting;
    uint32_t copy = 0;
    double score;

    for (size_t i = 0; i < 2; i++) {
        struct record *record = &tally.op[both[i]];

        assert_int_equal(histogram_add(&record->size, size, count), 0);
        assert_int_equal(histogram_add(&record->latency_ns, 500, count), 0);
        record->bytes = size * count;
    }
    while (strcmp(classified_by.profiles[copy].name, "stage-copy") != 0)
        copy++;
    assert_int_equal(fitting_init(&fitting, &classified_by, &tally, NULL, NULL), 0);
    assert_int_equal(fitting_fit_one(&fitting, copy), 0);
    score = fitting.score;
    fitting_clear(&fitting);
    tally_clear(&tally);
    return score;
}

/* Buffers that many programs have may meet by chance, which pieces of a mebibyte and more hardly do. */
static void pairs_of_large_pieces_weigh_more(void **state)
{
    double large = score_of_copy(3 * MIB, 100), small = score_of_copy(3 * 64 * KIB, 100), few = score_of_copy(3 * MIB, 10);

    assert_true(large - small > 200);
    assert_true(large > 20 * few);
}

/* Who copies for long removes as much, or the disk is full. */
static void room_is_made_for_copies(void **state)
{
    struct batch *batch = history_batch(0);
    struct profile_list list;

    open_files(batch, 40 * KIB, 2000);
    history_ops(batch, "j", 0, OP_OPEN, 0, 600); /* directories */
    history_ops(batch, "j", 0, OP_CREATE, 0, 2000);
    history_ops(batch, "j", 0, OP_CLOSE, 0, 4600);
    history_ops(batch, "j", 0, OP_STAT, 0, 7000);
    history_ops(batch, "j", 0, OP_READ, 40 * KIB, 2000);
    history_ops(batch, "j", 0, OP_READ, 0, 2000);
    history_ops(batch, "j", 0, OP_WRITE, 40 * KIB, 2000);
    history_ops(batch, "j", 0, OP_READDIR, 0, 1200);
    history_ops(batch, "j", 0, OP_UNLINK, 0, 2200);
    classified(batch, false, &list);
    assert_non_null(classified_find(&list, "stage-copy"));
    assert_true(classified_find(&list, "stage-copy")->share_ops > 0.97);
    profile_list_clear(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_asks_open_files_walks_nowhere),
        cmocka_unit_test(blocks_are_nobodys_files),
        cmocka_unit_test(blocks_are_divided_by_what_files_have),
        cmocka_unit_test(libraries_are_no_data),
        cmocka_unit_test(files_are_told_by_what_is_opened),
        cmocka_unit_test(mapped_files_are_files),
        cmocka_unit_test(mapped_files_may_be_in_the_page_cache),
        cmocka_unit_test(who_begins_maps_no_samples),
        cmocka_unit_test(who_reads_nothing_reads_no_files),
        cmocka_unit_test(whoever_jumps_is_told_by_size),
        cmocka_unit_test(copies_are_told_in_sums),
        cmocka_unit_test(as_many_reads_as_writes_are_a_copy),
        cmocka_unit_test(pairs_of_large_pieces_weigh_more),
        cmocka_unit_test(room_is_made_for_copies),
    };

    return cmocka_run_group_tests(tests, classified_load, classified_unload);
}
