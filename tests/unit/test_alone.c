/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What one process is, by itself. */
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
#define MIB UINT64_C(1048576)

static void check_unknown(struct batch *batch)
{
    struct profile_list list;
    const struct profile_share *unknown;

    classified(batch, false, &list);
    unknown = classified_find(&list, PROFILE_UNKNOWN);
    assert_non_null(unknown);
    assert_true(unknown->share_ops > 0.95);
    classified_adds_up(&list);
    profile_list_clear(&list);
}

/* gcc -c of a file with a few includes: searching directories fails a lot. */
static void compiling_is_unknown(void **state)
{
    for (uint32_t pid = 0; pid < 2; pid++) {
        struct batch *batch = history_batch(0);

        for (unsigned runs = 0; runs < 20; runs++) {
            uint32_t process = pid ? pid + runs : 0;

            history_errors(batch, "j", process, OP_STAT, 0, 1149);
            history_ops(batch, "j", process, OP_STAT, 0, 156);
            history_errors(batch, "j", process, OP_OPEN, 0, 152);
            history_ops(batch, "j", process, OP_OPEN, 0, 117);
            history_ops(batch, "j", process, OP_CLOSE, 0, 120);
            history_ops(batch, "j", process, OP_READ, 832, 55);
            history_ops(batch, "j", process, OP_READ, 12000, 57);
            history_ops(batch, "j", process, OP_WRITE, 700, 9);
        }
        check_unknown(batch);
    }
}

static void check_imports(struct batch *batch)
{
    struct profile_list list;

    classified(batch, false, &list);
    assert_true(classified_ops(&list, "import-storm") > 0.95);
    classified_adds_up(&list);
    profile_list_clear(&list);
}

/* ruby looks for files by opening them, half of the time in vain, and asks of each folder in a path whether it is a link. */
static void who_looks_by_opening_imports(void **state)
{
    struct batch *batch = history_batch(0);

    history_ops(batch, "j", 1, OP_STAT, 0, 1236);
    history_errors(batch, "j", 1, OP_STAT, EINVAL, 2802);
    history_errors(batch, "j", 1, OP_STAT, ENOENT, 109);
    history_ops(batch, "j", 1, OP_OPEN, 2560, 591);
    history_ops(batch, "j", 1, OP_OPEN, 0, 111);
    history_errors(batch, "j", 1, OP_OPEN, ENOENT, 723);
    history_ops(batch, "j", 1, OP_READ, 3869, 531);
    history_ops(batch, "j", 1, OP_READ, 0, 289);
    history_ops(batch, "j", 1, OP_CLOSE, 0, 702);
    history_ops(batch, "j", 1, OP_SEEK, 0, 71);
    history_ops(batch, "j", 1, OP_READDIR, 0, 219);
    check_imports(batch);
}

/* npm keeps a log of what it was asked. */
static void who_imports_may_keep_a_log(void **state)
{
    struct batch *batch = history_batch(0);

    history_ops(batch, "j", 1, OP_STAT, 0, 2866);
    history_errors(batch, "j", 1, OP_STAT, ENOENT, 1702);
    history_ops(batch, "j", 1, OP_OPEN, 1536, 832);
    history_errors(batch, "j", 1, OP_OPEN, ENOENT, 286);
    history_ops(batch, "j", 1, OP_READ, 3358, 1077);
    history_ops(batch, "j", 1, OP_READ, 0, 537);
    history_ops(batch, "j", 1, OP_CLOSE, 0, 852);
    history_ops(batch, "j", 1, OP_READDIR, 0, 36);
    history_ops(batch, "j", 1, OP_CREATE, 0, 1);
    history_ops(batch, "j", 1, OP_WRITE, 37, 19);
    check_imports(batch);
}

/* cc1 looks for each header in one folder after the other, and so mostly in vain. */
static void who_looks_for_headers_does_not_import(void **state)
{
    struct batch *batch = history_batch(0);

    history_ops(batch, "j", 1, OP_STAT, 0, 1000);
    history_errors(batch, "j", 1, OP_STAT, ENOENT, 120);
    history_ops(batch, "j", 1, OP_OPEN, 4096, 109);
    history_errors(batch, "j", 1, OP_OPEN, ENOENT, 156);
    history_ops(batch, "j", 1, OP_READ, 4096, 130);
    history_ops(batch, "j", 1, OP_CLOSE, 0, 109);
    history_ops(batch, "j", 1, OP_WRITE, 652, 1);
    check_unknown(batch);
}

