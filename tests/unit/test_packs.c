/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who packs, copies or unpacks, and who only looks like it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/classified.h"
#include "tests/unit/history.h"

#define KIB UINT64_C(1024)
#define MIB UINT64_C(1048576)
#define SECONDS 12

/* Python loads torch, and saves some models: the many small files that it reads are its modules, not the data. */
static void who_imports_and_saves_makes_nothing_of_it(void **state)
{
    for (unsigned packs = 0; packs < 2; packs++) {
        struct batch *batch = history_batch(0);
        uint64_t files = packs ? 5000 : 0;
        struct profile_list list;

        history_torch(batch, 9);
        history_ops(batch, "j", 9, OP_STAT, 0, 2 * files);
        history_ops(batch, "j", 9, OP_OPEN, 12 * KIB, files);
        history_ops(batch, "j", 9, OP_READ, 12 * KIB, 1200 + files);
        history_ops(batch, "j", 9, OP_READ, 0, files);
        history_ops(batch, "j", 9, OP_SEEK, 0, 2 * files);
        history_ops(batch, "j", 9, OP_CLOSE, 0, 30 + files);
        history_ops(batch, "j", 9, OP_CREATE, 0, 2);
        history_ops(batch, "j", 9, OP_WRITE, MIB, 60);
        classified(batch, false, &list);
        assert_true((classified_bytes(&list, "preprocess") > 0.9) == packs);
        assert_true((classified_bytes(&list, "checkpoint") > 0.75) == !packs);
        assert_true((classified_ops(&list, "import-storm") > 0.9) == !packs);
        profile_list_clear(&list);
    }
}

/* A loop reads small files, some epochs of them, and saves its model after each, under a name that it gets when it is whole;
   or somebody packs them. */
static void who_trains_and_saves_does_two_things(void **state)
{
    for (unsigned packs = 0; packs < 2; packs++) {
        struct batch *batch = history_batch(0);
        struct profile_list list;

        history_ops(batch, "j", 9, OP_STAT, 0, 40000);
        history_whole_files(batch, 9, 48 * KIB, 20000);
        history_ops(batch, "j", 9, OP_SEEK, 0, 40000);
        history_ops(batch, "j", 9, OP_CREATE, 0, 4);
        history_ops(batch, "j", 9, OP_RENAME, 0, packs ? 1 : 4);
        history_ops(batch, "j", 9, OP_WRITE, 4 * MIB, 60);
        classified(batch, false, &list);
        assert_true((classified_bytes(&list, "preprocess") > 0.9) == packs);
        assert_true((classified_ops(&list, "losf") > 0.9) == !packs);
        assert_true((classified_bytes(&list, "checkpoint") > 0.15) == !packs);
        profile_list_clear(&list);
    }
}

/* tar -x: what it reads it writes, in the same blocks, but into many files that it makes of one. Who copies opens as many. */
static void who_unpacks_copies_nothing(void **state)
{
    for (unsigned copies = 0; copies < 2; copies++) {
        struct batch *batch = history_batch(0);
        struct profile_list list;

        history_ops(batch, "j", 9, OP_OPEN, copies ? 300 * KIB : 450 * MIB, copies ? 1500 : 1);
        history_ops(batch, "j", 9, OP_STAT, 0, 1500);
        history_ops(batch, "j", 9, OP_READ, 10 * KIB, 45000);
        history_order(batch, "j", 9, OP_READ, ORDER_CONSECUTIVE, 45000);
        history_ops(batch, "j", 9, OP_CREATE, 0, 1500);
        history_ops(batch, "j", 9, OP_WRITE, 10 * KIB, 45000);
        history_order(batch, "j", 9, OP_WRITE, ORDER_CONSECUTIVE, 45000);
        history_ops(batch, "j", 9, OP_CLOSE, 0, copies ? 3000 : 1501);
        classified(batch, false, &list);
        assert_true((classified_ops(&list, "stage-copy") > 0.9) == copies);
        assert_true(copies || classified_ops(&list, "stage-copy") < 0.1);
        profile_list_clear(&list);
    }
}

/* So many files, asked for their attributes, and read by one read each, to their end. */
static void read_files(struct batch *batch, enum file_size kind, uint64_t size, uint64_t count)
{
    history_ops(batch, "j", 9, OP_OPEN, size, count);
    history_ops(batch, "j", 9, OP_STAT, 0, count);
    history_pieces(batch, 9, kind, size, count, 0);
    history_ops(batch, "j", 9, OP_READ, 0, count);
}

