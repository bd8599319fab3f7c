/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums in which one profile could hide behind others. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>

#include "tests/unit/classified.h"
#include "tests/unit/history.h"

#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)

/* Perl's copies of shards, and chown -R: attributes that it changes are not the copy's, nor is the copy one who reads and one
   who writes. */
static void a_copy_is_found_beside_a_walk(void **state)
{
    static const struct counted counted[] = {
        {OP_READ, 2 * MIB, 1188},   {OP_READ, 320 * KIB, 27},  {OP_READ, 288 * KIB, 9},   {OP_READ, 416 * KIB, 9},
        {OP_READ, 448 * KIB, 9},    {OP_READ, 0, 54},          {OP_WRITE, 2 * MIB, 1188}, {OP_WRITE, 320 * KIB, 27},
        {OP_WRITE, 288 * KIB, 9},   {OP_WRITE, 416 * KIB, 9},  {OP_WRITE, 448 * KIB, 9},  {OP_OPEN, 0, 13280},
        {OP_OPEN, 48 * MIB, 54},    {OP_CREATE, 0, 54},        {OP_CLOSE, 0, 26618},      {OP_STAT, 0, 26786},
        {OP_SEEK, 0, 108},          {OP_READDIR, 0, 26560},    {OP_UNLINK, 0, 51},        {OP_SETATTR, 0, 193230},
        {0},
    };
    struct profile_list list;

    classified(classified_sum(counted, 0, 26700, 86), true, &list);
    assert_true(classified_bytes(&list, "stage-copy") > 0.95);
    assert_true(classified_find(&list, "ingest-scan")->share_ops > 0.95);
    profile_list_clear(&list);
}

/* Ruby's copies of images and its reads of them, and a walk: those who read are more than those who copy, so the copy's reads
   are theirs at first. */
static void a_copy_is_found_beside_who_reads_as_it_does(void **state)
{
    static const struct counted counted[] = {
        {OP_READ, 512 * KIB, 3450}, {OP_READ, 576 * KIB, 230}, {OP_READ, 0, 1120},         {OP_WRITE, 512 * KIB, 2400},
        {OP_WRITE, 576 * KIB, 160}, {OP_OPEN, 0, 20271},       {OP_OPEN, 512 * KIB, 3450}, {OP_OPEN, 576 * KIB, 230},
        {OP_CREATE, 0, 2560},       {OP_CLOSE, 0, 26847},      {OP_STAT, 0, 317310},       {OP_SEEK, 0, 4352},
        {OP_READDIR, 0, 40542},     {OP_UNLINK, 0, 2896},      {OP_MKDIR, 0, 339},         {0},
    };
    struct profile_list list;

    classified(classified_sum(counted, 0, 27310, 290000), true, &list);
    assert_true(classified_bytes(&list, "stage-copy") > 0.75);
    assert_true(classified_bytes(&list, "cv-training") > 0.05);
    assert_true(classified_bytes(&list, "checkpoint") < 0.02);
    profile_list_clear(&list);
}

/* NumPy's arrays, Ruby's copies and exa -lR: a checkpoint's recipes could take some of the walk's stats and listings, but is not
   to be worth these. */
static void a_checkpoint_is_found_beside_a_large_walk(void **state)
{
    static const struct counted counted[] = {
        {OP_READ, 512 * KIB, 842},  {OP_READ, 576 * KIB, 24},  {OP_WRITE, 512 * KIB, 842}, {OP_WRITE, 576 * KIB, 24},
        {OP_WRITE, 128, 432},       {OP_WRITE, 4 * MIB, 432},  {OP_OPEN, 0, 17848},        {OP_OPEN, 512 * KIB, 868},
        {OP_OPEN, 4 * MIB, 420},    {OP_CREATE, 0, 881},       {OP_CLOSE, 0, 20433},       {OP_STAT, 0, 279976},
        {OP_SEEK, 0, 3581},         {OP_READDIR, 0, 35680},    {OP_MKDIR, 0, 138},         {0},
    };
    struct batch *batch = classified_sum(counted, 0, 0, 0);
    struct profile_list list;

    history_errors(batch, "j", 0, OP_STAT, ENODATA, 257786);
    classified(batch, true, &list);
    assert_true(classified_bytes(&list, "checkpoint") > 0.6);
    assert_true(classified_bytes(&list, "stage-copy") > 0.3);
    profile_list_clear(&list);
}

