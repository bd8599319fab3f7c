/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums of what programs of a kind were counted to do: their catalogue's recipes say so, and nobody else's. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "tests/unit/classified.h"

#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)

/* Lua, by the C library's fseek() and fread(): the page where a record starts jumps, and the rest of it, as often, goes on. */
static void a_record_may_be_a_page_and_the_rest(void **state)
{
    static const struct counted counted[] = {
        {OP_READ, 4 * KIB, 455910}, {OP_READ, 8 * KIB, 21581}, {OP_READ, 12 * KIB, 206419}, {OP_SEEK, 0, 228000},
        {OP_OPEN, 120 * MIB, 57},   {OP_OPEN, 0, 58},          {OP_CLOSE, 0, 115},          {OP_STAT, 0, 117},
        {OP_READDIR, 0, 116},       {0},
    };
    struct profile_list list;

    classified(classified_sum(counted, 0.333, 115, 2), true, &list);
    assert_true(classified_bytes(&list, "sample-read") > 0.95 && classified_ops(&list, "sample-read") > 0.95);
    profile_list_clear(&list);
}

/* libsndfile: the last block of a record is shorter, and there are as many of these as there are jumps. */
static void a_record_may_be_blocks_and_the_rest(void **state)
{
    static const struct counted counted[] = {
        {OP_READ, 7 * KIB, 136000}, {OP_READ, 8 * KIB, 408000}, {OP_READ, 4, 238}, {OP_SEEK, 0, 272374}, {OP_OPEN, 120 * MIB, 34},
        {OP_OPEN, 0, 35},           {OP_CLOSE, 0, 69},          {OP_STAT, 0, 139}, {OP_READDIR, 0, 70},  {0},
    };
    struct profile_list list;

    classified(classified_sum(counted, 0.25, 103, 36), true, &list);
    assert_true(classified_bytes(&list, "sample-read") > 0.95 && classified_ops(&list, "sample-read") > 0.95);
    profile_list_clear(&list);
}

/* Tcl: each name is resolved, so nearly all stats fail, as nothing is a symbolic link. Where so much is not said by recipes, a
   total is looked at as one process; one of which somebody reads much is no walk's. */
static void a_walk_may_resolve_names(void **state)
{
    struct counted counted[] = {
        {OP_STAT, 0, 138454}, {OP_OPEN, 0, 5464}, {OP_CLOSE, 0, 5461}, {OP_READDIR, 0, 10926}, {OP_READ, MIB, 0}, {0},
    };

    for (unsigned reads = 0; reads <= 2000; reads += 2000) {
        struct batch *batch;
        struct profile_list list;

        counted[4].count = reads;
        batch = classified_sum(counted, 0, 5463, 132991);
        history_errors(batch, "j", 0, OP_STAT, EINVAL, 391746);
        classified(batch, true, &list);
        assert_true(classified_ops(&list, "ingest-scan") > 0.95);
        assert_true(reads ? classified_bytes(&list, "ingest-scan") < 0.01 : !classified_bytes(&list, "shard-streaming"));
        profile_list_clear(&list);
    }
}

/* bsdtar, through a pipe: it reads blocks of 64 KiB, and writes those of an archive. */
static void a_copy_may_write_other_blocks_than_it_reads(void **state)
{
    static const struct counted counted[] = {
        {OP_READ, 64 * KIB, 24606}, {OP_WRITE, 10 * KIB, 154859}, {OP_WRITE, 4 * KIB, 6500}, {OP_OPEN, 512 * KIB, 5760}, {OP_OPEN, 0, 8047},
        {OP_CREATE, 0, 2880},       {OP_CLOSE, 0, 17461},         {OP_STAT, 0, 11450},       {OP_SEEK, 0, 17658},        {OP_SETATTR, 0, 6876},
        {OP_UNLINK, 0, 3258},       {OP_READDIR, 0, 1550},        {0},
    };
    struct batch *batch = classified_sum(counted, 0, 10999, 451);
    struct profile_list list;

    history_errors(batch, "j", 0, OP_STAT, ENOENT, 10135);
    classified(batch, true, &list);
    assert_true(classified_bytes(&list, "stage-copy") > 0.95 && classified_ops(&list, "stage-copy") > 0.95);
    profile_list_clear(&list);
}

/* Who reads images in blocks of 8 KiB, beside Java, which forces a checkpoint of 30 MiB to disk over what is there. */
static void images_may_be_read_in_blocks_of_a_page_or_two(void **state)
{
    static const struct counted counted[] = {
        {OP_READ, 8 * KIB, 359568}, {OP_READ, 6 * KIB, 5280}, {OP_READ, 0, 5280},   {OP_WRITE, 6 * MIB, 863}, {OP_OPEN, 512 * KIB, 5280},
        {OP_OPEN, 30 * MIB, 166},   {OP_OPEN, 0, 736},        {OP_CLOSE, 0, 8241},  {OP_STAT, 0, 22787},      {OP_FSYNC, 0, 172},
        {OP_CREATE, 0, 8},          {OP_READDIR, 0, 1472},    {0},
    };
    struct profile_list list;

    classified(classified_sum(counted, 0, 6016, 16771), true, &list);
    assert_true(classified_ops(&list, "cv-training") > 0.9);
    assert_true(classified_bytes(&list, "checkpoint") > 0.6 && classified_bytes(&list, "cv-training") > 0.3);
    profile_list_clear(&list);
}