/* Who trains saves over what is there, and forces it to disk each time; who packs does so once, when it is whole. */
static void who_saves_again_and_again_packs_nothing(void **state)
{
    for (unsigned packs = 0; packs < 2; packs++) {
        struct batch *batch = history_batch(0);
        struct profile_list list;

        read_files(batch, FILE_MEDIUM, 300 * KIB, 1100);
        history_ops(batch, "j", 9, OP_CREATE, 0, 2);
        history_ops(batch, "j", 9, OP_WRITE, MIB, 460);
        history_ops(batch, "j", 9, OP_FSYNC, 0, packs ? 2 : 8);
        history_ops(batch, "j", 9, OP_CLOSE, 0, 1108);
        classified(batch, false, &list);
        assert_true((classified_bytes(&list, "preprocess") > 0.9) == packs);
        assert_true(packs || classified_bytes(&list, "checkpoint") > 0.5);
        assert_true(packs || classified_bytes(&list, "cv-training") > 0.3);
        profile_list_clear(&list);
    }
}

/* LMDB forces each of its commits to disk: it packs where as much is written as was read, once; beside what is less, it saves. */
static void commits_may_be_of_a_pack(void **state)
{
    for (unsigned packs = 0; packs < 2; packs++) {
        struct batch *batch = history_batch(0);
        struct profile_list list;

        read_files(batch, FILE_SMALL, 44 * KIB, 2500);
        history_ops(batch, "j", 9, OP_CREATE, 0, 1);
        history_ops(batch, "j", 9, OP_WRITE, MIB, packs ? 110 : 60);
        history_ops(batch, "j", 9, OP_FSYNC, 0, 3);
        history_ops(batch, "j", 9, OP_CLOSE, 0, 2502);
        classified(batch, false, &list);
        assert_true((classified_bytes(&list, "preprocess") > 0.9) == packs);
        assert_true(packs || classified_bytes(&list, "checkpoint") > 0.3);
        profile_list_clear(&list);
    }
}

/* Who packs by a large library opens it to map it: what was read is of the small files that he reads. */
static void libraries_are_no_part_of_a_pack(void **state)
{
    struct batch *batch = history_batch(0);
    struct profile_list list;

    history_ops(batch, "j", 9, OP_OPEN, 6 * KIB, 5000);
    history_ops(batch, "j", 9, OP_OPEN, 100 * MIB, 2);
    history_ops(batch, "j", 9, OP_STAT, 0, 10000);
    history_pieces(batch, 9, FILE_SMALL, 6 * KIB, 5000, 0);
    history_ops(batch, "j", 9, OP_READ, 0, 5000);
    history_ops(batch, "j", 9, OP_CREATE, 0, 1);
    history_ops(batch, "j", 9, OP_WRITE, MIB, 25);
    history_ops(batch, "j", 9, OP_CLOSE, 0, 5000);
    classified(batch, false, &list);
    assert_true(classified_bytes(&list, "preprocess") > 0.9);
    profile_list_clear(&list);
}

/* On the archive's volume nothing is seen but a stream: that it is unpacked elsewhere says that it is none. Who only writes a few
 * words into many files reads it. */
static void what_is_unpacked_is_no_stream(void **state)
{
    for (unsigned streams = 0; streams < 2; streams++) {
        struct batch *batch = history_batch(0);
        struct profile_list list;

        history_ops(batch, "j", 9, OP_OPEN, 120 * MIB, 1);
        history_ops(batch, "j", 9, OP_READ, 10 * KIB, 12000);
        history_order(batch, "j", 9, OP_READ, ORDER_CONSECUTIVE, 12000);
        history_ops(batch, "j", 9, OP_CLOSE, 0, 1);
        history_ops_on(batch, "/b", "j", 9, OP_CREATE, 0, 1800);
        history_ops_on(batch, "/b", "j", 9, OP_WRITE, streams ? 100 : 60 * KIB, 1800);
        history_ops_on(batch, "/b", "j", 9, OP_CLOSE, 0, 1800);
        classified(batch, false, &list);
        assert_true((classified_bytes(&list, "shard-streaming") > 0.9) == streams);
        assert_true(streams || classified_bytes(&list, "shard-streaming") < 0.1);
        profile_list_clear(&list);
    }
}

/* Who downloads files looks at each that it has made, and closes it. */
static void what_is_made_is_looked_at(void **state)
{
    struct batch *batch = history_batch(0);

    history_ops(batch, "j", 9, OP_CREATE, 0, 5000);
    history_ops(batch, "j", 9, OP_WRITE, 20 * KIB, 5000);
    history_ops(batch, "j", 9, OP_CLOSE, 0, 5000);
    history_ops(batch, "j", 9, OP_STAT, 0, 5000);
    history_ops(batch, "j", 9, OP_SEEK, 0, 5000);
    history_received(batch, "j", 9, 5000 * 20 * KIB);
    classified_as(batch, "stage-copy");
}