/* ld of a small program: tables and symbols of each object and library are sought one by one. */
static void linking_is_unknown(void **state)
{
    struct batch *batch = history_batch(0);

    for (uint32_t process = 1; process <= 20; process++) {
        history_ops(batch, "j", process, OP_STAT, 0, 120);
        history_errors(batch, "j", process, OP_STAT, 0, 48);
        history_ops(batch, "j", process, OP_OPEN, 0, 58);
        history_errors(batch, "j", process, OP_OPEN, 0, 15);
        history_ops(batch, "j", process, OP_CLOSE, 0, 58);
        history_ops(batch, "j", process, OP_SEEK, 0, 560);
        history_ops(batch, "j", process, OP_READ, 64, 60);
        history_ops(batch, "j", process, OP_READ, 832, 30);
        history_ops(batch, "j", process, OP_READ, 4096, 110);
        history_ops(batch, "j", process, OP_READ, 0, 15);
    }
    check_unknown(batch);
}

/* git status: half of the opens are .gitignore files that are not there. */
static void version_control_is_unknown(void **state)
{
    struct batch *batch = history_batch(0);

    history_ops(batch, "j", 9, OP_STAT, 0, 2500);
    history_errors(batch, "j", 9, OP_STAT, 0, 600);
    history_ops(batch, "j", 9, OP_OPEN, 0, 400);
    history_errors(batch, "j", 9, OP_OPEN, 0, 380);
    history_ops(batch, "j", 9, OP_CLOSE, 0, 400);
    history_ops(batch, "j", 9, OP_READDIR, 0, 700);
    history_ops(batch, "j", 9, OP_READ, 400, 60);
    history_ops(batch, "j", 9, OP_READ, 0, 60);
    check_unknown(batch);
}

/* Pages of 8 KiB, a log that is forced to disk often. */
static void databases_are_unknown(void **state)
{
    struct batch *batch = history_batch(0);

    history_ops(batch, "j", 9, OP_READ, 8192, 20000);
    history_ops(batch, "j", 9, OP_WRITE, 8192, 9000);
    history_ops(batch, "j", 9, OP_FSYNC, 0, 3000);
    history_ops(batch, "j", 9, OP_SEEK, 0, 500);
    history_ops(batch, "j", 9, OP_OPEN, 0, 40);
    history_ops(batch, "j", 9, OP_CLOSE, 0, 40);
    check_unknown(batch);
}

/* From a large file's start to its end through a buffer of 8 KiB; pages of a database jump, or are written to files that are
   there and large already. */
static void a_checkpoint_may_have_a_small_buffer(void **state)
{
    static const struct {
        uint64_t jumps, opened;
        bool is;
    } writers[] = {{0, 0, true}, {2000, 0, false}, {0, 256 << 20, false}};

    for (unsigned i = 0; i < sizeof(writers) / sizeof(*writers); i++) {
        struct batch *batch = history_batch(0);
        struct profile_list list;

        history_ops(batch, "j", 9, OP_CREATE, 0, 1);
        if (writers[i].opened)
            history_ops(batch, "j", 9, OP_OPEN, writers[i].opened, 3);
        history_ops(batch, "j", 9, OP_WRITE, 8192, 4096);
        history_order(batch, "j", 9, OP_WRITE, ORDER_CONSECUTIVE, 4096 - writers[i].jumps);
        history_order(batch, "j", 9, OP_WRITE, ORDER_RANDOM, writers[i].jumps);
        history_ops(batch, "j", 9, OP_CLOSE, 0, 1);
        classified(batch, false, &list);
        assert_string_equal(list.shares[0].profile, writers[i].is ? "checkpoint" : PROFILE_UNKNOWN);
        profile_list_clear(&list);
    }
}

