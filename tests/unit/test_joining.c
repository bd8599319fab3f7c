/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/filing.h"
#include "analyzer/fitting.h"
#include "analyzer/fitting_rows.h"
#include "analyzer/joining.h"
#include "analyzer/matching.h"
#include "tests/unit/classified.h"

#define KIB UINT64_C(1024)

static void add(struct record *record, uint64_t size, unsigned kind, uint64_t goes_on, uint64_t jumps)
{
    unsigned bucket = bucket_of(size);
    struct histogram *joint = &record->joint;

    assert_int_equal(histogram_add_bucket(&record->size, bucket, goes_on + jumps), 0);
    assert_int_equal(histogram_add_bucket(&record->latency_ns, 9, goes_on + jumps), 0);
    if (kind) {
        assert_int_equal(joint_add(joint, JOINT_ALL, kind, bucket, goes_on + jumps), 0);
        record->file_size[kind - 1] += goes_on + jumps;
    }
    assert_int_equal(joint_add(joint, JOINT_JUMPED, kind, bucket, jumps), 0);
    record->order[ORDER_CONSECUTIVE] += goes_on;
    record->order[ORDER_RANDOM] += jumps;
    record->bytes += size * (goes_on + jumps);
}

/* Blocks of 4 KiB: of small files one after the other, of large ones anywhere; and 100 of files of which nobody knows. */
static void fill(struct tally *tally)
{
    add(&tally->op[OP_READ], 4 * KIB, 1 + FILE_SMALL, 3000, 0);
    add(&tally->op[OP_READ], 4 * KIB, 1 + FILE_LARGE, 500, 1500);
    add(&tally->op[OP_READ], 4 * KIB, 0, 60, 40);
    add(&tally->op[OP_READ], 64 * KIB, 1 + FILE_LARGE, 700, 0);
}

static double ops_of(const struct bin *bins, size_t count, uint64_t size, enum match match, unsigned files,
                     enum order_known order)
{
    double ops = 0;

    for (size_t i = 0; i < count; i++)
        if (bins[i].op == OP_READ && bins[i].bucket == bucket_of(size) && bins[i].match == match && bins[i].files == files &&
            bins[i].order == order)
            ops += bins[i].ops;
    return ops;
}

static void expect(double ops, double is)
{
    assert_float_equal(ops, is, 1e-6);
}

static size_t split(const struct tally *tally, struct bin **bins)
{
    size_t count;

    assert_int_equal(bins_of(tally, bins, &count), 0);
    assert_int_equal(joining_split(tally, bins, &count), 1);
    assert_int_equal(matching_split(bins, &count, NULL), 0);
    return count;
}

static void each_read_is_what_it_was_counted_as(void **state)
{
    const unsigned small = 1u << FILE_SMALL, large = 1u << FILE_LARGE;
    struct tally tally = {0};
    struct bin *bins;
    double ops = 0, bytes = 0;
    size_t count;

    fill(&tally);
    count = split(&tally, &bins);
    expect(ops_of(bins, count, 4 * KIB, MATCH_NONE, small, GOES_ON), 3000);
    expect(ops_of(bins, count, 4 * KIB, MATCH_NONE, small, JUMPS), 0);
    expect(ops_of(bins, count, 4 * KIB, MATCH_NONE, large, GOES_ON), 500);
    expect(ops_of(bins, count, 4 * KIB, MATCH_NONE, large, JUMPS), 1500);
    expect(ops_of(bins, count, 4 * KIB, MATCH_NONE, FILES_ANY, GOES_ON), 60);
    expect(ops_of(bins, count, 4 * KIB, MATCH_NONE, FILES_ANY, JUMPS), 40);
    expect(ops_of(bins, count, 64 * KIB, MATCH_NONE, large, GOES_ON), 700);
    for (size_t i = 0; i < count; i++) {
        ops += bins[i].ops;
        bytes += bins[i].bytes;
    }
    expect(ops, 5800);
    assert_float_equal(bytes, (double)tally.op[OP_READ].bytes, 1);
    free(bins);
    tally_clear(&tally);
}

/* 300 reads at the end of files: 200 of small ones, 90 of large ones, and 10 of what has no size. */
static void reads_of_nothing_are_of_files_too(void **state)
{
    struct tally tally = {0};
    struct bin *bins;
    size_t count;

    fill(&tally);
    assert_int_equal(histogram_add(&tally.op[OP_READ].size, 0, 300), 0);
    assert_int_equal(histogram_add(&tally.op[OP_READ].latency_ns, 500, 300), 0);
    count = split(&tally, &bins);
    expect(ops_of(bins, count, 0, MATCH_NONE, 0, 0), 300);
    free(bins);
    assert_int_equal(joint_add(&tally.op[OP_READ].joint, JOINT_ALL, 1 + FILE_SMALL, 0, 200), 0);
    assert_int_equal(joint_add(&tally.op[OP_READ].joint, JOINT_ALL, 1 + FILE_LARGE, 0, 90), 0);
    count = split(&tally, &bins);
    expect(ops_of(bins, count, 0, MATCH_NONE, 1u << FILE_SMALL, 0), 200);
    expect(ops_of(bins, count, 0, MATCH_NONE, 1u << FILE_LARGE, 0), 90);
    expect(ops_of(bins, count, 0, MATCH_NONE, FILES_OTHERS, 0), 10);
    free(bins);
    tally_clear(&tally);
}

