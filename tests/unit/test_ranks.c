/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which processes load a model together, and which only read as much. */
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

/* Workers read shards that are all of one size, each some of them; or ranks load all parts of a model. */
static void equal_shards_are_no_model(void **state)
{
    for (unsigned shared = 0; shared < 2; shared++) {
        struct batch *batch = history_batch(0);

        for (uint32_t pid = 10; pid < 14; pid++) {
            history_ops(batch, "j", pid, OP_OPEN, 64 * MIB, 6);
            history_ops(batch, "j", pid, OP_READ, MIB, 6 * 64);
            history_order(batch, "j", pid, OP_READ, ORDER_CONSECUTIVE, 6 * 64);
            history_ops(batch, "j", pid, OP_CLOSE, 0, 6);
        }
        history_told(batch, shared ? 6 : 8, 64 * MIB); /* of which each reads another one in each epoch */
        classified_as(batch, shared ? "model-load" : "shard-streaming");
    }
}

/* Two workers read two shards each; ranks load the two parts of one checkpoint, or two each of their own, by large reads. */
static void few_equal_shards_are_no_model(void **state)
{
    static const struct {
        unsigned files;
        uint64_t read;
        const char *profile;
    } cases[] = {{4, 256 * KIB, "shard-streaming"}, {2, 256 * KIB, "model-load"}, {4, 16 * MIB, "model-load"}};

    for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct batch *batch = history_batch(0);

        for (uint32_t pid = 10; pid < 12; pid++) {
            history_ops(batch, "j", pid, OP_OPEN, 128 * MIB, 2);
            history_ops(batch, "j", pid, OP_READ, cases[i].read, 256 * MIB / cases[i].read);
            history_order(batch, "j", pid, OP_READ, ORDER_CONSECUTIVE, 256 * MIB / cases[i].read);
            history_ops(batch, "j", pid, OP_CLOSE, 0, 2);
        }
        history_ops(batch, "j", 20, OP_OPEN, 128 * MIB, 1); /* what others open is no sign of it */
        history_told(batch, cases[i].files + 1, 128 * MIB);
        classified_as(batch, cases[i].profile);
    }
}

/* Sixteen shards, three times, of which a program that has opened as many modules reads each from front to end. */
static void shards_are_so_in_each_epoch(void **state)
{
    struct batch *batch = history_batch(0);

    history_ops(batch, "j", 9, OP_OPEN, 12 * KIB, 41);
    history_ops(batch, "j", 9, OP_OPEN, 200 * KIB, 4);
    history_ops(batch, "j", 9, OP_OPEN, 25 * MIB, 48);
    history_ops(batch, "j", 9, OP_OPEN, 0, 16);
    history_errors(batch, "j", 9, OP_OPEN, ENOENT, 7);
    history_ops(batch, "j", 9, OP_STAT, 0, 282);
    history_errors(batch, "j", 9, OP_STAT, ENOENT, 40);
    history_ops(batch, "j", 9, OP_SEEK, 0, 79);
    history_ops(batch, "j", 9, OP_READDIR, 0, 32);
    history_ops(batch, "j", 9, OP_READ, 20 * KIB, 80);
    history_ops(batch, "j", 9, OP_READ, 64 * KIB, 19227);
    history_order(batch, "j", 9, OP_READ, ORDER_CONSECUTIVE, 19307);
    history_ops(batch, "j", 9, OP_READ, 0, 85);
    history_ops(batch, "j", 9, OP_CLOSE, 0, 109);
    for (unsigned i = 0; i < batch->record_count; i++)
        if (batch->records[i].op == OP_READ) {
            batch->records[i].file_size[FILE_SMALL] = 47;
            batch->records[i].file_size[FILE_LARGE] = 19275;
        }
    classified_as(batch, "shard-streaming");
}

