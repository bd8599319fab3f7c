/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a program could be taken for. */
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

/* node, or rclone, asks of 50,000 names; the pages of the program itself come from the disk. */
static void a_cold_program_that_walks_maps_nothing(void **state)
{
    struct batch *batch = history_batch(0);
    struct profile_list list;

    history_ops(batch, "j", 9, OP_STAT, 0, 57000);
    history_ops(batch, "j", 9, OP_READDIR, 0, 6000);
    history_ops(batch, "j", 9, OP_OPEN, 0, 3000);
    history_ops(batch, "j", 9, OP_OPEN, 12 * MIB, 8);
    history_ops(batch, "j", 9, OP_CLOSE, 0, 3008);
    history_ops(batch, "j", 9, OP_MMAP_FAULT, 400 * KIB, 140);
    classified(batch, false, &list);
    assert_true(classified_ops(&list, "ingest-scan") > 0.9);
    profile_list_clear(&list);
}

/* apt looks into its one large list, half of it each time. */
static void one_large_file_again_and_again_is_no_sample(void **state)
{
    for (unsigned files = 1; files <= 400; files += 399) {
        struct batch *batch = history_batch(0);

        history_ops(batch, "j", 9, OP_OPEN, 12 * MIB, 400);
        history_ops(batch, "j", 9, OP_STAT, 0, 400);
        history_ops(batch, "j", 9, OP_READ, 64 * KIB, 400 * 96);
        history_ops(batch, "j", 9, OP_CLOSE, 0, 400);
        history_told(batch, files, 12 * MIB);
        classified_as(batch, files > 1 ? "cv-training" : "shard-streaming");
    }
}

/* Who trains reads its samples again; who reads each file once may as well look for viruses. */
static void files_that_are_read_once_are_less_surely_samples(void **state)
{
    static const struct {
        uint64_t size;
        const char *profile;
    } files[] = {{48 * KIB, "losf"}, {300 * KIB, "cv-training"}};

    for (unsigned i = 0; i < 4; i++) {
        const char *profile = files[i / 2].profile;
        struct batch *batch = history_batch(0);
        uint64_t epochs = i % 2 ? 3 : 1;
        struct profile_list list;

        history_ops(batch, "j", 9, OP_STAT, 0, 1000 * epochs);
        history_whole_files(batch, 9, files[i / 2].size, 1000 * epochs);
        history_told(batch, 1000, files[i / 2].size);
        classified(batch, false, &list);
        assert_string_equal(list.shares[0].profile, profile);
        assert_true(epochs > 1 ? list.shares[0].confidence > 0.8 : list.shares[0].confidence < 0.65);
        assert_int_equal(classified_says(&list.shares[0], "opened once"), epochs == 1);
        profile_list_clear(&list);
    }
}

/* A database's log: pages one after the other, and a header to each, forced to disk again and again. */
static void a_log_is_no_checkpoint(void **state)
{
    for (unsigned saves = 0; saves < 2; saves++) {
        struct batch *batch = history_batch(0);
        struct profile_list list;

        history_ops(batch, "j", 9, OP_CREATE, 0, 4);
        history_ops(batch, "j", 9, OP_WRITE, 4096, 68000);
        history_ops(batch, "j", 9, OP_WRITE, 24, saves ? 400 : 46000);
        history_order(batch, "j", 9, OP_WRITE, ORDER_CONSECUTIVE, saves ? 68400 : 104000);
        history_order(batch, "j", 9, OP_WRITE, ORDER_RANDOM, saves ? 0 : 10000);
        history_ops(batch, "j", 9, OP_FSYNC, 0, saves ? 4 : 131);
        classified(batch, false, &list);
        assert_true((classified_bytes(&list, "checkpoint") > 0.9) == saves);
        assert_true((classified_bytes(&list, PROFILE_UNKNOWN) > 0.9) == !saves);
        profile_list_clear(&list);
    }
}

/* A process opens so many files of a size, to read them. */
static struct batch *opened(uint64_t size, uint64_t files)
{
    struct batch *batch = history_batch(0);

    history_ops(batch, "j", 9, OP_OPEN, size, files);
    history_ops(batch, "j", 9, OP_STAT, 0, files);
    history_ops(batch, "j", 9, OP_CLOSE, 0, files);
    history_told(batch, (unsigned)files, size);
    return batch;
}

/* Labels of 320 bytes. */
static void tiny_files_are_small_files(void **state)
{
    struct batch *batch = opened(320, 3000);

    history_ops(batch, "j", 9, OP_READ, 320, 3000);
    history_ops(batch, "j", 9, OP_READ, 0, 3000);
    classified_as(batch, "losf");
}

