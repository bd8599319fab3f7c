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

static struct catalogue catalogue;

static int load(void **state)
{
    return catalogue_load(NULL, &catalogue);
}

static int unload(void **state)
{
    catalogue_clear(&catalogue);
    return 0;
}

/* Operations of a sum: what succeeded. */
struct counted {
    enum operation op;
    uint64_t size, count;
};

static struct batch *sum_of(const struct counted *counted)
{
    struct batch *batch = history_batch(0);
    uint64_t reads = 0;

    for (; counted->count; counted++) {
        history_ops(batch, "j", 0, counted->op, counted->size, counted->count);
        reads += counted->op == OP_READ && counted->size ? counted->count : 0;
    }
    if (reads)
        history_order(batch, "j", 0, OP_READ, ORDER_CONSECUTIVE, reads);
    return batch;
}

static double bytes_of(const struct profile_list *list, const char *pattern)
{
    const struct profile_share *share = classified_find(list, pattern);

    return share ? share->share_bytes : 0;
}

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
    struct batch *batch = sum_of(counted);
    struct profile_list list;

    history_order(batch, "j", 0, OP_STAT, ORDER_OF_OPEN, 26700);
    history_order(batch, "j", 0, OP_STAT, ORDER_BY_NAME, 86);
    classified(&catalogue, batch, true, &list);
    assert_true(bytes_of(&list, "stage-copy") > 0.95);
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
    struct batch *batch = sum_of(counted);
    struct profile_list list;

    history_order(batch, "j", 0, OP_STAT, ORDER_BY_NAME, 290000);
    history_order(batch, "j", 0, OP_STAT, ORDER_OF_OPEN, 27310);
    classified(&catalogue, batch, true, &list);
    assert_true(bytes_of(&list, "stage-copy") > 0.75);
    assert_true(bytes_of(&list, "cv-training") > 0.05);
    assert_true(bytes_of(&list, "checkpoint") < 0.02);
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
    struct batch *batch = sum_of(counted);
    struct profile_list list;

    history_errors(batch, "j", 0, OP_STAT, ENODATA, 257786);
    classified(&catalogue, batch, true, &list);
    assert_true(bytes_of(&list, "checkpoint") > 0.6);
    assert_true(bytes_of(&list, "stage-copy") > 0.3);
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

    classified(&catalogue, sum_of(counted), true, &list);
    share = classified_find(&list, "preprocess");
    assert_true(share && share->share_ops > 0.95 && share->share_bytes > 0.95);
    assert_true(isnan(share->ops_interval.low));
    profile_list_clear(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_is_found_beside_a_walk),
        cmocka_unit_test(a_copy_is_found_beside_who_reads_as_it_does),
        cmocka_unit_test(a_checkpoint_is_found_beside_a_large_walk),
        cmocka_unit_test(a_packer_is_no_copy),
    };

    return cmocka_run_group_tests(tests, load, unload);
}