/* Python copies shards: of its modules, of which it opens far more, little is read beside these. */
static void imports_beside_a_copy_leave_it_one(void **state)
{
    struct batch *batch = history_batch(0);
    struct profile_list list;

    history_ops(batch, "j", 9, OP_STAT, 0, 1500);
    history_errors(batch, "j", 9, OP_STAT, ENOENT, 400);
    history_ops(batch, "j", 9, OP_OPEN, 8 * KIB, 400);
    history_errors(batch, "j", 9, OP_OPEN, ENOENT, 400);
    history_ops(batch, "j", 9, OP_READ, 8 * KIB, 200);
    history_ops(batch, "j", 9, OP_READ, 0, 200);
    history_ops(batch, "j", 9, OP_CLOSE, 0, 408);
    history_ops(batch, "j", 9, OP_OPEN, 256 * MIB, 4);
    history_ops(batch, "j", 9, OP_CREATE, 0, 4);
    history_ops(batch, "j", 9, OP_READ, MIB, 480);
    history_ops(batch, "j", 9, OP_WRITE, MIB, 480);
    classified(batch, false, &list);
    assert_non_null(classified_find(&list, "stage-copy"));
    assert_true(classified_find(&list, "stage-copy")->share_bytes > 0.98);
    classified_adds_up(&list);
    profile_list_clear(&list);
}

/* Files are read and written by processes of these numbers; the profile's evidence is asked for that. */
static bool copiers_say(uint32_t reader, uint32_t writer, const char *words)
{
    struct batch *batch = history_batch(0);
    struct profile_list list;
    bool found;

    history_ops(batch, "j", reader, OP_OPEN, 256 * MIB, 4);
    history_ops(batch, "j", reader, OP_READ, MIB, 480);
    history_order(batch, "j", reader, OP_READ, ORDER_CONSECUTIVE, 480);
    history_ops(batch, "j", writer, OP_CREATE, 0, 4);
    history_ops(batch, "j", writer, OP_WRITE, MIB, 480);
    history_order(batch, "j", writer, OP_WRITE, ORDER_CONSECUTIVE, 480);
    history_ops(batch, "j", reader, OP_CLOSE, 0, 8);
    classified(batch, false, &list);
    assert_string_equal(list.shares[0].profile, "stage-copy");
    found = classified_says(&list.shares[0], words);
    profile_list_clear(&list);
    return found;
}

static void processes_that_are_one_only_together_are_not_counted(void **state)
{
    assert_true(copiers_say(9, 9, "seen in 1 process by itself"));
    assert_true(copiers_say(9, 9, "concluded from its amount"));
    assert_true(copiers_say(8, 9, "several processes do together"));
    assert_false(copiers_say(8, 9, "each by itself"));
}

static void a_process_is_one_on_all_its_volumes(void **state)
{
    const struct volume volume = {.name = "w", .source = "/dev/w", .fstype = "ext4", .scope = SCOPE_LOCAL};
    struct batch *batch = history_batch(0);
    struct profile_list list;
    uint32_t other;

    history_checkpoint(batch, 8);
    assert_int_equal(batch_volume(batch, &volume, &other), 0);
    for (uint32_t i = 0; i < batch->record_count; i++)
        batch->records[i].volume = other;
    history_checkpoint(batch, 8);
    history_checkpoint(batch, 9);
    classified(batch, false, &list);
    assert_string_equal(list.shares[0].profile, "checkpoint");
    assert_true(classified_says(&list.shares[0], "seen in 2 processes"));
    profile_list_clear(&list);
}

/* By one process, and as a total that tells none. */
static void what_comes_from_the_network_is_a_copy(void **state)
{
    static const uint64_t sizes[] = {8192, 16384, 1 << 20};
    const uint64_t all = 256 << 20;

    for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
        for (unsigned received = 0; received < 2; received++)
            for (uint32_t pid = 0; pid < 10; pid += 9) {
                struct batch *batch = history_batch(0);
                struct profile_list list;

                history_ops(batch, "j", pid, OP_CREATE, 0, 1);
                history_ops(batch, "j", pid, OP_WRITE, sizes[i], all / sizes[i]);
                history_order(batch, "j", pid, OP_WRITE, ORDER_CONSECUTIVE, all / sizes[i]);
                history_ops(batch, "j", pid, OP_CLOSE, 0, 1);
                if (received)
                    history_received(batch, "j", pid, all - all / 100);
                classified(batch, false, &list);
                assert_string_equal(list.shares[0].profile, received ? "stage-copy" : "checkpoint");
                assert_false(classified_says(&list.shares[0], "concluded from its amount"));
                profile_list_clear(&list);
            }
}

