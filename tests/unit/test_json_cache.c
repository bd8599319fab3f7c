/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "lib/json_cache.h"

static void a_text_is_parsed_once(void **state)
{
    struct json_cache cache = {0};
    const json_t *first = json_cache_get(&cache, "[\"/data\"]");

    assert_string_equal(json_string_value(json_array_get(first, 0)), "/data");
    assert_ptr_not_equal(json_cache_get(&cache, "[\"/scratch\"]"), first);
    assert_ptr_equal(json_cache_get(&cache, "[\"/data\"]"), first);
    assert_int_equal(cache.count, 2);
    json_cache_clear(&cache);
}

static void what_is_no_json_is_nothing(void **state)
{
    struct json_cache cache = {0};

    assert_null(json_cache_get(&cache, "[\"/data\""));
    assert_null(json_cache_get(&cache, ""));
    assert_int_equal(cache.count, 0);
    json_cache_clear(&cache);
}

static void it_holds_no_more_than_it_says(void **state)
{
    struct json_cache cache = {0};
    char text[16];

    for (int i = 0; i < 3 * JSON_CACHE_TEXTS; i++) {
        json_cache_trim(&cache);
        snprintf(text, sizeof(text), "%d", i);
        assert_int_equal(json_integer_value(json_cache_get(&cache, text)), i);
        assert_in_range(cache.count, 1, JSON_CACHE_TEXTS + 1);
    }
    json_cache_clear(&cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_is_parsed_once),
        cmocka_unit_test(what_is_no_json_is_nothing),
        cmocka_unit_test(it_holds_no_more_than_it_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
