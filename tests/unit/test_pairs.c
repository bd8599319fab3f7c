/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The two short forms of a histogram: text for the wire, bytes for the database. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/codec.h"
#include "tests/unit/sample.h"

#define _cleanup_histogram_ _cleanup_(histogram_clear)

static void text_by_hand(void **state)
{
    _cleanup_histogram_ struct histogram h = {0}, again = {0};
    _cleanup_free_ char *empty = codec_histogram_encode(&h), *text = NULL;

    assert_string_equal(empty, "");
    assert_int_equal(histogram_add_bucket(&h, 72, 3), 0);
    assert_int_equal(histogram_add_bucket(&h, 80, 1), 0);
    assert_int_equal(histogram_add_bucket(&h, 0, INT64_MAX - 4), 0);
    text = codec_histogram_encode(&h);
    assert_string_equal(text, "0:9223372036854775803 72:3 8");
    assert_int_equal(codec_histogram_decode(text, &again), 0);
    assert_true(histogram_equal(&h, &again));
    assert_int_equal(codec_histogram_decode("", &again), 0);
    assert_true(histogram_equal(&h, &again));
}

static void bytes_by_hand(void **state)
{
    static const unsigned char expected[] = {0, 1, 72, 0x80, 1, 0x87, 3, 0xff, 0xff, 3};
    _cleanup_histogram_ struct histogram h = {0}, again = {0};
    _cleanup_free_ unsigned char *empty = NULL, *data = NULL;
    size_t size = 99;

    empty = codec_histogram_pack(&h, &size);
    assert_non_null(empty);
    assert_int_equal(size, 0);
    assert_int_equal(histogram_add_bucket(&h, 0, 1), 0);
    assert_int_equal(histogram_add_bucket(&h, 72, 128), 0);
    assert_int_equal(histogram_add_bucket(&h, 72 + 391, 65535), 0);
    data = codec_histogram_pack(&h, &size);
    assert_int_equal(size, sizeof(expected));
    assert_memory_equal(data, expected, size);
    assert_int_equal(codec_histogram_unpack(data, size, &again), 0);
    assert_true(histogram_equal(&h, &again));
}

static void random_histograms_come_back(void **state)
{
    uint64_t random = 77;

    for (int round = 0; round < 3000; round++) {
        _cleanup_histogram_ struct histogram h = {0}, text_again = {0}, bytes_again = {0};
        _cleanup_free_ char *text = NULL;
        _cleanup_free_ unsigned char *bytes = NULL;
        size_t size;

        for (uint64_t i = sample_random(&random) % 40; i; i--)
            assert_int_equal(histogram_add(&h,
                                           sample_random(&random) >> sample_random(&random) % 64,
                                           sample_random(&random) >> (10 + i)),
                             0);
        text = codec_histogram_encode(&h);
        bytes = codec_histogram_pack(&h, &size);
        assert_int_equal(codec_histogram_decode(text, &text_again), 0);
        assert_int_equal(codec_histogram_unpack(bytes, size, &bytes_again), 0);
        assert_true(histogram_equal(&h, &text_again));
        assert_true(histogram_equal(&h, &bytes_again));
    }
}

static void text_is_read_strictly(void **state)
{
    static const struct {
        const char *text;
        int err;
    } cases[] = {
        {"5:1", 0}, /* a count of 1 may stand there */
        {"0 1 1", 0},
        {"495:9223372036854775807", 0},
        {" ", -EINVAL},
        {" 5", -EINVAL},
        {"5 ", -EINVAL},
        {"5  6", -EINVAL},
        {"5\t6", -EINVAL},
        {"5:", -EINVAL},
        {":5", -EINVAL},
        {"5:0", -EINVAL},
        {"05", -EINVAL},
        {"5:01", -EINVAL},
        {"+5", -EINVAL},
        {"-5", -EINVAL},
        {"5:-1", -EINVAL},
        {"5 0", -EINVAL},
        {"5,6", -EINVAL},
        {"5:1:1", -EINVAL},
        {"0x5", -EINVAL},
        {"5.0", -EINVAL},
        {"five", -EINVAL},
        {"496", -ERANGE},
        {"495 1", -ERANGE},
        {"18446744073709551621", -ERANGE},
        {"5:9223372036854775808", -ERANGE},
        {"5:18446744073709551617", -ERANGE},
        {"5:9223372036854775807 1", -ERANGE},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        _cleanup_histogram_ struct histogram h = {0};

        if (codec_histogram_decode(cases[i].text, &h) != cases[i].err)
            fail_msg("\"%s\"", cases[i].text);
        if (cases[i].err)
            assert_int_equal(h.length, 0);
    }
}

static void bytes_are_read_strictly(void **state)
{
    static const struct {
        unsigned char data[12];
        size_t size;
        int err;
    } cases[] = {
        {{0xef, 3, 1}, 3, 0},                                      /* bucket 495 */
        {{0xf0, 3, 1}, 3, -ERANGE},                                /* and 496 */
        {{0}, 1, -EINVAL},                                         /* no count */
        {{5, 0}, 2, -EINVAL},                                      /* a count of 0 */
        {{5, 1, 0, 1}, 4, -EINVAL},                                /* the same bucket again */
        {{0x80}, 1, -EINVAL},                                      /* cut off */
        {{5, 0x81, 0}, 3, -EINVAL},                                /* longer than it need be */
        {{5, 255, 255, 255, 255, 255, 255, 255, 255, 127}, 10, 0}, /* 2^63 - 1 */
        {{5, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1}, 11, -ERANGE},
        {{5, 255, 255, 255, 255, 255, 255, 255, 255, 127, 1, 1}, 12, -ERANGE}, /* the sum */
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        _cleanup_histogram_ struct histogram h = {0};

        if (codec_histogram_unpack(cases[i].data, cases[i].size, &h) != cases[i].err)
            fail_msg("case %zu", i);
        assert_int_equal(h.length, cases[i].err ? 0 : 1);
    }
}

static void decoding_adds_all_or_nothing(void **state)
{
    _cleanup_histogram_ struct histogram h = {0};

    assert_int_equal(codec_histogram_decode("5:2 1", &h), 0);
    assert_int_equal(codec_histogram_decode("6:3 1", &h), 0);
    assert_int_equal(h.length, 3);
    assert_int_equal(h.cells[1].count, 4);
    assert_int_equal(codec_histogram_decode("7:3 x", &h), -EINVAL);
    assert_int_equal(codec_histogram_decode("4 1:9223372036854775807", &h), -ERANGE);
    assert_int_equal(h.length, 3);
    assert_int_equal(histogram_count(&h), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_by_hand),
        cmocka_unit_test(bytes_by_hand),
        cmocka_unit_test(random_histograms_come_back),
        cmocka_unit_test(text_is_read_strictly),
        cmocka_unit_test(bytes_are_read_strictly),
        cmocka_unit_test(decoding_adds_all_or_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