static double stats_of(const struct bin *bins, size_t count, enum order_known order, unsigned files)
{
    double ops = 0;

    for (size_t i = 0; i < count; i++)
        if (bins[i].op == OP_STAT && bins[i].outcome == OUTCOME_OK && bins[i].order == order && bins[i].files == files)
            ops += bins[i].ops;
    return ops;
}

/* 40 of what is open, of which 30 are small files; 60 by name that succeed, of which 25 are large ones. */
static void stats_are_of_files(void **state)
{
    struct tally tally = {0};
    struct record *stat = &tally.op[OP_STAT];
    struct bin *bins;
    size_t count;

    assert_int_equal(histogram_add(&stat->latency_ns, 500, 107), 0);
    stat->errors = 7;
    stat->order[ORDER_OF_OPEN] = 40;
    stat->order[ORDER_BY_NAME] = 67;
    assert_int_equal(bins_of(&tally, &bins, &count), 0);
    expect(stats_of(bins, count, OF_OPEN, 0), 40);
    expect(stats_of(bins, count, BY_NAME, 0), 60);
    free(bins);
    assert_int_equal(joint_add(&stat->joint, JOINT_ALL, 1 + FILE_SMALL, 0, 30), 0);
    assert_int_equal(joint_add(&stat->joint, JOINT_ALL, 1 + FILE_LARGE, 0, 25), 0);
    assert_int_equal(joint_add(&stat->joint, JOINT_JUMPED, 1 + FILE_LARGE, 0, 25), 0);
    assert_int_equal(bins_of(&tally, &bins, &count), 0);
    expect(stats_of(bins, count, OF_OPEN, 1u << FILE_SMALL), 30);
    expect(stats_of(bins, count, OF_OPEN, FILES_OTHERS), 10);
    expect(stats_of(bins, count, BY_NAME, 1u << FILE_LARGE), 25);
    expect(stats_of(bins, count, BY_NAME, FILES_OTHERS), 35);
    free(bins);
    tally_clear(&tally);
}

/* Files of 4 KiB that are read at once are small ones, and what is written as it was read goes on. */
static void matched_reads_take_what_suits_them(void **state)
{
    const unsigned small = 1u << FILE_SMALL, large = 1u << FILE_LARGE;
    struct tally tally = {0};
    struct bin *bins;
    size_t count;

    fill(&tally);
    assert_int_equal(histogram_add(&tally.op[OP_OPEN].size, 4 * KIB, 1000), 0);
    assert_int_equal(histogram_add(&tally.op[OP_OPEN].latency_ns, 500, 1000), 0);
    assert_int_equal(histogram_add(&tally.op[OP_WRITE].size, 64 * KIB, 650), 0);
    assert_int_equal(histogram_add(&tally.op[OP_WRITE].latency_ns, 500, 650), 0);
    count = split(&tally, &bins);
    /* of the small ones, and those that may be, as many as of each there are */
    expect(ops_of(bins, count, 4 * KIB, MATCH_FILE, small, GOES_ON), 1000 * 3000.0 / 3060);
    expect(ops_of(bins, count, 4 * KIB, MATCH_FILE, FILES_ANY, GOES_ON), 1000 * 60.0 / 3060);
    expect(ops_of(bins, count, 4 * KIB, MATCH_NONE, small, GOES_ON), 3000 - 1000 * 3000.0 / 3060);
    expect(ops_of(bins, count, 4 * KIB, MATCH_NONE, large, JUMPS), 1500);
    expect(ops_of(bins, count, 64 * KIB, MATCH_COPY, large, GOES_ON), 650);
    expect(ops_of(bins, count, 64 * KIB, MATCH_NONE, large, GOES_ON), 50);
    free(bins);
    tally_clear(&tally);
}

/* A run of eight may follow each read that jumps; what goes on beyond that is another one's. */
static void what_goes_on_for_long_is_lone(void **state)
{
    struct tally tally = {0};
    double lone = 0, others = 0;
    struct bin *bins;
    size_t count;

    add(&tally.op[OP_READ], 16 * KIB, 1 + FILE_LARGE, 1000, 50);
    add(&tally.op[OP_READ], 4 * KIB, 1 + FILE_LARGE, 300, 100);
    add(&tally.op[OP_READ], 4 * KIB, 1 + FILE_SMALL, 70, 0);
    count = split(&tally, &bins);
    for (size_t i = 0; i < count; i++)
        *(bins[i].lone ? &lone : &others) += bins[i].ops;
    expect(lone, 600 + 70);
    expect(others, 450 + 400);
    free(bins);
    tally_clear(&tally);
}

