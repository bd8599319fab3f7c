/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs of which the figures, one by one, look like those of others. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "tests/unit/classified.h"
#include "tests/unit/history.h"

#define KIB UINT64_C(1024)
#define MIB UINT64_C(1048576)

static void walk(struct batch *batch, uint64_t stats, uint64_t folders)
{
    history_ops(batch, "j", 9, OP_STAT, 0, stats);
    history_ops(batch, "j", 9, OP_OPEN, 0, folders);
    history_ops(batch, "j", 9, OP_READDIR, 0, 2 * folders);
    history_ops(batch, "j", 9, OP_CLOSE, 0, folders);
}

/* One thread lists what there is, another one reads shards. */
static void a_walk_beside_a_stream_is_both(void **state)
{
    struct batch *batch = history_batch(0);
    struct profile_list list;

    walk(batch, 60000, 1500);
    history_ops(batch, "j", 9, OP_OPEN, 100 * MIB, 5);
    history_pieces(batch, 9, FILE_LARGE, MIB, 500, 0);
    history_ops(batch, "j", 9, OP_CLOSE, 0, 5);
    classified(batch, false, &list);
    assert_true(classified_ops(&list, "ingest-scan") > 0.9);
    assert_true(classified_bytes(&list, "shard-streaming") > 0.9);
    profile_list_clear(&list);
}

/* Who lists nothing may ask for one name again and again. */
static void names_that_nobody_lists_are_less_surely_a_walk(void **state)
{
    for (unsigned lists = 0; lists < 2; lists++) {
        struct batch *batch = history_batch(0);
        struct profile_list list;

        walk(batch, 20000, lists ? 500 : 0);
        classified(batch, false, &list);
        assert_string_equal(list.shares[0].profile, "ingest-scan");
        assert_true((list.shares[0].confidence > 0.9) == lists);
        profile_list_clear(&list);
    }
}

/* Files that are written over are opened as empty ones, as folders are. */
static void who_writes_over_files_walks_nothing(void **state)
{
    for (unsigned lists = 0; lists < 2; lists++) {
        struct batch *batch = history_batch(0);
        struct profile_list list;

        history_ops(batch, "j", 9, OP_OPEN, 0, 1000);
        history_ops(batch, "j", 9, OP_STAT, 0, 1200);
        history_order(batch, "j", 9, OP_STAT, ORDER_OF_OPEN, 1000);
        history_ops(batch, "j", 9, OP_READDIR, 0, lists ? 2000 : 60);
        history_ops(batch, "j", 9, OP_CLOSE, 0, 1000);
        history_ops(batch, "j", 9, OP_WRITE, MIB, 1000);
        classified(batch, false, &list);
        assert_true((classified_ops(&list, "ingest-scan") > 0.3) == lists);
        assert_true(lists || classified_ops(&list, "ingest-scan") < 0.01);
        profile_list_clear(&list);
    }
}

/* Its pages are in the cache, so that nobody sees whether they are read or written; but it forces them to disk. */
static void a_mapping_that_is_forced_to_disk_is_written(void **state)
{
    static const uint64_t syncs[] = {0, 4, 130};

    for (unsigned i = 0; i < sizeof(syncs) / sizeof(*syncs); i++) {
        struct batch *batch = history_batch(0);
        struct profile_list list;

        history_ops(batch, "j", 9, OP_OPEN, 64 * MIB, 1);
        history_ops(batch, "j", 9, OP_STAT, 0, 200);
        history_minor_faults(batch, "j", 9, 20000);
        history_ops_on(batch, "/other", "j", 9, OP_FSYNC, 0, syncs[i]);
        classified(batch, false, &list);
        assert_true((classified_ops(&list, "mmap-read") > 0.9) == !syncs[i]);
        assert_true(!syncs[i] || classified_ops(&list, "mmap-read") < 0.1);
        profile_list_clear(&list);
    }
}

/* zarr looks for what describes each array before it reads chunks, of 128 KiB each: modules that are imported are smaller. */
static void chunks_are_no_modules(void **state)
{
    for (unsigned chunks = 0; chunks < 2; chunks++) {
        struct batch *batch = history_batch(0);

        history_ops(batch, "j", 9, OP_STAT, 0, 10000);
        history_errors(batch, "j", 9, OP_STAT, ENOENT, 900);
        history_ops(batch, "j", 9, OP_OPEN, 8 * KIB, 500);
        history_whole_files(batch, 9, chunks ? 128 * KIB : 12 * KIB, 3000);
        history_ops(batch, "j", 9, OP_SEEK, 0, 6500);
        history_ops(batch, "j", 9, OP_CLOSE, 0, 500);
        classified_as(batch, chunks ? "cv-training" : "import-storm");
    }
}

