/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#include "lib/array_text.h"
#include "lib/error_code.h"

static void every_code_comes_back(void **state)
{
    char buffer[ERROR_NAME_SIZE];

    for (unsigned code = 1; code < ERROR_CODES; code++)
        assert_int_equal(error_code_by_name(error_code_name(code, buffer)), code);
    assert_string_equal(error_code_name(ENOENT, buffer), "ENOENT");
    assert_string_equal(error_code_name(400, buffer), "400");
}

static void what_is_no_error_is_none(void **state)
{
    static const char *const wrong[] = {"", "0", "-1", "496", "EMADEUP", "enoent", "5x", " 5", "ENOENT "};

    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        assert_int_equal(error_code_by_name(wrong[i]), 0);
}

static void arrays_are_what_sql_takes(void **state)
{
    const int64_t numbers[] = {1, ARRAY_NULL, INT64_MAX, -2};
    char *text = array_text(numbers, 4);

    assert_string_equal(text, "{1,null,9223372036854775807,-2}");
    free(text);
    text = array_text(NULL, 0);
    assert_string_equal(text, "{}");
    free(text);
    text = array_of_bytes((const uint8_t *const[]){(const uint8_t *)"\x00\xa1", (const uint8_t *)"Z\xff"}, 2, 2);
    assert_string_equal(text, "{\"\\\\x00a1\",\"\\\\x5aff\"}");
    free(text);
    text = array_of_bytes(NULL, 2, 0);
    assert_string_equal(text, "{}");
    free(text);
}

static void arrays_of_sql_are_numbers_again(void **state)
{
    static const char *const wrong[] = {"", "{", "}", "1", "{1", "{1,}", "{,1}", "{1}x", "{{1}}", "{nul}", "{ 1}",
                                        "{9223372036854775808}", "{1;2}"};
    int64_t *numbers;
    size_t count;

    assert_int_equal(array_numbers("{1,NULL,9223372036854775807,-2,null}", &numbers, &count), 0);
    assert_int_equal(count, 5);
    assert_memory_equal(numbers, ((int64_t[]){1, ARRAY_NULL, INT64_MAX, -2, ARRAY_NULL}), 5 * sizeof(*numbers));
    free(numbers);
    assert_int_equal(array_numbers("{}", &numbers, &count), 0);
    assert_int_equal(count, 0);
    assert_non_null(numbers);
    free(numbers);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        assert_int_equal(array_numbers(wrong[i], &numbers, &count), -EBADMSG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_comes_back),
        cmocka_unit_test(what_is_no_error_is_none),
        cmocka_unit_test(arrays_are_what_sql_takes),
        cmocka_unit_test(arrays_of_sql_are_numbers_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
