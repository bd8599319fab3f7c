/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyzer/watched.h"

static void recordings_leave_holes(void **state)
{
    struct watched watched = {0};

    assert_false(watched_has_hole(&watched, 0, 99));
    assert_int_equal(watched_add(&watched, 10, 19), 0);
    assert_int_equal(watched_add(&watched, 20, 29), 0); /* the next interval */
    assert_int_equal(watched_add(&watched, 12, 25), 0); /* another node's */
    assert_int_equal(watched.count, 1);
    assert_int_equal(watched_add(&watched, 45, 60), 0);
    assert_int_equal(watched.count, 2);
    assert_false(watched_has_hole(&watched, 0, 9)); /* before anybody came is outside of the span */
    assert_false(watched_has_hole(&watched, 10, 29));
    assert_true(watched_has_hole(&watched, 29, 30));
    assert_true(watched_has_hole(&watched, 35, 40));
    assert_true(watched_has_hole(&watched, 44, 45));
    assert_false(watched_has_hole(&watched, 45, 99));
    watched_clear(&watched);
}

static void windows_are_cut(void **state)
{
    struct watched watched = {0};

    for (int64_t from = 0; from < 1000; from += 100)
        assert_int_equal(watched_add(&watched, from, from + 75), 0);
    /* of ten windows of ten slots, three have the hole of 24 */
    assert_int_equal(watched_cut(&watched, 10, 0, 99), 27);
    assert_int_equal(watched_cut(&watched, 10, 8, 8), 1);
    assert_int_equal(watched_cut(&watched, 10, 0, 6), 0);
    /* a window with several holes is one window */
    assert_int_equal(watched_cut(&watched, 500, 0, 1), 2);
    watched_clear(&watched);
}

static void what_comes_late_closes_holes(void **state)
{
    struct watched watched = {0};

    assert_int_equal(watched_add(&watched, 0, 9), 0);
    assert_int_equal(watched_add(&watched, 20, 29), 0);
    assert_int_equal(watched_add(&watched, 40, 49), 0);
    assert_int_equal(watched_add(&watched, 5, 15), 0);
    assert_true(watched_has_hole(&watched, 0, 9) == false);
    assert_false(watched_has_hole(&watched, 12, 45));
    watched_clear(&watched);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recordings_leave_holes),
        cmocka_unit_test(windows_are_cut),
        cmocka_unit_test(what_comes_late_closes_holes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