/* Java asks how much is left before it fills a buffer: a stat and a seek to each read. */
static void who_asks_how_much_is_left_streams(void **state)
{
    struct batch *batch = history_batch(0);

    history_ops(batch, "j", 9, OP_OPEN, 160 * MIB, 100);
    history_pieces(batch, 9, FILE_LARGE, 8 * KIB, 2000000, 0);
    history_ops(batch, "j", 9, OP_STAT, 0, 2000000);
    history_order(batch, "j", 9, OP_STAT, ORDER_OF_OPEN, 2000000);
    history_ops(batch, "j", 9, OP_SEEK, 0, 2000000);
    history_ops(batch, "j", 9, OP_CLOSE, 0, 100);
    classified_as(batch, "shard-streaming");
}

/* A few settings are read whole as often as the files of a data set. */
static void files_that_are_few_are_no_data_set(void **state)
{
    for (unsigned many = 0; many < 2; many++) {
        struct batch *batch = history_batch(0);
        struct profile_list list;

        history_whole_files(batch, 9, 2 * KIB, 2400);
        history_told(batch, many ? 800 : 40, 2 * KIB);
        classified(batch, false, &list);
        assert_true((classified_ops(&list, "losf") > 0.9) == many);
        assert_true(many || classified_ops(&list, "unknown") > 0.9);
        profile_list_clear(&list);
    }
}

/* Ruby resolves each part of a module's name, and looks for it in few folders. */
static void few_names_that_are_missing_may_be_imports(void **state)
{
    struct batch *batch = history_batch(0);

    history_ops(batch, "j", 9, OP_STAT, 0, 6200);
    history_errors(batch, "j", 9, OP_STAT, ENOENT, 550);
    history_ops(batch, "j", 9, OP_OPEN, KIB, 1570);
    history_pieces(batch, 9, FILE_SMALL, KIB, 840, 0);
    history_ops(batch, "j", 9, OP_READ, 0, 800);
    history_ops(batch, "j", 9, OP_CLOSE, 0, 1570);
    classified_as(batch, "import-storm");
}

/* A process loads a model, and then reads images: most of its files are images, and most of its bytes are none. */
static void a_model_is_no_image(void **state)
{
    for (unsigned loads = 0; loads < 2; loads++) {
        struct batch *batch = history_batch(0);
        struct profile_list list;

        history_ops(batch, "j", 9, OP_OPEN, 160 * MIB, 8 * loads);
        history_pieces(batch, 9, FILE_LARGE, 8 * MIB, 150 * loads, 0);
        history_ops(batch, "j", 9, OP_STAT, 0, 500);
        history_errors(batch, "j", 9, OP_STAT, ENOENT, 60);
        history_ops(batch, "j", 9, OP_READDIR, 0, 48);
        history_ops(batch, "j", 9, OP_OPEN, 14 * KIB, 90);
        history_pieces(batch, 9, FILE_SMALL, 14 * KIB, 90, 0);
        history_ops(batch, "j", 9, OP_CLOSE, 0, 90);
        history_whole_files(batch, 9, 256 * KIB, 290);
        history_told(batch, 5, 160 * MIB);
        classified(batch, false, &list);
        assert_true((classified_bytes(&list, "shard-streaming") > 0.9) == loads);
        assert_true((classified_bytes(&list, "cv-training") > 0.9) == !loads);
        profile_list_clear(&list);
    }
}

/* Weights that are mapped are many pages to each of the few modules that are imported to do that. */
static void weights_are_no_modules(void **state)
{
    for (unsigned maps = 0; maps < 2; maps++) {
        struct batch *batch = history_batch(0);
        struct profile_list list;

        history_ops(batch, "j", 9, OP_STAT, 0, 1200);
        history_errors(batch, "j", 9, OP_STAT, ENOENT, 100);
        history_ops(batch, "j", 9, OP_OPEN, 14 * KIB, 250);
        history_pieces(batch, 9, FILE_SMALL, 14 * KIB, 200, 0);
        history_ops(batch, "j", 9, OP_READ, 0, 150);
        history_ops(batch, "j", 9, OP_SEEK, 0, 320);
        history_ops(batch, "j", 9, OP_CLOSE, 0, 250);
        history_ops(batch, "j", 9, OP_OPEN, 160 * MIB, 5 * maps);
        history_ops(batch, "j", 9, OP_MMAP_FAULT, 2 * MIB, 33);
        history_record(batch, "j", 9, OP_MMAP_FAULT)->faults[FAULT_WRITE] = 21;
        history_record(batch, "j", 9, OP_MMAP_FAULT)->faults[FAULT_READ] = 12;
        history_minor_faults(batch, "j", 9, maps ? 10000 : 1000);
        classified(batch, false, &list);
        assert_true((classified_bytes(&list, "import-storm") > 0.9) == !maps);
        assert_true(classified_ops(&list, "import-storm") > 0.9);
        profile_list_clear(&list);
    }
}

/* Row groups by some threads: whoever reads all of large files, and mostly ahead, streams them; who takes little of them, or
   goes back as often as ahead, picks samples. */
