/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What users without rights may ask of the agent. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "agent/allowance.h"

static unsigned take(struct allowance *allowance, uint32_t uid, double tokens, int64_t now_ms, unsigned tries)
{
    unsigned got = 0;

    for (unsigned i = 0; i < tries; i++)
        got += allowance_take(allowance, uid, tokens, now_ms);
    return got;
}

static void a_bucket_fills_up_again(void **state)
{
    struct allowance allowance = {0};

    assert_int_equal(take(&allowance, 7, 25, 1000, 10000), 256);
    assert_int_equal(take(&allowance, 7, 25, 1100, 100), 0);
    assert_int_equal(take(&allowance, 7, 25, 2000, 100), 4);
    assert_int_equal(take(&allowance, 7, 1, 3000, 1000), 100);
    assert_int_equal(take(&allowance, 7, 25, 1000000000, 10000), 256); /* no more than it holds */
}

static void each_user_has_its_own(void **state)
{
    struct allowance allowance = {0};

    for (uint32_t uid = 0; uid < ALLOWANCE_USERS; uid++)
        assert_int_equal(take(&allowance, uid, 6400, 1000 + uid, 2), 1);
    assert_int_equal(take(&allowance, 0, 6400, 2000, 1), 0);
    assert_int_equal(take(&allowance, 1000, 6400, 2000, 2), 1); /* in the place of who has been idle for the longest time */
    assert_int_equal(take(&allowance, 2, 6400, 2000, 1), 0);
    assert_int_equal(take(&allowance, 1, 6400, 2000, 2), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bucket_fills_up_again),
        cmocka_unit_test(each_user_has_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
