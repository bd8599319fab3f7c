/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs that are started anew for some files at a time: their starts are not what they do. */
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
#define PROCESSES 40

/* What md5sum does before it opens the first file: two libraries, of which it reads the heads, a list of these and tables
 * that it maps, and translations that are not there. */
static void start(struct batch *batch, uint32_t pid)
{
    history_ops(batch, "j", pid, OP_OPEN, 5 * MIB, 1);
    history_ops(batch, "j", pid, OP_OPEN, 2 * MIB, 1);
    history_ops(batch, "j", pid, OP_OPEN, 76 * KIB, 1);
    history_ops(batch, "j", pid, OP_OPEN, 256, 8);
    history_errors(batch, "j", pid, OP_OPEN, ENOENT, 13);
    history_pieces(batch, pid, FILE_LARGE, 832, 1, 0);
    history_pieces(batch, pid, FILE_MEDIUM, 832, 1, 0);
    history_ops(batch, "j", pid, OP_CLOSE, 0, 11);
}

static void read_files(struct batch *batch, uint32_t pid, uint64_t count)
{
    history_ops(batch, "j", pid, OP_OPEN, 11 * KIB, count);
    history_pieces(batch, pid, FILE_SMALL, 11 * KIB, count, 0);
    history_ops(batch, "j", pid, OP_READ, 0, count);
    history_ops(batch, "j", pid, OP_CLOSE, 0, count);
}

static void what_a_start_looks_for_in_vain_is_not_held_against_files(void **state)
{
    struct batch *batch = history_batch(0);

    start(batch, 9);
    read_files(batch, 9, 110);
    classified_as(batch, "losf");
}

static void who_is_given_some_files_at_a_time_reads_all(void **state)
{
    struct batch *batch = history_batch(0);
    struct profile_list list;

    for (uint32_t pid = 9; pid < 9 + PROCESSES; pid++) {
        start(batch, pid);
        read_files(batch, pid, 20);
    }
    classified(batch, false, &list);
    assert_true(classified_ops(&list, "losf") > 0.95);
    assert_true(classified_says(classified_find(&list, "losf"), "several processes"));
    assert_true(classified_find(&list, "losf")->confidence < 0.9);
    profile_list_clear(&list);
}

/* A cp for each file. */
static void who_is_started_for_each_file_copies_all(void **state)
{
    struct batch *batch = history_batch(0);
    struct profile_list list;

    for (uint32_t pid = 9; pid < 9 + PROCESSES; pid++) {
        start(batch, pid);
        history_ops(batch, "j", pid, OP_OPEN, 3 * MIB, 1);
        history_pieces(batch, pid, FILE_MEDIUM, 3 * MIB, 1, 0);
        history_ops_on(batch, "/b", "j", pid, OP_CREATE, 0, 1);
        history_ops_on(batch, "/b", "j", pid, OP_WRITE, MIB, 3);
        history_ops(batch, "j", pid, OP_CLOSE, 0, 1);
    }
    classified(batch, false, &list);
    assert_true(classified_bytes(&list, "stage-copy") > 0.95);
    assert_true(classified_find(&list, "stage-copy")->confidence < 0.9);
    profile_list_clear(&list);
}

/* A compiler reads its headers whole, too; it looks for them in several folders each, and writes what it makes of them. */
static void compilers_are_not_given_files(void **state)
{
    for (unsigned writes = 0; writes < 2; writes++) {
        struct batch *batch = history_batch(0);
        struct profile_list list;

        for (uint32_t pid = 9; pid < 9 + PROCESSES; pid++) {
            start(batch, pid);
            read_files(batch, pid, 20);
            if (writes)
                history_ops(batch, "j", pid, OP_WRITE, 4 * KIB, 20);
            else
                history_errors(batch, "j", pid, OP_OPEN, ENOENT, 30);
        }
        classified(batch, false, &list);
        assert_true(classified_ops(&list, "losf") < 0.1);
        profile_list_clear(&list);
    }
}

/* A file each: more is opened to start than to read. */
static void starts_alone_have_no_name(void **state)
{
    struct batch *batch = history_batch(0);
    struct profile_list list;

    for (uint32_t pid = 9; pid < 9 + PROCESSES; pid++) {
        start(batch, pid);
        read_files(batch, pid, 1);
    }
    classified(batch, false, &list);
    assert_true(classified_ops(&list, "losf") < 0.1);
    profile_list_clear(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_start_looks_for_in_vain_is_not_held_against_files),
        cmocka_unit_test(who_is_given_some_files_at_a_time_reads_all),
        cmocka_unit_test(who_is_started_for_each_file_copies_all),
        cmocka_unit_test(compilers_are_not_given_files),
        cmocka_unit_test(starts_alone_have_no_name),
    };

    return cmocka_run_group_tests(tests, classified_load, classified_unload);
}