static void who_reads_all_of_it_streams(void **state)
{
    for (unsigned picks = 0; picks < 2; picks++) {
        struct batch *batch = history_batch(0);
        struct profile_list list;

        history_ops(batch, "j", 9, OP_OPEN, 36 * MIB, 13);
        history_ops(batch, "j", 9, OP_OPEN, 20 * KIB, 60);
        history_ops(batch, "j", 9, OP_STAT, 0, 200);
        history_pieces(batch, 9, FILE_LARGE, MIB, 450, 300);
        history_pieces(batch, 9, FILE_LARGE, 8 * KIB, 300, 150);
        history_order(batch, "j", 9, OP_READ, ORDER_RANDOM, picks ? 400 : 100);
        history_ops(batch, "j", 9, OP_CLOSE, 0, 73);
        classified(batch, false, &list);
        assert_true((classified_bytes(&list, "shard-streaming") > 0.9) == !picks);
        profile_list_clear(&list);
    }
}

/* A file that is made, mapped and filled: each fault was to write, so nothing was read. */
static void who_fills_a_mapping_reads_nothing(void **state)
{
    for (unsigned fills = 0; fills < 2; fills++) {
        struct batch *batch = history_batch(0);
        struct profile_list list;

        history_ops(batch, "j", 9, OP_STAT, 0, 200);
        history_ops(batch, "j", 9, OP_OPEN, 14 * KIB, 50);
        history_ops(batch, "j", 9, OP_READ, 5 * KIB, 70);
        history_ops(batch, "j", 9, OP_CLOSE, 0, 50);
        history_ops(batch, "j", 9, OP_MMAP_FAULT, 6 * MIB, 22);
        history_record(batch, "j", 9, OP_MMAP_FAULT)->faults[fills ? FAULT_WRITE : FAULT_READ] = 22;
        history_minor_faults(batch, "j", 9, 14906);
        classified(batch, false, &list);
        assert_true((classified_bytes(&list, "mmap-read") > 0.9) == !fills);
        profile_list_clear(&list);
    }
}

/* Who picks records of large files behind a start does two things, or what is not known: it is no start alone. */
static void picks_are_no_part_of_a_start(void **state)
{
    for (unsigned picks = 0; picks < 2; picks++) {
        struct batch *batch = history_batch(0);
        struct profile_list list;

        history_ops(batch, "j", 9, OP_STAT, 0, 1200);
        history_errors(batch, "j", 9, OP_STAT, ENOENT, 100);
        history_ops(batch, "j", 9, OP_OPEN, 30 * KIB, 250);
        history_pieces(batch, 9, FILE_SMALL, 12 * KIB, 230, 0);
        history_ops(batch, "j", 9, OP_READ, 0, 150);
        history_ops(batch, "j", 9, OP_SEEK, 0, 320);
        history_ops(batch, "j", 9, OP_CLOSE, 0, 250);
        history_ops(batch, "j", 9, OP_OPEN, 40 * MIB, 20);
        history_pieces(batch, 9, FILE_LARGE, 6 * KIB, picks ? 3000 : 10, picks ? 2800 : 5);
        classified(batch, false, &list);
        assert_true((classified_ops(&list, "import-storm") > 0.9) == !picks);
        profile_list_clear(&list);
    }
}

/* A loader imports a thousand modules, and picks a few hundred records; a start that reads a model is none of that. */
static void few_records_are_told_from_a_start(void **state)
{
    for (unsigned records = 0; records < 2; records++) {
        struct batch *batch = history_batch(0);
        struct profile_list list;

        history_torch(batch, 9);
        history_pieces(batch, 9, FILE_SMALL, 12 * KIB, 400, 0);
        history_ops(batch, "j", 9, OP_OPEN, 40 * MIB, 30);
        history_pieces(batch, 9, FILE_LARGE, records ? 160 * KIB : 4 * MIB, records ? 260 : 10, records ? 200 : 4);
        history_ops(batch, "j", 9, OP_CLOSE, 0, 30);
        classified(batch, false, &list);
        assert_true((classified_bytes(&list, "sample-read") > 0.8) == records);
        assert_true(records || classified_bytes(&list, "sample-read") < 0.1);
        assert_true(classified_ops(&list, "import-storm") > 0.8);
        profile_list_clear(&list);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_walk_beside_a_stream_is_both),
        cmocka_unit_test(names_that_nobody_lists_are_less_surely_a_walk),
        cmocka_unit_test(who_writes_over_files_walks_nothing),
        cmocka_unit_test(a_mapping_that_is_forced_to_disk_is_written),
        cmocka_unit_test(chunks_are_no_modules),
        cmocka_unit_test(who_asks_how_much_is_left_streams),
        cmocka_unit_test(files_that_are_few_are_no_data_set),
        cmocka_unit_test(few_names_that_are_missing_may_be_imports),
        cmocka_unit_test(a_model_is_no_image),
        cmocka_unit_test(weights_are_no_modules),
        cmocka_unit_test(who_fills_a_mapping_reads_nothing),
        cmocka_unit_test(who_reads_all_of_it_streams),
        cmocka_unit_test(picks_are_no_part_of_a_start),
        cmocka_unit_test(few_records_are_told_from_a_start),
    };

    return cmocka_run_group_tests(tests, classified_load, classified_unload);
}