/* zip -0 of small files: it writes as many pieces as it reads, of the same sizes, but into one file. What is named by its
   behaviour has no interval. */
static void a_packer_is_no_copy(void **state)
{
    static const struct counted counted[] = {
        {OP_READ, 16 * KIB, 28384},  {OP_READ, 11 * KIB, 3000},  {OP_READ, 14 * KIB, 3800},  {OP_READ, 9 * KIB, 2800},
        {OP_WRITE, 16 * KIB, 28536}, {OP_WRITE, 11 * KIB, 3000}, {OP_WRITE, 14 * KIB, 3800}, {OP_WRITE, 9 * KIB, 2650},
        {OP_READ, 0, 9600},          {OP_WRITE, 128, 9600},      {OP_OPEN, 52 * KIB, 9600},  {OP_CREATE, 0, 16},
        {OP_CLOSE, 0, 9793},         {OP_STAT, 0, 39265},        {OP_SEEK, 0, 19216},        {OP_READDIR, 0, 354},
        {OP_OPEN, 0, 177},           {OP_RENAME, 0, 8},          {OP_UNLINK, 0, 15},         {0},
    };
    const struct profile_share *share;
    struct profile_list list;

    classified(classified_sum(counted, 0, 0, 0), true, &list);
    share = classified_find(&list, "preprocess");
    assert_true(share && share->share_ops > 0.95 && share->share_bytes > 0.95);
    assert_true(isnan(share->ops_interval.low));
    profile_list_clear(&list);
}

/* Tensors that are mapped from the page cache, and torch.save(): all that is seen of the former are opens of large files, and
   how many page faults there are. */
static void mapped_files_are_found_beside_writes(void **state)
{
    static const struct counted counted[] = {
        {OP_WRITE, 4 * MIB, 224}, {OP_WRITE, 1152, 28},  {OP_WRITE, 96, 14},    {OP_CREATE, 0, 14}, {OP_RENAME, 0, 14},
        {OP_OPEN, 0, 9 + 94},     {OP_CLOSE, 0, 23 + 278}, {OP_READDIR, 0, 206}, {OP_STAT, 0, 324},  {OP_OPEN, 128 * MIB, 92},
        {OP_SEEK, 0, 92},         {0},
    };

    for (unsigned mapped = 0; mapped < 2; mapped++) {
        struct batch *batch = classified_sum(counted, 0, 9 + 278, 37);
        const struct profile_share *share;
        struct profile_list list;

        history_minor_faults(batch, "j", 0, mapped ? 200000 : 5000);
        classified(batch, true, &list);
        share = classified_find(&list, "mmap-read");
        assert_int_equal(share && share->share_ops > 0.5, mapped);
        assert_true(classified_bytes(&list, "checkpoint") > 0.98);
        profile_list_clear(&list);
    }
}

/* resize-pack's reads and writes, by one process or by two: sums are the same, but for who did it. */
static void who_reads_and_writes_is_one(void **state)
{
    static const struct counted counted[] = {
        {OP_READ, 4 * KIB, 2239},  {OP_READ, 52 * KIB, 2149}, {OP_READ, 0, 2194},   {OP_WRITE, 6 * KIB, 4388},
        {OP_OPEN, 52 * KIB, 2194}, {OP_OPEN, 0, 44},          {OP_CREATE, 0, 1},    {OP_CLOSE, 0, 2238},
        {OP_STAT, 0, 2282},        {OP_SEEK, 0, 4392},        {OP_READDIR, 0, 88},  {0},
    };

    for (unsigned percent = 0; percent <= 100; percent += 20) {
        struct batch *batch = classified_sum(counted, 0, 2282, 0);
        struct profile_list list;

        history_reworked(batch, "j", (2239 * 4 + 2149 * 52) * KIB * percent / 100);
        classified(batch, true, &list);
        assert_int_equal(classified_bytes(&list, "preprocess") > 0.95, percent >= 80);
        assert_int_equal(classified_bytes(&list, "losf") > 0.5, percent < 80);
        profile_list_clear(&list);
    }
}

