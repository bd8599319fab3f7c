/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "collector/limit.h"

#define NEVER 1e-6 /* a second: nothing comes back while a test runs */

static void a_bucket_falls_below_nothing_once(void **state)
{
    struct limit *limit;
    unsigned wait_s;

    assert_int_equal(limit_new(NEVER, 2, &limit), 0);
    assert_int_equal(limit_take(limit, "a", 1.5), 0);
    assert_int_equal(limit_take(limit, "a", 1.5), 0);
    wait_s = limit_take(limit, "a", 1.5); /* 1 is missing, of which a millionth comes in a second */
    assert_in_range(wait_s, 990000, 1000001);
    assert_in_range(limit_take(limit, "a", 1.5), 990000, wait_s); /* what is refused costs nothing */
    limit_free(limit);
}

static void each_key_has_its_own(void **state)
{
    struct limit *limit;

    assert_int_equal(limit_new(NEVER, 1, &limit), 0);
    assert_int_equal(limit_take(limit, "a", 2), 0);
    assert_int_not_equal(limit_take(limit, "a", 2), 0);
    assert_int_equal(limit_take(limit, "b", 2), 0);
    assert_int_equal(limit_take(limit, "", 2), 0);
    limit_free(limit);
}

static void looking_takes_nothing(void **state)
{
    struct limit *limit;

    assert_int_equal(limit_new(NEVER, 1, &limit), 0);
    for (int i = 0; i < 10; i++)
        assert_int_equal(limit_look(limit, "a"), 0);
    assert_int_equal(limit_take(limit, "a", 2), 0);
    assert_int_not_equal(limit_look(limit, "a"), 0);
    limit_free(limit);
}

static void it_fills_again(void **state)
{
    struct limit *limit;

    assert_int_equal(limit_new(1000, 1, &limit), 0);
    assert_int_equal(limit_take(limit, "a", 100), 0);
    while (limit_look(limit, "a"))
        ;
    assert_int_equal(limit_take(limit, "a", 1), 0);
    limit_free(limit);
}

static void no_rate_is_no_limit(void **state)
{
    struct limit *limit;

    assert_int_equal(limit_new(0, 0, &limit), 0);
    for (int i = 0; i < 10; i++)
        assert_int_equal(limit_take(limit, "a", 1000), 0);
    limit_free(limit);
    limit_free(NULL);
}

/* Ten times as many as there is room for. */
static void keys_of_long_ago_make_room(void **state)
{
    struct limit *limit;
    char key[16];

    assert_int_equal(limit_new(NEVER, 1, &limit), 0);
    assert_int_equal(limit_take(limit, "a", 2), 0);
    for (unsigned i = 0; i < 160000; i++) {
        snprintf(key, sizeof(key), "%u", i);
        assert_int_equal(limit_take(limit, key, 2), 0);
    }
    assert_int_not_equal(limit_look(limit, key), 0);
    assert_int_equal(limit_look(limit, "a"), 0);
    limit_free(limit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bucket_falls_below_nothing_once),
        cmocka_unit_test(each_key_has_its_own),
        cmocka_unit_test(looking_takes_nothing),
        cmocka_unit_test(it_fills_again),
        cmocka_unit_test(no_rate_is_no_limit),
        cmocka_unit_test(keys_of_long_ago_make_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
