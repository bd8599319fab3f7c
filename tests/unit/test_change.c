/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What rows counted in slots that are over: lists of many rows in one memory, which is begun anew when all are empty. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "probe/change.h"

#define ROWS  50
#define SLOTS 40

static struct increase some(unsigned row, unsigned slot)
{
    struct increase increase = {.bytes = row * 1000000000000ull + slot, .ops = slot + 1};

    increase.octave[(row + slot) % ABI_OCTAVES] = slot + 1;
    if (slot % 3)
        increase.octave[slot % ABI_OCTAVES] += row;
    return increase;
}

static void assert_same(const struct increase *expected, const struct increase *got)
{
    assert_int_equal(expected->bytes, got->bytes);
    assert_int_equal(expected->ops, got->ops);
    assert_memory_equal(expected->octave, got->octave, sizeof(got->octave));
}

static void lists_keep_their_order(void **state)
{
    struct changes changes = {0};
    struct change_list list[ROWS] = {0};

    for (int turn = 0; turn < 2; turn++) {
        for (unsigned slot = 0; slot < SLOTS; slot++)
            for (unsigned row = 0; row < ROWS; row++) {
                struct increase increase = some(row, slot);

                assert_int_equal(0, changes_append(&changes, &list[row], slot * 100ull, &increase));
            }
        for (unsigned row = 0; row < ROWS; row++)
            for (unsigned slot = 0; slot < SLOTS; slot++) {
                struct increase expected = some(row, slot), got;
                uint64_t end_ns;

                changes_first(&changes, &list[row], &end_ns, &got);
                assert_int_equal(slot * 100ull, end_ns);
                assert_same(&expected, &got);
                changes_drop_first(&changes, &list[row]);
            }
        for (unsigned row = 0; row < ROWS; row++)
            assert_int_equal(0, list[row].first);
        assert_int_equal(0, changes.used);
    }
    changes_free(&changes);
}

/* The room of as many changes as wait at once, with and without moments at which none does. */
static void what_is_gone_gives_its_room_back(void **state)
{
    for (unsigned kept = 0; kept < 2; kept++) {
        struct changes changes = {0};
        struct change_list list = {0};
        unsigned waiting = 0;
        uint32_t room = 0;

        for (unsigned i = 0; i < 100000; i++) {
            struct increase increase = some(i % ROWS, i % SLOTS);

            assert_int_equal(0, changes_append(&changes, &list, i, &increase));
            waiting++;
            while (i % 10 == 9 && waiting > kept) {
                changes_drop_first(&changes, &list);
                waiting--;
            }
            if (i == 100)
                room = changes.room;
        }
        assert_int_equal(room, changes.room);
        changes_free(&changes);
    }
}

static void a_list_adds_up(void **state)
{
    struct changes changes = {0};
    struct change_list list = {0};
    struct increase expected = {0}, sum = {0};

    changes_add_up(&changes, &list, &sum);
    assert_same(&expected, &sum);
    for (unsigned slot = 0; slot < SLOTS; slot++) {
        struct increase increase = some(7, slot);

        increase_add(&expected, &increase);
        assert_int_equal(0, changes_append(&changes, &list, slot, &increase));
    }
    changes_add_up(&changes, &list, &sum);
    assert_same(&expected, &sum);
    changes_free(&changes);
}

static void nothing_is_taken_back(void **state)
{
    struct increase to = {.bytes = 5, .ops = 3, .octave = {[2] = 4, [9] = 1}};
    struct increase ahead = {.bytes = 6, .ops = 4, .octave = {[2] = 1, [9] = 2}};
    struct increase left = {.octave = {[2] = 3}};

    increase_subtract(&to, &ahead);
    assert_true(increase_any(&to));
    assert_same(&left, &to);
    increase_subtract(&to, &left);
    assert_false(increase_any(&to));
}

static void counts_wrap(void **state)
{
    struct increase now = {.ops = 2, .octave = {[1] = 1}}, before = {.ops = UINT32_MAX, .octave = {[1] = UINT32_MAX - 1}};
    struct increase news = {.ops = 3, .octave = {[1] = 3}};

    increase_subtract(&now, &before);
    assert_true(increase_any(&now));
    assert_same(&news, &now);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_keep_their_order), cmocka_unit_test(what_is_gone_gives_its_room_back),
        cmocka_unit_test(a_list_adds_up),         cmocka_unit_test(nothing_is_taken_back),
        cmocka_unit_test(counts_wrap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