/* OpenCV opens an image of 192 KiB twice: for its first bytes, and to read it. */
static void samples_that_are_opened_twice_are_large(void **state)
{
    struct batch *batch = opened(192 * KIB, 2000);

    history_ops(batch, "j", 9, OP_READ, 4 * KIB, 49 * 1000);
    history_order(batch, "j", 9, OP_READ, ORDER_CONSECUTIVE, 49 * 1000);
    classified_as(batch, "cv-training");
}

/* np.fromfile() moves back and forth in each file, HDF5 reads what describes the data first: all of it is read. */
static void samples_that_are_read_in_leaps_are_samples(void **state)
{
    for (unsigned large = 0; large < 2; large++) {
        uint64_t size = large ? 2 * MIB : 192 * KIB;
        struct batch *batch = opened(size, 1200);

        history_ops(batch, "j", 9, OP_SEEK, 0, 10000);
        history_ops(batch, "j", 9, OP_READ, size, 1200);
        history_ops(batch, "j", 9, OP_READ, 128, 2400);
        history_order(batch, "j", 9, OP_READ, ORDER_CONSECUTIVE, 1200);
        history_order(batch, "j", 9, OP_READ, ORDER_RANDOM, 1200);
        history_order(batch, "j", 9, OP_READ, ORDER_SEQUENTIAL, 1200);
        classified_as(batch, "cv-training");
    }
}

/* The libraries come from the disk, by page faults; half of these write, as they are fitted to where they lie. */
static void libraries_that_are_mapped_are_a_start(void **state)
{
    for (unsigned writes = 0; writes < 2; writes++) {
        struct batch *batch = history_batch(0);
        struct record *faults;
        struct profile_list list;

        history_ops(batch, "j", 9, OP_STAT, 0, 1400);
        history_errors(batch, "j", 9, OP_STAT, ENOENT, 180);
        history_errors(batch, "j", 9, OP_OPEN, ENOENT, 60);
        history_ops(batch, "j", 9, OP_OPEN, 10 * KIB, 400);
        history_ops(batch, "j", 9, OP_OPEN, 2 * MIB, 150);
        history_ops(batch, "j", 9, OP_READ, 10 * KIB, 540);
        history_ops(batch, "j", 9, OP_SEEK, 0, 300);
        history_ops(batch, "j", 9, OP_CLOSE, 0, 550);
        history_ops(batch, "j", 9, OP_MMAP_FAULT, 900 * KIB, 350);
        faults = &batch->records[batch->record_count - 1];
        faults->faults[FAULT_WRITE] = writes ? 300 : 0;
        classified(batch, false, &list);
        assert_true((classified_ops(&list, "import-storm") > 0.9) == writes);
        profile_list_clear(&list);
    }
}

/* Lines of 100 bytes, one by one, of a file of 256 MiB. */
static void small_reads_in_order_are_a_stream(void **state)
{
    struct batch *batch = history_batch(0);

    history_ops(batch, "j", 9, OP_OPEN, 256 * MIB, 1);
    history_ops(batch, "j", 9, OP_READ, 100, 800000);
    history_order(batch, "j", 9, OP_READ, ORDER_CONSECUTIVE, 800000);
    history_ops(batch, "j", 9, OP_CLOSE, 0, 1);
    classified_as(batch, "shard-streaming");
}

/* A loop that reads images of 48 KiB saves two models, each forced to disk and moved into place; packs are not. */
static void who_forces_files_to_disk_saves(void **state)
{
    for (unsigned packs = 0; packs < 2; packs++) {
        struct batch *batch = opened(48 * KIB, 4000);
        struct profile_list list;

        history_ops(batch, "j", 9, OP_READ, 48 * KIB, 4000);
        history_ops(batch, "j", 9, OP_CREATE, 0, 2);
        history_ops(batch, "j", 9, OP_WRITE, 4 * MIB, 20);
        history_ops(batch, "j", 9, OP_FSYNC, 0, packs ? 0 : 2);
        history_ops(batch, "j", 9, OP_RENAME, 0, 2);
        classified(batch, false, &list);
        assert_true((classified_ops(&list, "preprocess") > 0.9) == packs);
        assert_true((classified_bytes(&list, "checkpoint") > 0.25) == !packs);
        profile_list_clear(&list);
    }
}

