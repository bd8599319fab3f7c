/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/log.h"
#include "tests/unit/capture.h"

static void lines_begin_with_the_program(void **state)
{
    _cleanup_free_ char *text = NULL;

    capture_begin(STDERR_FILENO);
    log_program("unblend-agent");
    log_error("cannot open %s: %s", "/x", log_errno(-ENOENT));
    log_warning("%d of %d", 1, 2);
    log_info("ready");
    text = capture_end(STDERR_FILENO);
    assert_string_equal(text, "unblend-agent: cannot open /x: No such file or directory\n"
                              "unblend-agent: warning: 1 of 2\n"
                              "unblend-agent: ready\n");
}

static void debug_lines_must_be_asked_for(void **state)
{
    _cleanup_free_ char *text = NULL;

    capture_begin(STDERR_FILENO);
    log_program("p");
    log_debug("one");
    log_verbose(true);
    log_debug("two");
    log_verbose(false);
    log_debug("three");
    text = capture_end(STDERR_FILENO);
    assert_string_equal(text, "p: debug: two\n");
}

/* A file called "x<newline>unblend: all is well" must not look like a line of ours, nor move the
 * cursor. */
static void names_cannot_forge_lines(void **state)
{
    _cleanup_free_ char *text = NULL;

    capture_begin(STDERR_FILENO);
    log_program("p");
    log_error("%s", "a\nb\r\x1b[2J\x7f\tc\x01 gr\xc3\xbcn \xc2\x9b[2J");
    text = capture_end(STDERR_FILENO);
    assert_string_equal(text,
                        "p: a\\x0ab\\x0d\\x1b[2J\\x7f\\x09c\\x01 gr\xc3\xbcn \\xc2\\x9b[2J\n");
}

static void long_lines_are_cut_and_end(void **state)
{
    static const char fillers[] = {'x', '\n'};

    for (size_t i = 0; i < sizeof(fillers); i++) {
        _cleanup_free_ char *text = NULL;
        char big[10000];

        memset(big, fillers[i], sizeof(big) - 1);
        big[sizeof(big) - 1] = '\0';
        capture_begin(STDERR_FILENO);
        log_program(big);
        log_error("%s", big);
        log_program("p");
        text = capture_end(STDERR_FILENO);
        assert_true(strlen(text) > 500 && strlen(text) < 4096);
        assert_ptr_equal(strrchr(text, '\n'), text + strlen(text) - 1);
    }
}

#define THREADS 4
#define LINES   500

static void *write_lines(void *letter)
{
    char line[101];

    memset(line, *(char *)letter, 100);
    line[100] = '\0';
    for (int i = 0; i < LINES; i++)
        log_info("%s", line);
    return NULL;
}

static void threads_do_not_mix(void **state)
{
    _cleanup_free_ char *text = NULL;
    pthread_t threads[THREADS];
    char letters[] = "abcd", *at;
    int lines = 0;

    log_program("p");
    capture_begin(STDERR_FILENO);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_lines, &letters[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    text = capture_end(STDERR_FILENO);
    for (at = text; *at; at += 104, lines++) {
        assert_memory_equal(at, "p: ", 3);
        assert_int_equal(strspn(at + 3, (char[]){at[3], '\0'}), 100);
        assert_int_equal(at[103], '\n');
    }
    assert_int_equal(lines, THREADS * LINES);
}

static void errors_have_texts(void **state)
{
    assert_string_equal(log_errno(-ENOSPC), "No space left on device");
    assert_string_equal(log_errno(-EACCES), "Permission denied");
}

static void errors_say_what_to_do(void **state)
{
    assert_string_equal(log_why(-ENOENT), "No such file or directory: check the name");
    assert_string_equal(log_why(-ENOSPC), "No space left on device: make room there, or write elsewhere");
    assert_string_equal(log_why(-EPROTO), "Protocol error");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_begin_with_the_program),
        cmocka_unit_test(debug_lines_must_be_asked_for),
        cmocka_unit_test(names_cannot_forge_lines),
        cmocka_unit_test(long_lines_are_cut_and_end),
        cmocka_unit_test(threads_do_not_mix),
        cmocka_unit_test(errors_have_texts),
        cmocka_unit_test(errors_say_what_to_do),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
