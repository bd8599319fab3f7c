/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One process that does what several programs do: a file server, a FUSE daemon, threads. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "tests/unit/classified.h"
#include "tests/unit/history.h"

#define KIB  UINT64_C(1024)
#define MIB  UINT64_C(1048576)
#define NEAR 0.05

#define PID 9

static void whole_files(struct batch *batch, uint64_t size, uint64_t count)
{
    history_ops(batch, "j", PID, OP_OPEN, size, count);
    history_ops(batch, "j", PID, OP_STAT, 0, 2 * count);
    history_ops(batch, "j", PID, OP_SEEK, 0, 2 * count);
    history_ops(batch, "j", PID, OP_READ, size, count);
    history_ops(batch, "j", PID, OP_READ, 0, count);
    history_ops(batch, "j", PID, OP_CLOSE, 0, count);
    history_order(batch, "j", PID, OP_READ, ORDER_CONSECUTIVE, count);
}

static void shards(struct batch *batch, uint64_t count)
{
    history_ops(batch, "j", PID, OP_OPEN, 64 * MIB, count);
    history_ops(batch, "j", PID, OP_READ, 256 * KIB, 256 * count);
    history_ops(batch, "j", PID, OP_READ, 0, count);
    history_ops(batch, "j", PID, OP_CLOSE, 0, count);
    history_order(batch, "j", PID, OP_READ, ORDER_CONSECUTIVE, 256 * count);
}

static void records(struct batch *batch, uint64_t count)
{
    history_ops(batch, "j", PID, OP_OPEN, 512 * MIB, 4);
    history_ops(batch, "j", PID, OP_READ, 28 * KIB, count);
    history_ops(batch, "j", PID, OP_CLOSE, 0, 4);
    history_order(batch, "j", PID, OP_READ, ORDER_RANDOM, count / 2);
    history_order(batch, "j", PID, OP_READ, ORDER_SEQUENTIAL, count - count / 2);
}

static void walk(struct batch *batch, uint64_t names)
{
    history_ops(batch, "j", PID, OP_STAT, 0, names);
    history_ops(batch, "j", PID, OP_OPEN, 0, names / 50);
    history_ops(batch, "j", PID, OP_READDIR, 0, names / 25);
    history_ops(batch, "j", PID, OP_CLOSE, 0, names / 50);
}

static void is(const struct profile_list *list, const char *profile, double ops, double bytes)
{
    assert_true(fabs(classified_ops(list, profile) - ops) <= NEAR);
    assert_true(fabs(classified_bytes(list, profile) - bytes) <= NEAR);
}

/* 1,000 small files and 1,000 of 200 KiB, of 8,000 operations each, and 30 shards, of 7,770. */
static void files_and_shards_are_told_in_one_process(void **state)
{
    struct batch *batch = history_batch(0);
    struct profile_list list;
    double bytes = 1000 * 10 + 1000 * 200 + 30 * 65536; /* KiB */

    whole_files(batch, 10 * KIB, 1000);
    whole_files(batch, 200 * KIB, 1000);
    shards(batch, 30);
    classified(batch, false, &list);
    is(&list, "losf", 8000 / 23770.0, 10000 / bytes);
    is(&list, "cv-training", 8000 / 23770.0, 200000 / bytes);
    is(&list, "shard-streaming", 7770 / 23770.0, 30 * 65536 / bytes);
    classified_adds_up(&list);
    profile_list_clear(&list);
}

/* 8,000 records beside 30 shards, or beside a walk that moves nothing; a third program makes no difference. */
static void records_are_told_from_what_goes_beside_them(void **state)
{
    struct batch *batch = history_batch(0);
    struct profile_list list;

    records(batch, 8000);
    shards(batch, 30);
    classified(batch, false, &list);
    is(&list, "sample-read", 8008 / 15778.0, 8000 * 28 / (8000 * 28 + 30 * 65536.0));
    profile_list_clear(&list);
    batch = history_batch(0);
    records(batch, 8000);
    walk(batch, 8000);
    classified(batch, false, &list);
    is(&list, "sample-read", 8008 / 16648.0, 1);
    is(&list, "ingest-scan", 8640 / 16648.0, 0);
    profile_list_clear(&list);
}

