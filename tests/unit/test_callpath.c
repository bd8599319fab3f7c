/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/callpath.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

static void paths_are_as_short_as_they_can_be(void **state)
{
    static const struct {
        const char *path, *expected;
    } cases[] = {
        {"/", "/"},         {"//", "/"},          {"/a/b", "/a/b"},      {"/a//b/", "/a/b"},       {"/./a/.", "/a"},
        {"/a/../b", "/b"},  {"/../../a", "/a"},   {"/a/b/../..", "/"},   {"/a/..b/c", "/a/..b/c"}, {"/a/...", "/a/..."},
        {"/ab/../a", "/a"}, {"/a/.b/..", "/a"},   {"/a/b/../../c", "/c"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char path[64];

        snprintf(path, sizeof(path), "%s", cases[i].path);
        callpath_normalize(path);
        assert_string_equal(path, cases[i].expected);
    }
}

/* A thread that runs, and one that is no more, are in no such call. */
static void who_is_in_no_call_has_no_volume(void **state)
{
    static const struct abi_syscall calls[ABI_SYSCALLS];
    uint64_t volume = 7;

    assert_true(callpath_volume(getpid(), OP_OPEN, calls, &volume) < 0);
    assert_true(callpath_volume(0x7ffffffe, OP_OPEN, calls, &volume) < 0);
    assert_int_equal(volume, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_are_as_short_as_they_can_be),
        cmocka_unit_test(who_is_in_no_call_has_no_volume),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
