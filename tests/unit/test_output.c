/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/output.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/cleanup.h"
#include "lib/log.h"
#include "tests/unit/capture.h"

static void a_full_disk_is_called_so(void **state)
{
    json_t *json = json_array();
    FILE *full;

    for (int i = 0; i < 10000; i++)
        json_array_append_new(json, json_integer(i));
    /* more than stdio keeps, and less */
    full = fopen("/dev/full", "we");
    assert_non_null(full);
    assert_int_equal(output_json(json, full, 0), -ENOSPC);
    (void)fclose(full);
    json_array_clear(json);
    full = fopen("/dev/full", "we");
    assert_non_null(full);
    assert_int_equal(output_json(json, full, 0), 0);
    assert_int_equal(output_flush(full), -ENOSPC);
    (void)fclose(full);
    json_decref(json);
}

static void an_old_error_is_not_forgotten(void **state)
{
    FILE *null = fopen("/dev/null", "re");

    assert_non_null(null);
    assert_int_equal(output_flush(null), 0);
    assert_int_equal(fputc('x', null), EOF);
    assert_int_equal(output_flush(null), -EIO);
    (void)fclose(null);
}

static void a_program_ends_well_when_all_was_written(void **state)
{
    _cleanup_free_ char *said = NULL;
    int saved = dup(STDOUT_FILENO);

    log_program("p");
    assert_int_equal(output_end(0), 0);
    assert_int_equal(output_end(7), 7);
    capture_begin(STDERR_FILENO);
    fflush(stdout);
    assert_non_null(freopen("/dev/full", "we", stdout));
    puts("what nobody reads");
    assert_int_equal(output_end(0), 1);
    puts("what nobody reads either");
    assert_int_equal(output_end(7), 7); /* the failure was told by who had it */
    assert_non_null(freopen("/dev/null", "we", stdout));
    assert_int_equal(dup2(saved, fileno(stdout)), fileno(stdout));
    close(saved);
    said = capture_end(STDERR_FILENO);
    assert_string_equal(said, "p: cannot write to standard output: No space left on device: make room there, or write "
                              "elsewhere\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_disk_is_called_so),
        cmocka_unit_test(an_old_error_is_not_forgotten),
        cmocka_unit_test(a_program_ends_well_when_all_was_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
