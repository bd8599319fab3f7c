/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/sketch.h"

/* A bijection that scatters (the finalizer of MurmurHash3). */
static uint64_t hash_of(uint64_t n)
{
    n = (n ^ n >> 33) * 0xff51afd7ed558ccdULL;
    n = (n ^ n >> 33) * 0xc4ceb9fe1a85ec53ULL;
    return n ^ n >> 33;
}

static void add(struct sketch *sketch, uint64_t first, uint64_t end, int64_t seen_ns)
{
    for (uint64_t n = first; n < end; n++)
        assert_int_equal(
            sketch_add(sketch, &(struct sketch_file){.hash = hash_of(n), .bytes = 1000 + n % 9,
                                                     .seen_ns = seen_ns}), 0);
}

static void few_are_known_exactly(void **state)
{
    struct sketch sketch = {0};
    struct sketch_estimate files, bytes;

    add(&sketch, 1, 1001, 5);
    add(&sketch, 1, 1001, 7);
    assert_int_equal(sketch.shift, 0);
    files = sketch_files(&sketch, 0);
    bytes = sketch_bytes(&sketch, 0);
    assert_true(files.value == 1000 && files.low == 1000 && files.high == 1000);
    assert_true(bytes.value == bytes.low && bytes.value > 1e6 && bytes.value < 1.01e6);
    assert_true(sketch_files(&sketch, 7).value == 1000);
    assert_true(sketch_files(&sketch, 8).value == 0);
    sketch_clear(&sketch);
}

/* Of a hundred independent samples about 95 intervals hold the truth, and memory does not grow. */
static void many_are_estimated(void **state)
{
    unsigned right = 0;

    for (unsigned run = 0; run < 100; run++) {
        const uint64_t first = 1000000ull * (run + 1), count = 3000 + 997 * (uint64_t)run;
        struct sketch sketch = {0};
        struct sketch_estimate files;

        add(&sketch, first, first + count, 0);
        assert_true(sketch.count <= SKETCH_MAX && sketch.shift > 0);
        files = sketch_files(&sketch, 0);
        assert_true(files.high < 1.2 * files.value && files.low > 0.8 * files.value);
        right += files.low <= (double)count && (double)count <= files.high;
        sketch_clear(&sketch);
    }
    assert_true(right >= 88);
}

static void what_several_have_seen_counts_once(void **state)
{
    struct sketch all = {0}, one = {0}, two = {0};

    add(&all, 1, 20000, 0);
    add(&one, 1, 15000, 0);
    add(&two, 5000, 20000, 0);
    assert_int_equal(sketch_merge(&one, &two), 0);
    sketch_raise(&one, all.shift);
    sketch_raise(&all, one.shift);
    assert_int_equal(one.count, all.count);
    for (uint32_t i = 0; i < all.count; i++)
        assert_int_equal(one.files[i].hash, all.files[i].hash);
    sketch_clear(&all);
    sketch_clear(&one);
    sketch_clear(&two);
}

/* Four shards have nearly all bytes of ten thousand files. */
static void large_files_are_not_left_out(void **state)
{
    const uint64_t shard = 128ull << 20;

    for (unsigned plain = 0; plain < 2; plain++) {
        struct sketch sketch = {0}, older = {.shift = 2, .plain = true};
        struct sketch_estimate files, bytes;

        add(&sketch, 1, 10001, 0);
        for (uint64_t n = 20001; n < 20005; n++)
            assert_int_equal(sketch_add(&sketch, &(struct sketch_file){.hash = hash_of(n), .bytes = shard}), 0);
        assert_true(sketch.shift > 0);
        if (plain)
            assert_int_equal(sketch_merge(&sketch, &older), 0);
        assert_int_equal(sketch.plain, plain);
        files = sketch_files(&sketch, 0);
        bytes = sketch_bytes(&sketch, 0);
        assert_true(files.low < 10004 && files.high > 10004 && files.high < 1.2 * files.value);
        if (!plain)
            assert_true(bytes.low > 4.0 * (double)shard && bytes.high < 4.01 * (double)shard + 10e6);
        sketch_clear(&sketch);
    }
}

/* A file that was large, and is in a sample only because of that. */
static void who_shrinks_is_left_out(void **state)
{
    struct sketch_file file = {.hash = 1 << 2, .bytes = 2u << SKETCH_LARGE};
    struct sketch sketch = {.shift = 4};

    assert_int_equal(sketch_add(&sketch, &file), 0);
    assert_int_equal(sketch.count, 1);
    assert_true(sketch_files(&sketch, 0).value == 4);
    file.bytes = 1;
    assert_int_equal(sketch_add(&sketch, &file), 0);
    assert_int_equal(sketch.count, 0);
    sketch_clear(&sketch);
}

static void text_comes_back(void **state)
{
    const char *refused[] = {"",          " 1:2",      "0 ",    "0 1", "0 1:",  "0 g:1",                 "0 1:2 ",
                             "0 2:1 1:1", "0 1:1 1:1", "1 1:1", "41",  "0 A:1", "0 11111111111111111:1", "00",
                             "0 1:01",    "0  1:1",    "0 1:9223372036854775808", "0+ 1:1", "1+ 1:1", "1+1", "+"};
    struct sketch back = {0};

    for (unsigned plain = 0; plain < 2; plain++) {
        struct sketch sketch = {.shift = plain, .plain = plain};
        _cleanup_free_ char *text = NULL, *again = NULL;

        add(&sketch, 1, 5000, 0);
        text = sketch_text(&sketch);
        assert_int_equal(strchr(text, '+') == NULL, plain);
        assert_int_equal(sketch_parse(text, &back), 0);
        assert_int_equal(back.plain, plain);
        again = sketch_text(&back);
        assert_string_equal(text, again);
        sketch_clear(&sketch);
        sketch_clear(&back);
    }
    assert_int_equal(sketch_parse("1+ 1:1048576", &back), 0);
    sketch_clear(&back);
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
        int err = sketch_parse(refused[i], &back);

        assert_true(err == -EINVAL || err == -ERANGE);
        sketch_clear(&back);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_are_known_exactly),
        cmocka_unit_test(many_are_estimated),
        cmocka_unit_test(what_several_have_seen_counts_once),
        cmocka_unit_test(large_files_are_not_left_out),
        cmocka_unit_test(who_shrinks_is_left_out),
        cmocka_unit_test(text_comes_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