/* cpio of small files into one: in blocks of 512 bytes. */
static void blocks_may_be_a_packers(void **state)
{
    static const struct counted counted[] = {
        {OP_READ, 512, 336333}, {OP_READ, 384, 3045}, {OP_WRITE, 512, 338686}, {OP_OPEN, 52 * KIB, 3060}, {OP_OPEN, 0, 66},
        {OP_CREATE, 0, 1},      {OP_CLOSE, 0, 3314},  {OP_STAT, 0, 6321},      {OP_READDIR, 0, 132},      {0},
    };
    struct profile_list list;

    classified(classified_sum(counted, 0, 3000, 3000), true, &list);
    assert_true(classified_bytes(&list, "preprocess") > 0.95);
    profile_list_clear(&list);
}

/* Node.js reads images on a FUSE mount, where each of eight workers has to ask of each name what it is: the walk is theirs. Beside
   one that is as large as half of all that is done it is not known whose it is. */
static void who_reads_files_lists_them(void **state)
{
    struct counted counted[] = {
        {OP_READ, 512 * KIB, 2400}, {OP_READ, 576 * KIB, 160}, {OP_OPEN, 512 * KIB, 2400}, {OP_OPEN, 576 * KIB, 160},
        {OP_OPEN, 0, 353},          {OP_CLOSE, 0, 2913},       {OP_READDIR, 0, 706},       {OP_STAT, 0, 5449},
        {0},
    };
    const struct profile_share *share;
    struct profile_list list;

    classified(classified_sum(counted, 0, 2560, 2889), true, &list);
    share = classified_find(&list, "cv-training");
    assert_true(share && share->share_ops > 0.99);
    assert_true(share->ops_interval.low < 0.7 && share->ops_interval.high > 0.99);
    assert_true(classified_says(share, "may be another's ingest-scan"));
    profile_list_clear(&list);
    counted[6].count *= 8;
    counted[7].count *= 8;
    classified(classified_sum(counted, 0, 2560, 41000), true, &list);
    share = classified_find(&list, "ingest-scan");
    assert_true(share && share->share_ops > 0.5);
    profile_list_clear(&list);
}

/* Shards, and a database that forces a few bytes to disk at a time: it is not the one who reads gigabytes. */
static void shards_are_read_beside_a_database(void **state)
{
    static const struct counted counted[] = {
        {OP_READ, 512, 5658949}, {OP_READ, 0, 100},    {OP_WRITE, 60, 75},   {OP_WRITE, 16, 50},  {OP_WRITE, 1024, 25},
        {OP_OPEN, 44 * MIB, 85}, {OP_OPEN, 4096, 100}, {OP_CREATE, 0, 100},  {OP_CLOSE, 0, 300},  {OP_STAT, 0, 400},
        {OP_UNLINK, 0, 50},      {OP_RENAME, 0, 50},   {OP_READDIR, 0, 100}, {OP_FSYNC, 0, 75},   {0},
    };
    struct profile_list list;

    classified(classified_sum(counted, 0, 200, 200), true, &list);
    assert_true(classified_bytes(&list, "shard-streaming") > 0.95);
    profile_list_clear(&list);
}

/* Perl's Storable, in pieces of 8 KiB over a file that is there, beside who reads small files. In pieces that jump about the file it
   is a database's; where as much is read as written somebody packs; and who makes a file for each MiB unpacks. */
static void a_checkpoint_may_have_a_small_buffer(void **state)
{
    static const struct {
        uint64_t jumps, creates, read;
        bool is;
    } sums[] = {{0, 1, 40 * KIB, true}, {8000, 1, 40 * KIB, false}, {0, 320, 40 * KIB, false}, {0, 1, 163840, false}};

    for (unsigned i = 0; i < sizeof(sums) / sizeof(*sums); i++) {
        struct counted counted[] = {
            {OP_WRITE, 8 * KIB, 40960}, {OP_OPEN, 0, 12}, {OP_OPEN, sums[i].read, 2000}, {OP_READ, sums[i].read, 2000},
            {OP_READ, 0, 2000},         {OP_STAT, 0, 2000}, {OP_CLOSE, 0, 2012 + sums[i].creates},
            {OP_CREATE, 0, sums[i].creates}, {0},
        };
        struct batch *batch = classified_sum(counted, 0, 2000, 0);
        struct profile_list list;

        history_order(batch, "j", 0, OP_WRITE, ORDER_CONSECUTIVE, 40960 - sums[i].jumps);
        history_order(batch, "j", 0, OP_WRITE, ORDER_RANDOM, sums[i].jumps);
        classified(batch, true, &list);
        assert_true(sums[i].is ? classified_bytes(&list, "checkpoint") > 0.75 : classified_bytes(&list, "checkpoint") < 0.02);
        profile_list_clear(&list);
    }
}

