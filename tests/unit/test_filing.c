/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>

#include "analyzer/behaviour.h"
#include "tests/unit/classified.h"
#include "tests/unit/history.h"

#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)

static struct record *record_of(struct batch *batch, enum operation op)
{
    for (uint32_t i = 0; i < batch->record_count; i++)
        if (batch->records[i].op == op)
            return &batch->records[i];
    return NULL;
}

static void open_files(struct batch *batch, uint64_t size, uint64_t count)
{
    history_ops(batch, "j", 0, OP_OPEN, 0, count);
    assert_int_equal(histogram_add(&record_of(batch, OP_OPEN)->size, size, count), 0);
}

static void stat_files(struct batch *batch, uint64_t of_open, uint64_t by_name)
{
    history_ops(batch, "j", 0, OP_STAT, 0, of_open + by_name);
    history_order(batch, "j", 0, OP_STAT, ORDER_OF_OPEN, of_open);
    history_order(batch, "j", 0, OP_STAT, ORDER_BY_NAME, by_name);
}

static void read_files(struct batch *batch, uint64_t small, uint64_t medium, uint64_t large)
{
    const uint64_t reads[FILE_SIZES] = {small, medium, large};

    for (unsigned i = 0; i < FILE_SIZES; i++)
        record_of(batch, OP_READ)->file_size[i] = reads[i];
}

/* Samples of 540 KiB a file, in blocks of 8 KiB behind a header, and rows of a database, page by page: whether a block is of
   the ones or of the others cannot be seen from its size. */
static struct batch *samples_and_rows(void)
{
    struct batch *batch = history_batch(0);

    open_files(batch, 540 * KIB, 3000);
    stat_files(batch, 6000, 3000);
    history_ops(batch, "j", 0, OP_SEEK, 0, 36000);
    history_ops(batch, "j", 0, OP_CLOSE, 0, 3000);
    history_ops(batch, "j", 0, OP_READ, 12, 36000);
    history_ops(batch, "j", 0, OP_READ, 8 * KIB, 198000);
    history_ops(batch, "j", 0, OP_READ, 4 * KIB, 400000);
    history_order(batch, "j", 0, OP_READ, ORDER_CONSECUTIVE, 234000 + 312000);
    history_order(batch, "j", 0, OP_READ, ORDER_RANDOM, 88000);
    return batch;
}

static void reads_are_told_by_their_files(void **state)
{
    double samples = 198000.0 * 8 * KIB, rows = 400000.0 * 4 * KIB;

    for (unsigned known = 0; known < 2; known++) {
        struct batch *batch = samples_and_rows();
        const struct profile_share *share;
        struct profile_list list;
        double off;

        if (known)
            read_files(batch, 0, 234000, 400000);
        classified(batch, false, &list);
        share = classified_find(&list, "cv-training");
        assert_non_null(share);
        off = fabs(share->share_bytes - samples / (samples + rows));
        assert_true(known ? off < 0.02 : off > 0.05);
        if (known)
            assert_true(fabs(classified_find(&list, "sample-read")->share_bytes - rows / (samples + rows)) < 0.02);
        profile_list_clear(&list);
    }
}

/* What is known of half of the reads only says nothing of the others, which may be all of one kind. */
static void half_of_the_reads_say_nothing(void **state)
{
    struct batch *batch = samples_and_rows();
    struct profile_list all, half;

    classified(batch, false, &all);
    batch = samples_and_rows();
    read_files(batch, 0, 234000, 0);
    classified(batch, false, &half);
    assert_true(classified_find(&all, "cv-training")->share_bytes == classified_find(&half, "cv-training")->share_bytes);
    profile_list_clear(&all);
    profile_list_clear(&half);
}

/* A copy of a few large files beside a reader of many small ones: nearly all files that are opened are the reader's. */
static void a_copy_reads_files_that_have_as_much(void **state)
{
    struct batch *batch = history_batch(0);
    struct profile_list list;

    open_files(batch, 300 * KIB, 800);
    open_files(batch, 100 * MIB, 8);
    stat_files(batch, 816, 0);
    history_ops(batch, "j", 0, OP_SEEK, 0, 1600);
    history_ops(batch, "j", 0, OP_CLOSE, 0, 816);
    history_ops(batch, "j", 0, OP_CREATE, 0, 8);
    history_ops(batch, "j", 0, OP_READ, 0, 400);
    history_ops(batch, "j", 0, OP_READ, 64 * KIB, 4000);
    history_ops(batch, "j", 0, OP_READ, 2 * MIB, 400);
    history_ops(batch, "j", 0, OP_WRITE, 2 * MIB, 400);
    history_order(batch, "j", 0, OP_READ, ORDER_CONSECUTIVE, 4400);
    read_files(batch, 0, 4000, 400);
    classified(batch, false, &list);
    assert_non_null(classified_find(&list, "stage-copy"));
    assert_non_null(classified_find(&list, "cv-training"));
    assert_true(fabs(classified_find(&list, "stage-copy")->share_bytes - 1600.0 / (1600 + 250)) < 0.03);
    profile_list_clear(&list);
}