/* Python, where no compiled modules are kept: each is missed, and its source read. */
static void modules_may_be_compiled_anew(void **state)
{
    static const struct counted counted[] = {
        {OP_READ, 2 * KIB, 2834}, {OP_READ, 0, 2834}, {OP_OPEN, 2 * KIB, 2834}, {OP_OPEN, 0, 150}, {OP_CLOSE, 0, 2984},
        {OP_STAT, 0, 14670},      {OP_SEEK, 0, 5668}, {OP_READDIR, 0, 276},     {0},
    };
    struct batch *batch = classified_sum(counted, 0, 5806, 8864);
    struct profile_list list;

    history_errors(batch, "j", 0, OP_STAT, ENOENT, 380);
    history_errors(batch, "j", 0, OP_OPEN, ENOENT, 2834);
    classified(batch, true, &list);
    assert_true(classified_ops(&list, "import-storm") > 0.95);
    profile_list_clear(&list);
}

/* head: of each file no more than its first block. */
static void little_may_be_read_of_each_file(void **state)
{
    static const struct counted counted[] = {
        {OP_READ, 4 * KIB, 51100}, {OP_OPEN, 72 * KIB, 51100}, {OP_OPEN, 0, 148}, {OP_CLOSE, 0, 51394}, {0},
    };
    struct profile_list list;

    classified(classified_sum(counted, 0, 0, 0), true, &list);
    assert_true(classified_ops(&list, "losf") > 0.95 && classified_bytes(&list, "losf") > 0.95);
    profile_list_clear(&list);
}

/* cat: a buffer of 128 KiB, of which the last one of a file is not filled. */
static void images_may_be_read_in_larger_blocks(void **state)
{
    static const struct counted counted[] = {
        {OP_READ, 128 * KIB, 10857}, {OP_READ, 72 * KIB, 3780}, {OP_READ, 0, 3780}, {OP_OPEN, 448 * KIB, 3780},
        {OP_OPEN, 0, 169},           {OP_CLOSE, 0, 4369},       {OP_STAT, 0, 3970}, {OP_WRITE, 4 * MIB, 544},
        {OP_CREATE, 0, 34},          {OP_FSYNC, 0, 34},         {0},
    };
    struct profile_list list;

    classified(classified_sum(counted, 0, 3970, 0), true, &list);
    assert_true(classified_ops(&list, "cv-training") > 0.9);
    assert_true(classified_bytes(&list, "checkpoint") > 0.5 && classified_bytes(&list, "cv-training") > 0.35);
    profile_list_clear(&list);
}

/* Copies make many files. A checkpoint through a small buffer beside them makes few, and is none of the copies. */
static void a_checkpoint_makes_few_files_of_many(void **state)
{
    static const struct counted counted[] = {
        {OP_READ, 512 * KIB, 2000}, {OP_READ, 0, 2000},   {OP_WRITE, 512 * KIB, 2000}, {OP_WRITE, 0, 2000},
        {OP_OPEN, 512 * KIB, 2000}, {OP_OPEN, 0, 20},     {OP_CREATE, 0, 2008},        {OP_CLOSE, 0, 4028},
        {OP_STAT, 0, 6000},         {OP_READDIR, 0, 40},  {OP_WRITE, 64 * KIB, 8000},  {0},
    };
    struct profile_list list;

    classified(classified_sum(counted, 0, 4000, 2000), true, &list);
    assert_true(classified_bytes(&list, "checkpoint") > 0.15 && classified_bytes(&list, "checkpoint") < 0.25);
    assert_true(classified_bytes(&list, "stage-copy") > 0.75);
    profile_list_clear(&list);
}

/* Small files are copied beside images that are read, and names that are listed: what was copied is not enough to be images. */
static void a_copy_opens_no_more_than_it_copies(void **state)
{
    static const struct counted counted[] = {
        {OP_READ, 6 * KIB, 22500},  {OP_READ, 0, 33840},       {OP_WRITE, 6 * KIB, 22500}, {OP_WRITE, 0, 22500},
        {OP_OPEN, 6 * KIB, 22500},  {OP_OPEN, 0, 1480},        {OP_CREATE, 0, 22500},      {OP_READ, 448 * KIB, 11340},
        {OP_OPEN, 448 * KIB, 11340}, {OP_CLOSE, 0, 57820},     {OP_STAT, 0, 155760},       {OP_READDIR, 0, 2740},
        {OP_UNLINK, 0, 22500},      {0},
    };
    struct batch *batch = classified_sum(counted, 0, 46000, 109700);
    struct profile_list list;

    history_errors(batch, "j", 0, OP_STAT, ENODATA, 172730);
    classified(batch, true, &list);
    assert_true(classified_bytes(&list, "cv-training") > 0.9);
    assert_true(classified_ops(&list, "ingest-scan") > 0.4 && classified_ops(&list, "stage-copy") > 0.25);
    profile_list_clear(&list);
}