/* Images are read for some seconds, and a model is saved in the last one; who packs them writes in each. */
static void who_reads_and_then_writes_packs_nothing(void **state)
{
    for (unsigned packs = 0; packs < 2; packs++) {
        struct batch *batches[SECONDS];
        struct profile_list list;

        for (unsigned i = 0; i < SECONDS; i++) {
            struct batch *batch = batches[i] = history_batch((int)i);

            history_ops(batch, "j", 9, OP_OPEN, 448 * KIB, 200);
            history_ops(batch, "j", 9, OP_STAT, 0, 200);
            history_ops(batch, "j", 9, OP_READ, 448 * KIB, 200);
            history_ops(batch, "j", 9, OP_CLOSE, 0, 200);
            history_ops(batch, "j", 9, OP_CREATE, 0, packs ? i % 3 == 0 : i + 1 == SECONDS);
            history_ops(batch, "j", 9, OP_WRITE, 4 * MIB, packs ? 4 : i + 1 == SECONDS ? 4 * SECONDS : 0);
        }
        classified_each(batches, SECONDS, false, &list);
        assert_true((classified_ops(&list, "preprocess") > 0.9) == packs);
        assert_true((classified_ops(&list, "cv-training") > 0.9) == !packs);
        assert_true((classified_bytes(&list, "checkpoint") > 0.1) == !packs);
        profile_list_clear(&list);
    }
}

/* What clients send to a database it appends to a log, too, and has it forced to disk each second. */
static void what_clients_send_to_a_log_is_no_copy(void **state)
{
    for (unsigned syncs = 0; syncs <= 44; syncs += 44) {
        struct batch *batch = history_batch(0);

        history_ops(batch, "j", 9, OP_CREATE, 0, 9);
        history_ops(batch, "j", 9, OP_WRITE, 2900, 43000);
        history_order(batch, "j", 9, OP_WRITE, ORDER_CONSECUTIVE, 43000);
        history_ops(batch, "j", 9, OP_FSYNC, 0, syncs);
        history_received(batch, "j", 9, 43000 * UINT64_C(2900));
        classified_as(batch, syncs ? PROFILE_UNKNOWN : "stage-copy");
    }
}

/* Who trains reads its samples in each epoch, and may save without making that durable; who packs writes something of each. */
static void who_reads_its_files_in_rounds_trains(void **state)
{
    for (unsigned packs = 0; packs < 3; packs++) {
        struct batch *batch = history_batch(0);
        struct profile_list list;

        history_ops(batch, "j", 9, OP_STAT, 0, 5600);
        history_whole_files(batch, 9, 360 * KIB, 2700);
        history_ops(batch, "j", 9, OP_SEEK, 0, 5400);
        history_ops(batch, "j", 9, OP_CREATE, 0, 3);
        history_ops(batch, "j", 9, OP_WRITE, packs == 2 ? 64 * KIB : 4 * MIB, packs == 2 ? 2700 : 40);
        history_told(batch, packs == 1 ? 2700 : 900, 360 * KIB);
        classified(batch, false, &list);
        assert_int_equal(classified_bytes(&list, "preprocess") > 0.9, packs > 0);
        assert_int_equal(classified_ops(&list, "cv-training") > 0.9, !packs);
        assert_int_equal(classified_bytes(&list, "checkpoint") > 0.1, !packs);
        profile_list_clear(&list);
    }
}

/* Texts are packed in some passes, into one file that grows all the time; who trains on them saves at the end of each. */
static void who_packs_in_passes_makes_one_file(void **state)
{
    for (unsigned packs = 0; packs < 2; packs++) {
        struct batch *batches[SECONDS];
        struct profile_list list;

        for (unsigned i = 0; i < SECONDS; i++) {
            struct batch *batch = batches[i] = history_batch((int)i);
            bool saves = i % 4 == 3;

            history_whole_files(batch, 9, 6 * KIB, 3000);
            history_ops(batch, "j", 9, OP_STAT, 0, 9000);
            history_ops(batch, "j", 9, OP_CREATE, 0, packs ? !i : saves);
            history_ops(batch, "j", 9, OP_WRITE, 4 * MIB, packs ? 1 : 4 * saves);
            history_told(batch, 12000, 6 * KIB);
        }
        classified_each(batches, SECONDS, false, &list);
        assert_int_equal(classified_bytes(&list, "preprocess") > 0.9, packs);
        assert_int_equal(classified_ops(&list, "losf") > 0.9, !packs);
        profile_list_clear(&list);
    }
}