/* Which thread received it does not matter, as long as it is about what is written. */
static void as_much_as_comes_from_the_network_is_a_copy(void **state)
{
    static const struct {
        double received; /* of what is written */
        const char *profile;
    } writers[] = {{0.1, "checkpoint"}, {0.5, "checkpoint"}, {0.75, "stage-copy"},
                   {1.02, "stage-copy"}, {1.3, "stage-copy"}, {2.1, "checkpoint"}, {30, "checkpoint"}};
    const uint64_t all = 256 << 20;

    for (unsigned i = 0; i < sizeof(writers) / sizeof(*writers); i++) {
        struct batch *batch = history_batch(0);
        struct profile_list list;

        history_ops(batch, "j", 9, OP_CREATE, 0, 1);
        history_ops(batch, "j", 9, OP_WRITE, 1 << 20, 256);
        history_order(batch, "j", 9, OP_WRITE, ORDER_CONSECUTIVE, 256);
        history_ops(batch, "j", 9, OP_CLOSE, 0, 1);
        history_process_received(batch, "j", 9, (uint64_t)(writers[i].received * (double)all));
        classified(batch, false, &list);
        assert_string_equal(list.shares[0].profile, writers[i].profile);
        profile_list_clear(&list);
    }
}

/* A batch of so many names that are looked at, and of folders that are opened and listed. */
static struct batch *walked(uint32_t pid, uint64_t stats, uint64_t readdirs, uint64_t opens)
{
    struct batch *batch = history_batch(0);

    history_ops(batch, "j", pid, OP_STAT, 0, stats);
    history_ops(batch, "j", pid, OP_READDIR, 0, readdirs);
    history_ops(batch, "j", pid, OP_OPEN, 0, opens);
    history_ops(batch, "j", pid, OP_CLOSE, 0, opens);
    return batch;
}

static void a_walk_is_a_scan(void **state)
{
    struct batch *batch = walked(9, 60645, 6588, 3318);
    struct profile_list list;

    history_errors(batch, "j", 9, OP_OPEN, 0, 13);
    classified(batch, false, &list);
    assert_string_equal(list.shares[0].profile, "ingest-scan");
    assert_true(list.shares[0].share_ops > 0.95);
    assert_true(isnan(list.shares[0].share_bytes)); /* nothing was moved */
    profile_list_clear(&list);
}

/* A walk that changes what it finds, as chown -R does, is one; so is who changes a list of names, as xargs chmod. */
static void a_walk_may_change_attributes(void **state)
{
    for (unsigned i = 0; i < 2; i++) {
        struct batch *batch = i ? walked(9, 2, 0, 12) : walked(9, 63000, 6600, 3300);
        struct profile_list list;

        history_ops(batch, "j", 9, OP_SETATTR, 0, 60000);
        history_ops(batch, "j", 9, OP_READ, 832, 1);
        classified(batch, false, &list);
        assert_string_equal(list.shares[0].profile, "ingest-scan");
        assert_true(list.shares[0].share_ops > 0.95);
        profile_list_clear(&list);
    }
}

/* A walk writes what it finds: the list is part of it. */
static void a_walk_may_write_its_list(void **state)
{
    struct batch *batch = walked(9, 295144, 36962, 18517);
    struct profile_list list;

    history_ops(batch, "j", 9, OP_CREATE, 0, 1);
    history_ops(batch, "j", 9, OP_WRITE, 8192, 4278);
    history_order(batch, "j", 9, OP_STAT, ORDER_BY_NAME, 276600);
    history_order(batch, "j", 9, OP_STAT, ORDER_OF_OPEN, 18500);
    classified(batch, false, &list);
    assert_string_equal(list.shares[0].profile, "ingest-scan");
    assert_true(list.shares[0].share_ops > 0.95 && list.shares[0].share_bytes > 0.95);
    profile_list_clear(&list);
}

/* NumPy, a mapping for each batch: in the page cache there are some pages a mapping, and nothing is read. */
static void tokens_may_be_mapped_anew_for_each_batch(void **state)
{
    struct batch *batch = history_batch(0);
    struct profile_list list;

    history_ops(batch, "j", 9, OP_OPEN, UINT64_C(180) << 20, 20);
    history_ops(batch, "j", 9, OP_CLOSE, 0, 40);
    history_ops(batch, "j", 9, OP_STAT, 0, 40);
    history_ops(batch, "j", 9, OP_SEEK, 0, 60);
    history_minor_faults(batch, "j", 9, 280);
    classified(batch, false, &list);
    assert_string_equal(list.shares[0].profile, "mmap-read");
    profile_list_clear(&list);
}