/* torch.load: each rank jumps about in the one archive, of which it reads all; loaders read other records of a file each. */
static void ranks_that_jump_may_load_a_model(void **state)
{
    for (unsigned loads = 0; loads < 2; loads++) {
        struct batch *batch = history_batch(0);

        for (uint32_t pid = 10; pid < 14; pid++) {
            history_ops(batch, "j", pid, OP_OPEN, 256 * MIB, 2);
            history_ops(batch, "j", pid, OP_SEEK, 0, 150);
            history_ops(batch, "j", pid, OP_READ, 2 * MIB, loads ? 250 : 60);
            history_order(batch, "j", pid, OP_READ, ORDER_CONSECUTIVE, loads ? 120 : 20);
            history_order(batch, "j", pid, OP_READ, ORDER_RANDOM, loads ? 130 : 40);
            history_ops(batch, "j", pid, OP_CLOSE, 0, 2);
        }
        history_told(batch, 1, 256 * MIB);
        classified_as(batch, loads ? "model-load" : "sample-read");
    }
}

/* They load it again and again, and somebody has opened files of his own there; or each loads some of his own. */
static void ranks_that_load_again_load_the_same(void **state)
{
    for (unsigned loads = 0; loads < 2; loads++) {
        struct batch *batch = history_batch(0);
        struct profile_list list;

        history_ops(batch, "j", 9, OP_OPEN, 256 * MIB, 3);
        for (uint32_t pid = 10; pid < 14; pid++) {
            history_ops(batch, "j", pid, OP_OPEN, 256 * MIB, 3);
            history_pieces(batch, pid, FILE_LARGE, 2 * MIB, 380, 200);
            history_ops(batch, "j", pid, OP_CLOSE, 0, 3);
        }
        history_told(batch, loads ? 4 : 15, 256 * MIB);
        classified(batch, false, &list);
        assert_int_equal(classified_bytes(&list, "model-load") > 0.9, loads);
        profile_list_clear(&list);
    }
}

/* torch.load by one process: it jumps to what says how long each tensor is, and reads all of them one after the other. */
static void who_loads_alone_streams(void **state)
{
    for (unsigned records = 0; records < 2; records++) {
        struct batch *batch = history_batch(0);

        history_ops(batch, "j", 9, OP_OPEN, 160 * MIB, 3);
        history_ops(batch, "j", 9, OP_SEEK, 0, 160);
        history_pieces(batch, 9, FILE_LARGE, 30, records ? 0 : 140, records ? 0 : 140);
        history_pieces(batch, 9, FILE_LARGE, 4 * MIB, 110, records ? 110 : 0);
        history_ops(batch, "j", 9, OP_CLOSE, 0, 3);
        classified_as(batch, records ? "sample-read" : "shard-streaming");
    }
}

/* Somebody else streams shards from the same volume, of which nobody reads as much as a rank. */
static void who_streams_beside_ranks_takes_nothing_from_them(void **state)
{
    struct batch *batch = history_batch(0);
    struct profile_list list;

    for (uint32_t pid = 10; pid < 14; pid++) {
        history_ops(batch, "j", pid, OP_OPEN, 40 * MIB, 4);
        history_pieces(batch, pid, FILE_LARGE, 8 * MIB, 20, 0);
        history_ops(batch, "j", pid, OP_CLOSE, 0, 4);
    }
    history_ops(batch, "j", 9, OP_OPEN, 40 * MIB, 7);
    history_pieces(batch, 9, FILE_LARGE, MIB, 280, 0);
    history_ops(batch, "j", 9, OP_CLOSE, 0, 7);
    history_told(batch, 11, 40 * MIB);
    classified(batch, false, &list);
    assert_true(classified_bytes(&list, "model-load") > 0.6);
    assert_true(classified_bytes(&list, "shard-streaming") > 0.25);
    profile_list_clear(&list);
}

/* Ranks of Python import hundreds of modules, and read their weights in a few calls; who reads other amounts streams. */
static void ranks_that_start_up_load_all_the_same(void **state)
{
    for (unsigned loads = 0; loads < 2; loads++) {
        struct batch *batch = history_batch(0);
        struct profile_list list;

        for (uint32_t pid = 10; pid < 14; pid++) {
            history_torch(batch, pid);
            history_ops(batch, "j", pid, OP_OPEN, 180 * MIB, 1);
            history_ops(batch, "j", pid, OP_CLOSE, 0, 1);
            history_pieces(batch, pid, FILE_SMALL, 12 * KIB, 1200, 0);
            history_pieces(batch, pid, FILE_LARGE, 4 * MIB, loads ? 45 : 35 + pid, 40);
        }
        classified(batch, false, &list);
        assert_true((classified_bytes(&list, "model-load") > 0.9) == loads);
        assert_true(classified_ops(&list, "import-storm") > 0.9);
        profile_list_clear(&list);
    }
}