/* A FUSE daemon writes 40 MB for others, a page at a time, which is saved only where it is forced to disk. */
static void pages_of_one_file_are_saved_when_they_are_forced(void **state)
{
    for (unsigned forced = 0; forced < 2; forced++) {
        const struct counted counted[] = {
            {OP_CREATE, 0, 1}, {OP_WRITE, 4 * KIB, 10000}, {OP_CLOSE, 0, 1}, {OP_FSYNC, 0, forced}, {OP_RENAME, 0, forced},
            {OP_NONE, 0, 0},
        };
        struct profile_list list;

        classified(classified_sum(counted, 0, 0, 0), false, &list);
        assert_true((classified_bytes(&list, "checkpoint") > 0.9) == forced);
        profile_list_clear(&list);
    }
}

/* The same beside samples that it reads for others; each file is forced to disk, and moved into place. */
static void who_serves_readers_may_save(void **state)
{
    for (unsigned forced = 0; forced < 2; forced++) {
        struct batch *batch = history_batch(0);
        struct profile_list list;

        history_ops(batch, "j", 9, OP_OPEN, 300 * KIB, 1400);
        history_ops(batch, "j", 9, OP_STAT, 0, 2800);
        history_ops(batch, "j", 9, OP_READ, 100 * KIB, 4200);
        history_order(batch, "j", 9, OP_READ, ORDER_CONSECUTIVE, 4200);
        history_ops(batch, "j", 9, OP_CREATE, 0, 16);
        history_ops(batch, "j", 9, OP_WRITE, 3 * KIB, 80000);
        history_order(batch, "j", 9, OP_WRITE, ORDER_CONSECUTIVE, 80000);
        history_ops(batch, "j", 9, OP_CLOSE, 0, 1416);
        history_ops(batch, "j", 9, OP_FSYNC, 0, forced ? 16 : 0);
        history_ops(batch, "j", 9, OP_RENAME, 0, forced ? 16 : 0);
        classified(batch, false, &list);
        assert_true((classified_bytes(&list, "checkpoint") > 0.3) == forced);
        profile_list_clear(&list);
    }
}

/* HDF5 writes many arrays into each file, and its tables in between; a database writes its pages so, and renames nothing. */
static void saves_may_jump_about(void **state)
{
    for (unsigned saves = 0; saves < 2; saves++) {
        struct batch *batch = history_batch(0);
        struct profile_list list;

        history_ops(batch, "j", 9, OP_CREATE, 0, 4);
        history_ops(batch, "j", 9, OP_WRITE, 32 * KIB, 2000);
        history_ops(batch, "j", 9, OP_WRITE, 800, 1400);
        history_order(batch, "j", 9, OP_WRITE, ORDER_CONSECUTIVE, 650);
        history_order(batch, "j", 9, OP_WRITE, ORDER_RANDOM, 2750);
        history_ops(batch, "j", 9, OP_CLOSE, 0, 4);
        history_ops(batch, "j", 9, OP_FSYNC, 0, 4);
        history_ops(batch, "j", 9, OP_RENAME, 0, saves ? 4 : 0);
        classified(batch, false, &list);
        assert_true((classified_bytes(&list, "checkpoint") > 0.9) == saves);
        profile_list_clear(&list);
    }
}

/* A database reads pages of its file here and there, and writes others back; a reader of records writes nothing there. */
static void who_updates_reads_no_samples(void **state)
{
    for (unsigned updates = 0; updates < 2; updates++) {
        struct batch *batch = history_batch(0);
        struct profile_list list;

        history_ops(batch, "j", 9, OP_OPEN, 64 * MIB, 1);
        history_ops(batch, "j", 9, OP_READ, 8 * KIB, 4000);
        history_order(batch, "j", 9, OP_READ, ORDER_RANDOM, 4000);
        history_ops(batch, "j", 9, OP_WRITE, 12 * KIB, 2000);
        history_order(batch, "j", 9, OP_WRITE, updates ? ORDER_RANDOM : ORDER_CONSECUTIVE, 2000);
        history_ops(batch, "j", 9, OP_CLOSE, 0, 1);
        classified(batch, false, &list);
        assert_true((classified_bytes(&list, "sample-read") > 0.4) == !updates);
        profile_list_clear(&list);
    }
}

/* Labels and captions are files of some hundred bytes, whose readers cannot be told apart on a storage node. */
static void tiny_files_are_many_small_files_in_sums_too(void **state)
{
    const struct counted counted[] = {
        {OP_OPEN, 1400, 15000}, {OP_STAT, 0, 15000}, {OP_READ, 1400, 15000},
        {OP_READ, 0, 15000},    {OP_CLOSE, 0, 15000}, {OP_NONE, 0, 0},
    };

    classified_as(classified_sum(counted, 0, 15000, 0), "losf");
}