/* Folders of fifty files: 5,800 names beside 2,000 files that are read, of 16,000 operations. */
static void a_walk_of_full_folders_is_one(void **state)
{
    struct batch *batch = history_batch(0);
    struct profile_list list;

    whole_files(batch, 10 * KIB, 1000);
    whole_files(batch, 200 * KIB, 1000);
    walk(batch, 5800);
    history_order(batch, "j", PID, OP_STAT, ORDER_OF_OPEN, 4000);
    history_order(batch, "j", PID, OP_STAT, ORDER_BY_NAME, 5800);
    classified(batch, false, &list);
    is(&list, "ingest-scan", 6264 / 22264.0, 0);
    profile_list_clear(&list);
}

/* A program that streams opens its modules, too, and lists its shards: that is no second one. */
static void one_program_is_one(void **state)
{
    struct batch *batch = history_batch(0);
    struct profile_list list;

    shards(batch, 60);
    whole_files(batch, 10 * KIB, 30);
    walk(batch, 500);
    classified(batch, false, &list);
    assert_true(classified_ops(&list, "shard-streaming") > 0.99);
    profile_list_clear(&list);
}

/* Who packs reads files and writes some large ones: two kinds of work, as one. With others' records beside, it is not. */
static void packing_is_one_thing(void **state)
{
    for (unsigned others = 0; others < 2; others++) {
        struct batch *batch = history_batch(0);
        struct profile_list list;

        whole_files(batch, 48 * KIB, 4000);
        history_ops(batch, "j", PID, OP_CREATE, 0, 4);
        history_ops(batch, "j", PID, OP_WRITE, 4 * MIB, 60);
        if (others)
            records(batch, 30000);
        classified(batch, false, &list);
        assert_true((classified_ops(&list, "preprocess") > 0.99) == !others);
        assert_true((classified_ops(&list, "sample-read") > 0.4 && classified_ops(&list, "losf") > 0.4) == others);
        profile_list_clear(&list);
    }
}

/* Small files and larger ones may be one program's; two clients' where a file system is served. */
static void who_serves_does_what_its_clients_do(void **state)
{
    const struct station server = {.layer = LAYER_FUSE, .request = REQUEST_ALL, .party = PARTY_SERVER, .server = "x"};

    for (unsigned serves = 0; serves < 2; serves++) {
        struct batch *batch = history_batch(0);
        struct profile_list list;
        struct station *station;

        whole_files(batch, 10 * KIB, 6000);
        whole_files(batch, 400 * KIB, 1000);
        if (serves)
            assert_int_equal(batch_station(batch, &server, &station), 0);
        classified(batch, false, &list);
        assert_true((fabs(classified_bytes(&list, "losf") - 6 / 46.0) <= NEAR) == serves);
        assert_true((fabs(classified_bytes(&list, "cv-training") - 40 / 46.0) <= NEAR) == serves);
        profile_list_clear(&list);
    }
}

/* What a file server reads is what its clients' page caches ask for, in pieces that grow, whatever their programs read by: of
   small files, of images, and of shards beside them; or of samples, for each of which a shard is opened. */
static void caches_ask_a_server_in_pieces(void **state)
{
    for (unsigned samples = 0; samples < 2; samples++) {
        struct batch *batch = history_batch(0);
        struct profile_list list;
        uint64_t opens = 2800 + 500 + (samples ? 3000 : 13), reads = 5600 + 1500 + (samples ? 6000 : 5000);
        double kib = 2800 * 60 + 500 * 300 + (samples ? 3000 * 106 : 5000 * 128), ops = (double)(3 * opens + reads);

        history_ops(batch, "j", PID, OP_OPEN, 60 * KIB, 2800);
        history_pieces(batch, PID, FILE_SMALL, 32 * KIB, 2800, 0);
        history_pieces(batch, PID, FILE_SMALL, 28 * KIB, 2800, 0);
        history_ops(batch, "j", PID, OP_OPEN, 300 * KIB, 500);
        history_pieces(batch, PID, FILE_MEDIUM, 128 * KIB, 1000, 0);
        history_pieces(batch, PID, FILE_MEDIUM, 44 * KIB, 500, 0);
        history_ops(batch, "j", PID, OP_OPEN, 48 * MIB, samples ? 3000 : 13);
        if (samples) {
            history_pieces(batch, PID, FILE_LARGE, 90 * KIB, 3000, 3000);
            history_pieces(batch, PID, FILE_LARGE, 16 * KIB, 3000, 0);
        } else {
            history_pieces(batch, PID, FILE_LARGE, 128 * KIB, 5000, 0);
        }
        history_ops(batch, "j", PID, OP_CLOSE, 0, opens);
        history_ops(batch, "j", PID, OP_STAT, 0, opens);
        history_order(batch, "j", PID, OP_STAT, ORDER_BY_NAME, opens);
        classified(batch, false, &list);
        is(&list, "losf", (3 * 2800 + 5600) / ops, 2800 * 60 / kib);
        is(&list, "cv-training", (3 * 500 + 1500) / ops, 500 * 300 / kib);
        if (samples)
            is(&list, "sample-read", (3 * 3000 + 6000) / ops, 3000 * 106 / kib);
        else
            is(&list, "shard-streaming", 5000 / ops, 5000 * 128 / kib);
        profile_list_clear(&list);
    }
}