/* Files lack extended attributes, and a walk that asks for these looks for no name that is not there. */
static void an_attribute_that_is_lacking_is_no_name(void **state)
{
    static const int codes[] = {ENOENT, ENODATA};
    struct profile_list list;

    for (unsigned i = 0; i < 2; i++) {
        struct batch *batch = walked(0, 50000, 4000, 1000);
        double share;

        history_errors(batch, "j", 0, OP_STAT, codes[i], 45000);
        classified(batch, false, &list);
        share = classified_find(&list, "ingest-scan") ? classified_find(&list, "ingest-scan")->share_ops : 0;
        assert_true(codes[i] == ENODATA ? share > 0.95 : share < 0.6);
        profile_list_clear(&list);
    }
}

/* Python asks where it is before each line: of who indexes lines hardly a read jumps, of who reads them in any order many do. */
static void an_index_of_lines_is_a_stream(void **state)
{
    static const struct {
        uint64_t seeks, jumps;
        const char *profile;
    } readers[] = {{20000, 12, "shard-streaming"},     {600000, 12, "shard-streaming"}, {2100000, 12, "shard-streaming"},
                   {600000, 30000, "sample-read"}, {2100000, 20000, "sample-read"}};

    for (unsigned i = 0; i < sizeof(readers) / sizeof(*readers); i++)
        for (uint32_t pid = 0; pid < 10; pid += 9) {
            struct batch *batch = history_batch(0);
            struct profile_list list;

            history_ops(batch, "j", pid, OP_OPEN, 200 * MIB, 1);
            history_ops(batch, "j", pid, OP_SEEK, 0, readers[i].seeks);
            history_ops(batch, "j", pid, OP_READ, 4096, 50000);
            history_order(batch, "j", pid, OP_READ, ORDER_CONSECUTIVE, 50000 - readers[i].jumps);
            history_order(batch, "j", pid, OP_READ, ORDER_RANDOM, readers[i].jumps);
            classified(batch, false, &list);
            assert_string_equal(list.shares[0].profile, readers[i].profile);
            assert_true(list.shares[0].share_ops > 0.9);
            profile_list_clear(&list);
        }
}

static void large_samples_are_not_small_files(void **state)
{
    struct batch *batch = history_batch(0);
    struct profile_list list;

    history_ops(batch, "j", 9, OP_OPEN, 0, 500);
    history_ops(batch, "j", 9, OP_CLOSE, 0, 500);
    history_ops(batch, "j", 9, OP_STAT, 0, 1000);
    history_ops(batch, "j", 9, OP_SEEK, 0, 1000);
    history_ops(batch, "j", 9, OP_READ, 320000, 250);
    history_ops(batch, "j", 9, OP_READ, 440000, 250);
    history_ops(batch, "j", 9, OP_READ, 0, 500);
    classified(batch, false, &list);
    assert_string_equal(list.shares[0].profile, "cv-training");
    assert_true(list.shares[0].share_bytes > 0.95);
    assert_null(classified_find(&list, "losf"));
    profile_list_clear(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compiling_is_unknown),
        cmocka_unit_test(who_looks_by_opening_imports),
        cmocka_unit_test(who_imports_may_keep_a_log),
        cmocka_unit_test(who_looks_for_headers_does_not_import),
        cmocka_unit_test(linking_is_unknown),
        cmocka_unit_test(version_control_is_unknown),
        cmocka_unit_test(databases_are_unknown),
        cmocka_unit_test(a_checkpoint_may_have_a_small_buffer),
        cmocka_unit_test(imports_beside_a_copy_leave_it_one),
        cmocka_unit_test(processes_that_are_one_only_together_are_not_counted),
        cmocka_unit_test(a_process_is_one_on_all_its_volumes),
        cmocka_unit_test(what_comes_from_the_network_is_a_copy),
        cmocka_unit_test(as_much_as_comes_from_the_network_is_a_copy),
        cmocka_unit_test(a_walk_is_a_scan),
        cmocka_unit_test(a_walk_may_change_attributes),
        cmocka_unit_test(a_walk_may_write_its_list),
        cmocka_unit_test(tokens_may_be_mapped_anew_for_each_batch),
        cmocka_unit_test(an_attribute_that_is_lacking_is_no_name),
        cmocka_unit_test(an_index_of_lines_is_a_stream),
        cmocka_unit_test(large_samples_are_not_small_files),
    };

    return cmocka_run_group_tests(tests, classified_load, classified_unload);
}