/* gcc, forty times: most of what it does is of no profile, so what resembles one in the rest is none. */
static void a_compiler_is_nobody(void **state)
{
    static const struct counted counted[] = {
        {OP_READ, 0, 1041}, {OP_READ, 4, 40}, {OP_READ, 16, 640}, {OP_READ, 28, 40}, {OP_READ, 40, 40},
        {OP_READ, 56, 80}, {OP_READ, 64, 480}, {OP_READ, 72, 160}, {OP_READ, 104, 40}, {OP_READ, 112, 200},
        {OP_READ, 120, 80}, {OP_READ, 128, 520}, {OP_READ, 144, 40}, {OP_READ, 160, 120}, {OP_READ, 176, 40},
        {OP_READ, 192, 120}, {OP_READ, 208, 80}, {OP_READ, 240, 160}, {OP_READ, 256, 200}, {OP_READ, 288, 160},
        {OP_READ, 352, 40}, {OP_READ, 384, 360}, {OP_READ, 416, 160}, {OP_READ, 448, 80}, {OP_READ, 480, 40},
        {OP_READ, 512, 160}, {OP_READ, 640, 200}, {OP_READ, 704, 80}, {OP_READ, 768, 444}, {OP_READ, 832, 1162},
        {OP_READ, 960, 120}, {OP_READ, 1024, 480}, {OP_READ, 1152, 240}, {OP_READ, 1280, 80}, {OP_READ, 1408, 200},
        {OP_READ, 1536, 240}, {OP_READ, 1664, 240}, {OP_READ, 1792, 280}, {OP_READ, 1920, 360}, {OP_READ, 2048, 80},
        {OP_READ, 2304, 240}, {OP_READ, 2560, 160}, {OP_READ, 2816, 201}, {OP_READ, 3072, 40}, {OP_READ, 3584, 160},
        {OP_READ, 3840, 160}, {OP_READ, 4096, 5080}, {OP_READ, 4608, 40}, {OP_READ, 5120, 80}, {OP_READ, 5632, 40},
        {OP_READ, 8192, 280}, {OP_READ, 10240, 40}, {OP_READ, 12288, 160}, {OP_READ, 14336, 120},
        {OP_READ, 16384, 40}, {OP_READ, 24576, 40}, {OP_READ, 26624, 40}, {OP_READ, 28672, 40}, {OP_READ, 30720, 40},
        {OP_READ, 32768, 40}, {OP_READ, 49152, 40}, {OP_READ, 65536, 40}, {OP_WRITE, 2, 40}, {OP_WRITE, 4, 280},
        {OP_WRITE, 5, 80}, {OP_WRITE, 8, 160}, {OP_WRITE, 18, 80}, {OP_WRITE, 24, 120}, {OP_WRITE, 28, 40},
        {OP_WRITE, 30, 40}, {OP_WRITE, 32, 120}, {OP_WRITE, 36, 120}, {OP_WRITE, 44, 80}, {OP_WRITE, 48, 120},
        {OP_WRITE, 64, 160}, {OP_WRITE, 72, 40}, {OP_WRITE, 80, 80}, {OP_WRITE, 88, 80}, {OP_WRITE, 112, 40},
        {OP_WRITE, 120, 80}, {OP_WRITE, 192, 80}, {OP_WRITE, 256, 40}, {OP_WRITE, 352, 40}, {OP_WRITE, 480, 40},
        {OP_WRITE, 512, 40}, {OP_WRITE, 704, 40}, {OP_WRITE, 896, 40}, {OP_WRITE, 1408, 40}, {OP_WRITE, 1920, 40},
        {OP_OPEN, 22, 1}, {OP_OPEN, 32, 1}, {OP_OPEN, 44, 1}, {OP_OPEN, 48, 202}, {OP_OPEN, 60, 1},
        {OP_OPEN, 104, 40}, {OP_OPEN, 112, 40}, {OP_OPEN, 120, 1}, {OP_OPEN, 128, 520}, {OP_OPEN, 144, 40},
        {OP_OPEN, 160, 40}, {OP_OPEN, 176, 40}, {OP_OPEN, 192, 120}, {OP_OPEN, 256, 202}, {OP_OPEN, 352, 40},
        {OP_OPEN, 384, 360}, {OP_OPEN, 480, 40}, {OP_OPEN, 512, 80}, {OP_OPEN, 640, 80}, {OP_OPEN, 832, 40},
        {OP_OPEN, 960, 120}, {OP_OPEN, 1024, 240}, {OP_OPEN, 1152, 240}, {OP_OPEN, 1280, 81}, {OP_OPEN, 1408, 80},
        {OP_OPEN, 1536, 240}, {OP_OPEN, 1664, 40}, {OP_OPEN, 1792, 280}, {OP_OPEN, 1920, 40}, {OP_OPEN, 2048, 80},
        {OP_OPEN, 2304, 80}, {OP_OPEN, 2560, 80}, {OP_OPEN, 2816, 201}, {OP_OPEN, 3072, 40}, {OP_OPEN, 3328, 1},
        {OP_OPEN, 3584, 40}, {OP_OPEN, 3840, 80}, {OP_OPEN, 4096, 200}, {OP_OPEN, 4608, 80}, {OP_OPEN, 5120, 80},
        {OP_OPEN, 5632, 40}, {OP_OPEN, 8192, 80}, {OP_OPEN, 10240, 40}, {OP_OPEN, 12288, 160}, {OP_OPEN, 14336, 120},
        {OP_OPEN, 16384, 40}, {OP_OPEN, 26624, 241}, {OP_OPEN, 30720, 40}, {OP_OPEN, 32768, 40}, {OP_OPEN, 49152, 40},
        {OP_OPEN, 57344, 40}, {OP_OPEN, 65536, 202}, {OP_OPEN, 81920, 40}, {OP_OPEN, 98304, 80},
        {OP_OPEN, 114688, 120}, {OP_OPEN, 122880, 160}, {OP_OPEN, 131072, 40}, {OP_OPEN, 212992, 160},
        {OP_OPEN, 327680, 201}, {OP_OPEN, 524288, 40}, {OP_OPEN, 720896, 160}, {OP_OPEN, 851968, 120},
        {OP_OPEN, 983040, 80}, {OP_OPEN, 1441792, 80}, {OP_OPEN, 1835008, 282}, {OP_OPEN, 2097152, 40},
        {OP_OPEN, 2883584, 160}, {OP_OPEN, 0, 320}, {OP_STAT, 0, 13301}, {OP_SEEK, 0, 37040}, {OP_CLOSE, 0, 7580},
        {OP_CREATE, 0, 240}, {OP_UNLINK, 0, 239}, {OP_SETATTR, 0, 40}, {0},
    };
    struct batch *batch = classified_sum(counted, 0.55, 9219, 57225);
    const struct profile_share *unknown;
    struct profile_list list;

    history_errors(batch, "j", 0, OP_OPEN, ENOENT, 7093);
    history_errors(batch, "j", 0, OP_STAT, ENOENT, 8000);
    history_errors(batch, "j", 0, OP_STAT, EINVAL, 45143);
    classified(batch, true, &list);
    unknown = classified_find(&list, PROFILE_UNKNOWN);
    assert_true(unknown && unknown->share_ops > 0.9);
    profile_list_clear(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_is_found_beside_a_walk),
        cmocka_unit_test(a_copy_is_found_beside_who_reads_as_it_does),
        cmocka_unit_test(a_checkpoint_is_found_beside_a_large_walk),
        cmocka_unit_test(a_packer_is_no_copy),
        cmocka_unit_test(mapped_files_are_found_beside_writes),
        cmocka_unit_test(who_reads_and_writes_is_one),
        cmocka_unit_test(blocks_may_be_a_packers),
        cmocka_unit_test(who_reads_files_lists_them),
        cmocka_unit_test(shards_are_read_beside_a_database),
        cmocka_unit_test(a_compiler_is_nobody),
        cmocka_unit_test(a_checkpoint_may_have_a_small_buffer),
    };

    return cmocka_run_group_tests(tests, classified_load, classified_unload);
}