/* A packer behind a file server, beside a reader of records: it writes what it reads of files, or somebody saves as much. */
static void who_writes_the_bytes_that_he_reads_packs(void **state)
{
    const struct station server = {.layer = LAYER_FUSE, .request = REQUEST_ALL, .party = PARTY_SERVER, .server = "x"};

    for (unsigned times = 1; times <= 2; times++) {
        struct batch *batch = history_batch(0);
        struct profile_list list;
        struct station *station;

        whole_files(batch, 16 * KIB, 4000);
        history_ops(batch, "j", PID, OP_CREATE, 0, 1);
        history_ops(batch, "j", PID, OP_WRITE, 128 * KIB, 500 * times);
        history_order(batch, "j", PID, OP_WRITE, ORDER_CONSECUTIVE, 500 * times);
        records(batch, 20000);
        assert_int_equal(batch_station(batch, &server, &station), 0);
        classified(batch, false, &list);
        assert_true((classified_bytes(&list, "preprocess") > 0.15) == (times == 1));
        assert_true((classified_bytes(&list, "losf") > 0.05) == (times == 2));
        assert_true((classified_bytes(&list, "checkpoint") > 0.1) == (times == 2));
        profile_list_clear(&list);
    }
}

/* An SFTP server seeks before each read and write: pictures and checkpoints have their own. */
static void seeks_before_each_transfer_are_nobodys_work(void **state)
{
    const double read = 300 + 600 + 3600 + 300, written = 3 + 12000 + 3 + 3 + 3, seeks = 3600 + 12000;
    const double ops = read + written + seeks;
    struct batch *batch = history_batch(0);
    struct profile_list list;

    history_ops(batch, "j", PID, OP_OPEN, 384 * KIB, 300);
    history_ops(batch, "j", PID, OP_STAT, 0, 600);
    history_ops(batch, "j", PID, OP_READ, 32 * KIB, 3600);
    history_order(batch, "j", PID, OP_READ, ORDER_CONSECUTIVE, 3600);
    history_ops(batch, "j", PID, OP_CREATE, 0, 3);
    history_ops(batch, "j", PID, OP_WRITE, 32 * KIB, 12000);
    history_order(batch, "j", PID, OP_WRITE, ORDER_CONSECUTIVE, 12000);
    history_ops(batch, "j", PID, OP_FSYNC, 0, 3);
    history_ops(batch, "j", PID, OP_RENAME, 0, 3);
    history_ops(batch, "j", PID, OP_CLOSE, 0, 303);
    history_ops(batch, "j", PID, OP_SEEK, 0, (uint64_t)seeks);
    classified(batch, false, &list);
    is(&list, "cv-training", (read + 3600) / ops, 3600 / seeks);
    is(&list, "checkpoint", (written + 12000) / ops, 12000 / seeks);
    profile_list_clear(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_and_shards_are_told_in_one_process),
        cmocka_unit_test(records_are_told_from_what_goes_beside_them),
        cmocka_unit_test(a_walk_of_full_folders_is_one),
        cmocka_unit_test(one_program_is_one),
        cmocka_unit_test(packing_is_one_thing),
        cmocka_unit_test(who_serves_does_what_its_clients_do),
        cmocka_unit_test(caches_ask_a_server_in_pieces),
        cmocka_unit_test(who_writes_the_bytes_that_he_reads_packs),
        cmocka_unit_test(seeks_before_each_transfer_are_nobodys_work),
    };
    return cmocka_run_group_tests(tests, classified_load, classified_unload);
}