/* ls beside a Python that misses half of what it opens: a walk is not judged by what others fail to open. */
static void a_listing_may_be_beside_opens_that_fail(void **state)
{
    static const struct counted counted[] = {
        {OP_READ, 4 * KIB, 1400}, {OP_READ, 0, 1417}, {OP_OPEN, 4 * KIB, 1417}, {OP_OPEN, 0, 1106}, {OP_CLOSE, 0, 2523},
        {OP_STAT, 0, 94318},      {OP_SEEK, 0, 2834}, {OP_READDIR, 0, 2116},    {OP_READ, 96 * KIB, 96000}, {OP_OPEN, 160 * MIB, 8},
        {0},
    };
    struct batch *batch = classified_sum(counted, 0.985, 4000, 90318);
    struct profile_list list;

    history_errors(batch, "j", 0, OP_STAT, ENODATA, 172722);
    history_errors(batch, "j", 0, OP_STAT, ENOENT, 206);
    history_errors(batch, "j", 0, OP_OPEN, ENOENT, 1417);
    classified(batch, true, &list);
    assert_true(classified_ops(&list, "ingest-scan") > 0.65 && classified_bytes(&list, "sample-read") > 0.95);
    profile_list_clear(&list);
}

/* A log's file is looked at before each line: that is no walk. */
static void a_log_is_no_walk(void **state)
{
    static const struct counted counted[] = {
        {OP_WRITE, 24, 60000}, {OP_STAT, 0, 120011}, {OP_SEEK, 0, 120009}, {OP_OPEN, 0, 4},  {OP_CLOSE, 0, 7},
        {OP_READDIR, 0, 8},    {OP_CREATE, 0, 3},    {OP_UNLINK, 0, 3},    {0},
    };
    struct profile_list list;

    classified(classified_sum(counted, 0, 7, 120004), true, &list);
    assert_true(classified_ops(&list, "unknown") > 0.95);
    profile_list_clear(&list);
}

/* Records of 2500 bytes, one after the other, beside a checkpoint. */
static void records_may_be_small(void **state)
{
    static const struct counted counted[] = {
        {OP_READ, 2500, 1566180}, {OP_READ, 0, 100}, {OP_OPEN, 40 * MIB, 100}, {OP_OPEN, 0, 20},   {OP_CLOSE, 0, 140},
        {OP_STAT, 0, 140},        {OP_READDIR, 0, 40}, {OP_WRITE, 4 * MIB, 2000}, {OP_CREATE, 0, 20}, {OP_FSYNC, 0, 20},
        {0},
    };
    struct profile_list list;

    classified(classified_sum(counted, 0, 140, 0), true, &list);
    assert_true(classified_ops(&list, "shard-streaming") > 0.95 && classified_bytes(&list, "checkpoint") > 0.6);
    profile_list_clear(&list);
}

/* Biopython's index beside small files: Python seeks for each line of a record. */
static void each_line_may_be_sought(void **state)
{
    static const struct counted counted[] = {
        {OP_READ, 4 * KIB, 70557}, {OP_READ, 12 * KIB, 20000}, {OP_READ, 0, 20000}, {OP_SEEK, 0, 2694643}, {OP_OPEN, 18 * MIB, 8},
        {OP_OPEN, 12 * KIB, 20000}, {OP_OPEN, 0, 100},         {OP_CLOSE, 0, 20108}, {OP_STAT, 0, 20025},  {OP_READDIR, 0, 200},
        {0},
    };
    struct profile_list list;

    classified(classified_sum(counted, 0.25, 20009, 16), true, &list);
    assert_true(classified_ops(&list, "sample-read") > 0.9 && classified_bytes(&list, "losf") > 0.4);
    profile_list_clear(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_may_be_a_page_and_the_rest),
        cmocka_unit_test(a_record_may_be_blocks_and_the_rest),
        cmocka_unit_test(a_walk_may_resolve_names),
        cmocka_unit_test(a_copy_may_write_other_blocks_than_it_reads),
        cmocka_unit_test(images_may_be_read_in_blocks_of_a_page_or_two),
        cmocka_unit_test(modules_may_be_compiled_anew),
        cmocka_unit_test(little_may_be_read_of_each_file),
        cmocka_unit_test(images_may_be_read_in_larger_blocks),
        cmocka_unit_test(a_checkpoint_makes_few_files_of_many),
        cmocka_unit_test(a_copy_opens_no_more_than_it_copies),
        cmocka_unit_test(a_listing_may_be_beside_opens_that_fail),
        cmocka_unit_test(a_log_is_no_walk),
        cmocka_unit_test(records_may_be_small),
        cmocka_unit_test(each_line_may_be_sought),
    };

    return cmocka_run_group_tests(tests, classified_load, classified_unload);
}