/* Workers touch pages of a mapped file here and there, about as many each; ranks that map their weights touch the same. */
static void who_maps_about_as_much_loads_nothing(void **state)
{
    for (unsigned loads = 0; loads < 2; loads++) {
        struct batch *batch = history_batch(0);

        for (uint32_t pid = 10; pid < 18; pid++) {
            history_ops(batch, "j", pid, OP_OPEN, 240 * MIB, 1);
            history_ops(batch, "j", pid, OP_STAT, 0, 1);
            history_ops(batch, "j", pid, OP_CLOSE, 0, 1);
            history_minor_faults(batch, "j", pid, loads ? 3700 : 2940 + 9 * pid);
        }
        history_told(batch, 1, 240 * MIB);
        classified_as(batch, loads ? "model-load" : "mmap-read");
    }
}

/* Workers that each pick as many columns out of row groups read just as much; ranks read on. */
static void who_opens_a_file_for_each_piece_loads_nothing(void **state)
{
    for (unsigned loads = 0; loads < 2; loads++) {
        struct batch *batch = history_batch(0);
        struct profile_list list;

        for (uint32_t pid = 10; pid < 14; pid++) {
            history_ops(batch, "j", pid, OP_OPEN, 80 * MIB, loads ? 6 : 100);
            history_ops(batch, "j", pid, OP_CLOSE, 0, loads ? 6 : 100);
            history_ops(batch, "j", pid, OP_SEEK, 0, loads ? 30 : 2600);
            history_pieces(batch, pid, FILE_LARGE, loads ? 4 * MIB : 112 * KIB, loads ? 120 : 2600, loads ? 10 : 2600);
        }
        history_told(batch, 6, 80 * MIB);
        classified(batch, false, &list);
        assert_int_equal(classified_bytes(&list, "model-load") > 0.9, loads);
        assert_int_equal(classified_bytes(&list, "sample-read") > 0.9, !loads);
        profile_list_clear(&list);
    }
}

/* So do workers that pick records out of a file in pieces: most of what they read goes on, but not much of it from each jump. */
static void who_picks_records_in_pieces_loads_nothing(void **state)
{
    struct batch *batch = history_batch(0);
    struct profile_list list;

    for (uint32_t pid = 10; pid < 14; pid++) {
        history_ops(batch, "j", pid, OP_OPEN, 80 * MIB, 3);
        history_ops(batch, "j", pid, OP_CLOSE, 0, 3);
        history_pieces(batch, pid, FILE_LARGE, 16 * KIB, 6000, 750);
        history_record(batch, "j", pid, OP_READ)->order[ORDER_SEQUENTIAL] -= 380;
        history_order(batch, "j", pid, OP_READ, ORDER_RANDOM, 380);
    }
    history_told(batch, 3, 80 * MIB);
    classified(batch, false, &list);
    assert_true(classified_bytes(&list, "model-load") < 0.1);
    profile_list_clear(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_shards_are_no_model),
        cmocka_unit_test(few_equal_shards_are_no_model),
        cmocka_unit_test(shards_are_so_in_each_epoch),
        cmocka_unit_test(ranks_that_jump_may_load_a_model),
        cmocka_unit_test(ranks_that_load_again_load_the_same),
        cmocka_unit_test(who_loads_alone_streams),
        cmocka_unit_test(who_streams_beside_ranks_takes_nothing_from_them),
        cmocka_unit_test(ranks_that_start_up_load_all_the_same),
        cmocka_unit_test(who_maps_about_as_much_loads_nothing),
        cmocka_unit_test(who_opens_a_file_for_each_piece_loads_nothing),
        cmocka_unit_test(who_picks_records_in_pieces_loads_nothing),
    };

    return cmocka_run_group_tests(tests, classified_load, classified_unload);
}