static void strays_are_of_files_that_nobody_opened(void **state)
{
    struct tally tally = {0};
    struct behaviour behaviour;

    tally.op[OP_READ].file_size[FILE_SMALL] = 900;
    tally.op[OP_READ].file_size[FILE_LARGE] = 100;
    behaviour_of(&tally, &(struct peers){0}, &behaviour);
    assert_true(isnan(behaviour.stray_reads));
    assert_int_equal(histogram_add(&tally.op[OP_OPEN].size, 40 * KIB, 995), 0);
    assert_int_equal(histogram_add(&tally.op[OP_OPEN].size, 8 * MIB, 5), 0);
    behaviour_of(&tally, &(struct peers){0}, &behaviour);
    assert_true(behaviour.stray_reads == 0.1);
    assert_int_equal(histogram_add(&tally.op[OP_OPEN].size, 8 * MIB, 50), 0);
    behaviour_of(&tally, &(struct peers){0}, &behaviour);
    assert_true(behaviour.stray_reads == 0);
    histogram_clear(&tally.op[OP_OPEN].size);
}

static int add(struct catalogue *catalogue, const char *files)
{
    char json[512];
    int length = snprintf(json, sizeof(json),
                          "{\"name\": \"mine\", \"kind\": \"pattern\", \"confidence\": 0.5, \"signatures\": [{\"name\": "
                          "\"s\", %s\"mix\": [{\"op\": \"open\", \"weight\": 1, \"size\": [1, 4096]}, {\"op\": \"open\", "
                          "\"weight\": 1, \"size\": [0, 1]}, {\"op\": \"read\", \"weight\": 1}]}]}", files);

    return catalogue_add(catalogue, "mine.json", json, (size_t)length);
}

/* Whose files are not said are those that are opened, but for folders; a range that is none is refused. */
static void recipes_say_what_files_they_read(void **state)
{
    struct catalogue catalogue = {0};

    assert_int_equal(add(&catalogue, ""), 0);
    assert_int_equal(catalogue.profiles[0].signatures[0].files_lower, 1);
    assert_int_equal(catalogue.profiles[0].signatures[0].files_upper, 4096);
    assert_int_equal(add(&catalogue, "\"files\": [4194304, null], "), 0);
    assert_int_equal(catalogue.profiles[0].signatures[0].files_lower, 4 * MIB);
    assert_true(catalogue.profiles[0].signatures[0].files_upper == UINT64_MAX);
    assert_true(add(&catalogue, "\"files\": [10, 10], ") < 0);
    assert_true(add(&catalogue, "\"files\": 10, ") < 0);
    catalogue_clear(&catalogue);
}

/* NumPy's archives are written with five seeks an array, beside records of a large file, each read where the last one did
   not end, without one: as seeks say that they are of what is written, they are no reader's. */
static void seeks_are_whose_files_they_are(void **state)
{
    struct batch *batch = history_batch(0);
    const struct profile_share *share;
    struct profile_list list;

    history_ops(batch, "j", 0, OP_WRITE, 8 * MIB, 600);
    history_ops(batch, "j", 0, OP_WRITE, 100, 1200);
    history_ops(batch, "j", 0, OP_SEEK, 0, 3000);
    history_ops(batch, "j", 0, OP_READ, 64 * KIB, 12000);
    history_order(batch, "j", 0, OP_READ, ORDER_RANDOM, 12000);
    read_files(batch, 0, 0, 12000);
    record_of(batch, OP_SEEK)->order[ORDER_OF_OTHERS] = 3000;
    classified(batch, true, &list);
    share = classified_find(&list, "checkpoint");
    assert_true(share && fabs(share->share_ops - 4800.0 / 16800) < 0.02);
    share = classified_find(&list, "sample-read");
    assert_true(share && fabs(share->share_ops - 12000.0 / 16800) < 0.02);
    profile_list_clear(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_are_told_by_their_files),
        cmocka_unit_test(half_of_the_reads_say_nothing),
        cmocka_unit_test(a_copy_reads_files_that_have_as_much),
        cmocka_unit_test(strays_are_of_files_that_nobody_opened),
        cmocka_unit_test(recipes_say_what_files_they_read),
        cmocka_unit_test(seeks_are_whose_files_they_are),
    };

    return cmocka_run_group_tests(tests, classified_load, classified_unload);
}