/* Pages of a database are no copy, though as many are written; nor is what is written here and there. */
static void what_jumps_is_no_copy(void **state)
{
    struct tally tally = {0};
    double copies = 0;
    struct bin *bins;
    size_t count;

    fill(&tally);
    tally.op[OP_WRITE].op = OP_WRITE;
    add(&tally.op[OP_WRITE], 4 * KIB, 0, 200, 9000);
    count = split(&tally, &bins);
    for (size_t i = 0; i < count; i++)
        if (bins[i].match == MATCH_COPY) {
            assert_int_equal(bins[i].order, GOES_ON);
            copies += bins[i].ops;
        }
    expect(copies, 400); /* 200 reads and as many writes */
    expect(ops_of(bins, count, 4 * KIB, MATCH_NONE, 1u << FILE_LARGE, JUMPS), 1500);
    free(bins);
    tally_clear(&tally);
}

static double twins_of(const struct tally *tally)
{
    double twins = 0;
    struct bin *bins;
    size_t count = split(tally, &bins);

    for (size_t i = 0; i < count; i++)
        twins += bins[i].twin ? bins[i].ops : 0;
    free(bins);
    return twins;
}

/* Who copies a few large files, each at once, reads and writes few of each size. */
static void large_pieces_are_pairs_together(void **state)
{
    struct tally few = {0}, large = {0}, small = {0};

    for (unsigned i = 1; i <= 5; i++) {
        add(&few.op[OP_READ], i * 16 * KIB * KIB, 1 + FILE_LARGE, 3, 0);
        add(&few.op[OP_WRITE], i * 16 * KIB * KIB, 0, 3, 0);
        add(&large.op[OP_READ], i * 16 * KIB * KIB, 1 + FILE_LARGE, 8, 0);
        add(&large.op[OP_WRITE], i * 16 * KIB * KIB, 0, 8, 0);
        add(&small.op[OP_READ], i * 16 * KIB, 1 + FILE_SMALL, 8, 0);
        add(&small.op[OP_WRITE], i * 16 * KIB, 0, 8, 0);
    }
    add(&large.op[OP_WRITE], 2 * KIB * KIB, 0, 40, 0); /* of a size that is not copied */
    expect(twins_of(&few), 0);
    expect(twins_of(&large), 80);
    expect(twins_of(&small), 0);
    tally_clear(&few);
    tally_clear(&large);
    tally_clear(&small);
}

/* Who else jumps is no reason to expect it of a copy, whose reads never do. */
static void a_copy_goes_on(void **state)
{
    const struct signature *copies = NULL;
    struct tally tally = {0};
    struct fitting fitting;
    double *row;

    add(&tally.op[OP_READ], 8 * KIB, 1 + FILE_LARGE, 0, 5000);
    add(&tally.op[OP_READ], 32 * KIB * KIB, 1 + FILE_LARGE, 190, 0);
    add(&tally.op[OP_WRITE], 32 * KIB * KIB, 0, 190, 0);
    assert_int_equal(fitting_init(&fitting, &classified_by, &tally, NULL, NULL), 0);
    assert_true(fitting.joint);
    for (uint32_t p = 0; p < classified_by.count; p++)
        if (strcmp(classified_by.profiles[p].name, "stage-copy") == 0)
            copies = &classified_by.profiles[p].signatures[0];
    assert_non_null(copies);
    row = calloc(fitting.all_count, sizeof(*row));
    assert_non_null(row);
    fitting_spread(&fitting, copies, 0, row);
    assert_true(row[fitting.order.first] > 0.4);
    expect(row[fitting.order.first + 1], 0);
    free(row);
    fitting_clear(&fitting);
    tally_clear(&tally);
}

/* As in what an older version has recorded, or where too much was counted under a coarser key. */
static void what_was_not_counted_is_not_split(void **state)
{
    for (unsigned missing = 0; missing < 3; missing++) {
        struct tally tally = {0};
        struct bin *bins;
        size_t count, before;

        fill(&tally);
        if (missing == 0)
            histogram_clear(&tally.op[OP_READ].joint);
        else if (missing == 1)
            tally.op[OP_READ].order[ORDER_CONSECUTIVE] = 0;
        else
            tally.op[OP_READ].order[ORDER_RANDOM] += 1000;
        assert_int_equal(bins_of(&tally, &bins, &count), 0);
        before = count;
        assert_int_equal(joining_split(&tally, &bins, &count), 0);
        assert_int_equal(count, before);
        free(bins);
        tally_clear(&tally);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_read_is_what_it_was_counted_as),
        cmocka_unit_test(reads_of_nothing_are_of_files_too),
        cmocka_unit_test(stats_are_of_files),
        cmocka_unit_test(matched_reads_take_what_suits_them),
        cmocka_unit_test(what_goes_on_for_long_is_lone),
        cmocka_unit_test(what_jumps_is_no_copy),
        cmocka_unit_test(large_pieces_are_pairs_together),
        cmocka_unit_test(a_copy_goes_on),
        cmocka_unit_test(what_was_not_counted_is_not_split),
    };

    return cmocka_run_group_tests(tests, classified_load, classified_unload);
}
