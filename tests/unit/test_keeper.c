/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/keeper.h"

#define COUNT 50

/* Both ends of pipes: ends[i][1] is what is kept, and ends[i][0] tells when nobody has it open any more. */
static void make(int ends[COUNT][2], int *kept)
{
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(pipe2(ends[i], O_CLOEXEC), 0);
        kept[COUNT - 1 - i] = ends[i][1]; /* in no order that helps */
    }
}

/* Whether a pipe has nobody any more who could write, at once or within so many milliseconds. */
static bool closed(int end, int milliseconds)
{
    struct pollfd wanted = {.fd = end};

    return poll(&wanted, 1, milliseconds) == 1 && wanted.revents == POLLHUP;
}

static void are_kept_until_they_are_not_wanted(void **state)
{
    struct keepers *keepers = NULL;
    int ends[COUNT][2], kept[COUNT];

    make(ends, kept);
    assert_int_equal(keepers_new(&keepers, kept, COUNT), 0);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(fcntl(ends[i][1], F_GETFD), -1); /* not in our table */
        assert_false(closed(ends[i][0], 0));
    }
    keepers_free(&keepers);
    assert_null(keepers);
    for (int i = 0; i < COUNT; i++) {
        assert_true(closed(ends[i][0], 10000));
        close(ends[i][0]);
    }
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD); /* nobody is left to be waited for */
}

static void what_else_is_open_is_not_kept(void **state)
{
    struct keepers *keepers = NULL;
    int ends[COUNT][2], kept[COUNT], other[2];

    assert_int_equal(pipe2(other, O_CLOEXEC), 0);
    make(ends, kept);
    assert_int_equal(keepers_new(&keepers, kept, COUNT), 0);
    assert_false(closed(other[0], 0));
    close(other[1]);
    assert_true(closed(other[0], 10000));
    close(other[0]);
    keepers_free(&keepers);
    for (int i = 0; i < COUNT; i++)
        close(ends[i][0]);
}

static void a_killed_process_keeps_nothing(void **state)
{
    int ends[COUNT][2], kept[COUNT], ready[2];
    pid_t child;
    char word;

    make(ends, kept);
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct keepers *keepers = NULL;

        if (keepers_new(&keepers, kept, COUNT) || write(ready[1], "r", 1) != 1)
            _exit(1);
        pause();
    }
    for (int i = 0; i < COUNT; i++)
        close(ends[i][1]);
    close(ready[1]);
    assert_int_equal(read(ready[0], &word, 1), 1);
    for (int i = 0; i < COUNT; i++)
        assert_false(closed(ends[i][0], 0));
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    for (int i = 0; i < COUNT; i++) {
        assert_true(closed(ends[i][0], 10000));
        close(ends[i][0]);
    }
    close(ready[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(are_kept_until_they_are_not_wanted),
        cmocka_unit_test(what_else_is_open_is_not_kept),
        cmocka_unit_test(a_killed_process_keeps_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
