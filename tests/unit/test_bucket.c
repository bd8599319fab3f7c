/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "lib/bucket.h"
#include "tests/unit/sample.h"

/* The layout as its definition has it: eight equal parts of each octave, one value each below 16.
 */
static uint64_t defined_lower(unsigned bucket)
{
    unsigned octave = bucket / 8, part = bucket % 8;
    uint64_t base = 1;

    if (bucket < 8)
        return bucket;
    for (unsigned i = 0; i < octave + 2; i++)
        base *= 2;
    return base + base / 8 * part;
}

static void every_boundary(void **state)
{
    for (unsigned b = 0; b < BUCKET_COUNT; b++) {
        assert_int_equal(bucket_lower(b), defined_lower(b));
        assert_int_equal(bucket_of(bucket_lower(b)), b);
        assert_int_equal(bucket_of(bucket_last(b)), b);
        if (b)
            assert_int_equal(bucket_last(b - 1) + 1, bucket_lower(b));
    }
    assert_int_equal(BUCKET_COUNT, 496);
    assert_int_equal(bucket_lower(0), 0);
    assert_int_equal(bucket_last(0), 0);
    assert_int_equal(bucket_last(BUCKET_COUNT - 1), UINT64_MAX);
}

static void known_values(void **state)
{
    assert_int_equal(bucket_lower(bucket_of(4096)), 4096);
    assert_int_equal(bucket_lower(bucket_of(98304)), 98304);
    assert_int_equal(bucket_of(4096), 80);
    assert_int_equal(bucket_of(4607), 80);
    assert_int_equal(bucket_of(4608), 81);
    assert_int_equal(bucket_of(UINT64_MAX), 495);
}

static void none_wider_than_an_eighth(void **state)
{
    for (unsigned b = 8; b < BUCKET_COUNT; b++)
        assert_true(bucket_last(b) - bucket_lower(b) < (bucket_lower(b) + 7) / 8);
    for (unsigned b = 0; b < 16; b++)
        assert_int_equal(bucket_lower(b), bucket_last(b));
}

/* Coarse histograms keep octaves: eight buckets from one whose lower bound is a power of two. */
static void octaves_fold(void **state)
{
    for (unsigned b = 8; b < BUCKET_COUNT; b++) {
        uint64_t power = bucket_lower(b & ~7u);

        assert_int_equal(power & (power - 1), 0);
        assert_true(bucket_lower(b) >= power);
        assert_true(bucket_last(b) <= power - 1 + power);
    }
}

static void as_many_as_bits_need(void **state)
{
    for (unsigned bits = 3; bits < 64; bits++)
        assert_int_equal(BUCKETS_FOR_BITS(bits), bucket_of((1ull << bits) - 1) + 1);
    assert_int_equal(BUCKETS_FOR_BITS(64), bucket_of(UINT64_MAX) + 1);
}

static void highest_bit(void **state)
{
    uint64_t random = 1;

    for (unsigned bit = 0; bit < 64; bit++) {
        assert_int_equal(bucket_msb(1ull << bit), bit);
        assert_int_equal(bucket_msb((1ull << bit) | ((1ull << bit) - 1)), bit);
    }
    for (int i = 0; i < 100000; i++) {
        uint64_t value = sample_random(&random) >> (i % 64) | 1;

        assert_int_equal(bucket_msb(value), 63 - __builtin_clzll(value));
    }
}

static void values_lie_in_their_bucket(void **state)
{
    uint64_t random = 7;

    for (int i = 0; i < 1000000; i++) {
        uint64_t value = sample_random(&random) >> (i % 64);
        unsigned bucket = bucket_of(value);

        assert_true(bucket < BUCKET_COUNT);
        assert_true(bucket_lower(bucket) <= value && value <= bucket_last(bucket));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_boundary),
        cmocka_unit_test(known_values),
        cmocka_unit_test(none_wider_than_an_eighth),
        cmocka_unit_test(octaves_fold),
        cmocka_unit_test(as_many_as_bits_need),
        cmocka_unit_test(highest_bit),
        cmocka_unit_test(values_lie_in_their_bucket),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