/* Who opens a large file for each record of it picks records; who maps it after a look at its header does not. */
static void records_may_be_opened_one_by_one(void **state)
{
    for (unsigned maps = 0; maps < 2; maps++) {
        struct batch *batch = history_batch(0);
        struct profile_list list;

        history_ops(batch, "j", 9, OP_OPEN, 256 * MIB, 9000);
        history_ops(batch, "j", 9, OP_READ, 4 * KIB, 9000);
        history_order(batch, "j", 9, OP_READ, ORDER_RANDOM, 9000);
        history_ops(batch, "j", 9, OP_CLOSE, 0, 9000);
        if (maps)
            history_minor_faults(batch, "j", 9, 90000);
        classified(batch, false, &list);
        assert_true((classified_ops(&list, "sample-read") > 0.95) == !maps);
        profile_list_clear(&list);
    }
}

/* A loader maps libraries, after their headers of 832 bytes; who maps pictures reads nothing of them. */
static void libraries_are_no_pictures(void **state)
{
    for (unsigned pictures = 0; pictures < 2; pictures++) {
        struct batch *batch = history_batch(0);
        struct profile_list list;

        history_ops(batch, "j", 9, OP_OPEN, 200 * KIB, 60);
        history_ops(batch, "j", 9, OP_STAT, 0, 65);
        history_ops(batch, "j", 9, OP_READ, 832, pictures ? 3 : 60);
        history_order(batch, "j", 9, OP_READ, ORDER_CONSECUTIVE, pictures ? 3 : 60);
        history_ops(batch, "j", 9, OP_CLOSE, 0, 60);
        history_minor_faults(batch, "j", 9, 560);
        classified(batch, false, &list);
        assert_true((classified_ops(&list, "cv-training") > 0.9) == pictures);
        profile_list_clear(&list);
    }
}

/* A trainer that has its labels mapped reads pictures, and the pages of one large file by few faults; who maps its pictures
   has some of each. */
static void pictures_beside_a_mapped_file_are_two_things(void **state)
{
    for (unsigned mapped = 0; mapped < 2; mapped++) {
        struct batch *batch = history_batch(0);
        struct profile_list list;

        history_ops(batch, "j", 9, OP_STAT, 0, 2700);
        history_ops(batch, "j", 9, OP_OPEN, 300 * KIB, 2700);
        history_ops(batch, "j", 9, OP_CLOSE, 0, 2700);
        if (!mapped) {
            history_ops(batch, "j", 9, OP_READ, 300 * KIB, 2700);
            history_ops(batch, "j", 9, OP_READ, 0, 2700);
            history_ops(batch, "j", 9, OP_OPEN, 480 * MIB, 1);
        }
        history_ops(batch, "j", 9, OP_MMAP_FAULT, mapped ? 100 * KIB : 4 * MIB, mapped ? 8100 : 100);
        classified(batch, false, &list);
        assert_true(classified_ops(&list, "cv-training") > 0.9);
        assert_int_equal(classified_bytes(&list, "mmap-read") > 0.25, !mapped);
        profile_list_clear(&list);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cold_program_that_walks_maps_nothing),
        cmocka_unit_test(one_large_file_again_and_again_is_no_sample),
        cmocka_unit_test(files_that_are_read_once_are_less_surely_samples),
        cmocka_unit_test(a_log_is_no_checkpoint),
        cmocka_unit_test(tiny_files_are_small_files),
        cmocka_unit_test(samples_that_are_opened_twice_are_large),
        cmocka_unit_test(samples_that_are_read_in_leaps_are_samples),
        cmocka_unit_test(libraries_that_are_mapped_are_a_start),
        cmocka_unit_test(small_reads_in_order_are_a_stream),
        cmocka_unit_test(who_forces_files_to_disk_saves),
        cmocka_unit_test(pages_of_one_file_are_saved_when_they_are_forced),
        cmocka_unit_test(who_serves_readers_may_save),
        cmocka_unit_test(saves_may_jump_about),
        cmocka_unit_test(records_may_be_opened_one_by_one),
        cmocka_unit_test(libraries_are_no_pictures),
        cmocka_unit_test(pictures_beside_a_mapped_file_are_two_things),
        cmocka_unit_test(who_updates_reads_no_samples),
        cmocka_unit_test(tiny_files_are_many_small_files_in_sums_too),
    };

    return cmocka_run_group_tests(tests, classified_load, classified_unload);
}