/* Python asks the lists of users and groups for each file that it takes out of an archive. */
static void who_unpacks_may_look_names_up(void **state)
{
    for (unsigned unpacks = 0; unpacks < 2; unpacks++) {
        struct batch *batch = history_batch(0);
        struct profile_list list;

        history_ops(batch, "j", 9, OP_OPEN, 250 * MIB, 1);
        history_pieces(batch, 9, FILE_LARGE, 16 * KIB, 14000, 0);
        history_ops(batch, "j", 9, OP_OPEN, 3 * KIB / 2, unpacks ? 20000 : 200);
        history_pieces(batch, 9, FILE_SMALL, 3 * KIB / 2, unpacks ? 10000 : 100, 0);
        history_ops(batch, "j", 9, OP_CREATE, 0, unpacks ? 10000 : 0);
        history_ops(batch, "j", 9, OP_WRITE, 20 * KIB, unpacks ? 10000 : 0);
        history_ops(batch, "j", 9, OP_CLOSE, 0, unpacks ? 30000 : 200);
        classified(batch, false, &list);
        assert_int_equal(classified_bytes(&list, "shard-streaming") > 0.3, !unpacks);
        profile_list_clear(&list);
    }
}

/* cp hands the kernel a whole file at a time: that it had jumped about in some small ones when it started says nothing. */
static void few_large_pieces_are_a_copy(void **state)
{
    for (unsigned copies = 0; copies < 2; copies++) {
        struct batch *batch = history_batch(0);
        struct profile_list list;

        history_ops(batch, "j", 9, OP_STAT, 0, 80);
        history_ops(batch, "j", 9, OP_OPEN, 2 * KIB, 35);
        history_ops(batch, "j", 9, OP_OPEN, 40 * MIB, 5);
        history_pieces(batch, 9, FILE_SMALL, 800, 15, 5);
        history_pieces(batch, 9, FILE_LARGE, 40 * MIB, 5, 0);
        history_ops(batch, "j", 9, OP_CLOSE, 0, 45);
        history_ops(batch, "j", 9, OP_CREATE, 0, 5);
        history_ops(batch, "j", 9, OP_WRITE, copies ? 40 * MIB : 30 * MIB, 5);
        classified(batch, false, &list);
        assert_int_equal(classified_bytes(&list, "stage-copy") > 0.9, copies);
        profile_list_clear(&list);
    }
}

/* tar, beside find: that reads folders, and looks at none of the names that it finds there; it keeps copies of each folder's
   descriptor. */
static void who_lists_beside_a_pack_is_none_of_it(void **state)
{
    struct batch *batch = history_batch(0);
    struct profile_list list;

    history_ops(batch, "j", 9, OP_OPEN, 8 * KIB, 20000);
    history_ops(batch, "j", 9, OP_STAT, 0, 40000);
    history_ops(batch, "j", 9, OP_READ, 8 * KIB, 20000);
    history_ops(batch, "j", 9, OP_CLOSE, 0, 20000);
    history_ops(batch, "j", 9, OP_CREATE, 0, 1);
    history_ops(batch, "j", 9, OP_WRITE, 10 * KIB, 16000);
    history_ops(batch, "j", 20, OP_OPEN, 0, 10000);
    history_ops(batch, "j", 20, OP_OPEN, 100 * KIB, 10); /* libraries */
    history_ops(batch, "j", 20, OP_STAT, 0, 15000);
    history_ops(batch, "j", 20, OP_READDIR, 0, 20000);
    history_ops(batch, "j", 20, OP_CLOSE, 0, 30000);
    classified(batch, false, &list);
    assert_float_equal(classified_ops(&list, "ingest-scan"), 75010 / 191011.0, 0.01);
    assert_true(classified_bytes(&list, "preprocess") > 0.99);
    profile_list_clear(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_imports_and_saves_makes_nothing_of_it),
        cmocka_unit_test(who_trains_and_saves_does_two_things),
        cmocka_unit_test(who_unpacks_copies_nothing),
        cmocka_unit_test(who_saves_again_and_again_packs_nothing),
        cmocka_unit_test(commits_may_be_of_a_pack),
        cmocka_unit_test(libraries_are_no_part_of_a_pack),
        cmocka_unit_test(what_is_unpacked_is_no_stream),
        cmocka_unit_test(who_packs_in_passes_makes_one_file),
        cmocka_unit_test(who_unpacks_may_look_names_up),
        cmocka_unit_test(what_is_made_is_looked_at),
        cmocka_unit_test(who_reads_and_then_writes_packs_nothing),
        cmocka_unit_test(what_clients_send_to_a_log_is_no_copy),
        cmocka_unit_test(who_reads_its_files_in_rounds_trains),
        cmocka_unit_test(few_large_pieces_are_a_copy),
        cmocka_unit_test(who_lists_beside_a_pack_is_none_of_it),
    };

    return cmocka_run_group_tests(tests, classified_load, classified_unload);
}
