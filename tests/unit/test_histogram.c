/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#include "lib/cleanup.h"
#include "lib/histogram.h"
#include "lib/order.h"
#include "tests/unit/sample.h"

#define _cleanup_histogram_ _cleanup_(histogram_clear)

static int ascending(const void *a, const void *b)
{
    return ORDER(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* Nearest rank by the book, with whole numbers: the ceil(percent * n / 100)th of the sorted values.
 */
static void check_percentiles(const uint64_t *sorted, size_t n, const struct histogram *h,
                              bool skip_zeros)
{
    uint64_t value;

    for (unsigned percent = 0; percent <= 100; percent++) {
        size_t rank = (percent * n + 99) / 100;

        assert_true(histogram_quantile(h, percent / 100.0, skip_zeros, &value));
        assert_int_equal(value, bucket_lower(bucket_of(sorted[rank ? rank - 1 : 0])));
    }
}

static void quantiles_of_random_data(void **state)
{
    uint64_t random = 42;

    for (unsigned round = 0; round < 200; round++) {
        _cleanup_histogram_ struct histogram h = {0};
        size_t n = 1 + sample_random(&random) % 1500, zeros = 0;
        _cleanup_free_ uint64_t *values = calloc(n, sizeof(*values));

        for (size_t i = 0; i < n; i++) {
            values[i] = sample_random(&random) % 5 ? sample_random(&random) >> (round % 64) : 0;
            assert_int_equal(histogram_add(&h, values[i], 1), 0);
        }
        qsort(values, n, sizeof(*values), ascending);
        while (zeros < n && !values[zeros])
            zeros++;
        assert_int_equal(histogram_count(&h), n);
        assert_int_equal(histogram_zeros(&h), zeros);
        check_percentiles(values, n, &h, false);
        if (zeros < n)
            check_percentiles(values + zeros, n - zeros, &h, true);
    }
}

static void quantiles_by_hand(void **state)
{
    _cleanup_histogram_ struct histogram h = {0};
    uint64_t value = 99;

    assert_false(histogram_quantile(&h, 0.5, false, &value));
    assert_false(histogram_max(&h, &value));
    assert_int_equal(histogram_add(&h, 0, 10), 0);
    assert_false(histogram_quantile(&h, 0.5, true, &value));
    assert_int_equal(value, 99);
    assert_int_equal(histogram_add(&h, 4096, 5), 0);
    assert_int_equal(histogram_add(&h, 98304, 5), 0);
    assert_true(histogram_quantile(&h, 0.5, false, &value));
    assert_int_equal(value, 0);
    assert_true(histogram_quantile(&h, 0.51, false, &value));
    assert_int_equal(value, 4096);
    assert_true(histogram_quantile(&h, 0.5, true, &value));
    assert_int_equal(value, 4096);
    assert_true(histogram_quantile(&h, 1, true, &value));
    assert_int_equal(value, 98304);
    assert_true(histogram_max(&h, &value));
    assert_int_equal(value, 106495);
}

static void cells_stay_sorted_and_sparse(void **state)
{
    _cleanup_histogram_ struct histogram h = {0};
    uint64_t expected[BUCKET_COUNT] = {0}, random = 3;
    unsigned cells = 0;

    for (int i = 0; i < 20000; i++) {
        unsigned bucket = (unsigned)(sample_random(&random) % BUCKET_COUNT);
        uint64_t count = sample_random(&random) % 3;

        assert_int_equal(histogram_add_bucket(&h, bucket, count), 0);
        expected[bucket] += count;
    }
    for (unsigned b = 0; b < BUCKET_COUNT; b++) {
        if (!expected[b])
            continue;
        assert_int_equal(h.cells[cells].bucket, b);
        assert_int_equal(h.cells[cells].count, expected[b]);
        cells++;
    }
    assert_int_equal(h.length, cells);
}

static void merging_is_adding(void **state)
{
    uint64_t random = 9;

    for (int round = 0; round < 500; round++) {
        _cleanup_histogram_ struct histogram a = {0}, b = {0}, both = {0};

        for (uint64_t i = sample_random(&random) % 60; i; i--) {
            uint64_t value = sample_random(&random) >> sample_random(&random) % 64;

            assert_int_equal(histogram_add(i % 3 ? &a : &b, value, i), 0);
            assert_int_equal(histogram_add(&both, value, i), 0);
        }
        assert_int_equal(histogram_merge(&a, &b), 0);
        assert_true(histogram_equal(&a, &both));
        if (b.length)
            assert_int_equal(histogram_add(&b, 1, 1), 0);
    }
}

static void refusals_change_nothing(void **state)
{
    _cleanup_histogram_ struct histogram h = {0}, other = {0}, before = {0};

    assert_int_equal(histogram_add_bucket(&h, BUCKET_COUNT, 1), -EINVAL);
    assert_int_equal(histogram_add_below(&h, JOINT_BUCKETS, JOINT_BUCKETS, 1), -EINVAL);
    assert_int_equal(histogram_add_bucket(&h, 3, (uint64_t)INT64_MAX + 1), -ERANGE);
    assert_int_equal(h.length, 0);
    assert_int_equal(histogram_add_bucket(&h, 3, INT64_MAX), 0);
    assert_int_equal(histogram_add_bucket(&h, 3, 1), -ERANGE);
    assert_int_equal(histogram_merge(&before, &h), 0);
    assert_int_equal(histogram_add_bucket(&other, 1, 1), 0);
    assert_int_equal(histogram_add_bucket(&other, 3, 1), 0);
    assert_int_equal(histogram_merge(&h, &other), -ERANGE);
    assert_true(histogram_equal(&h, &before));
}

static void counts_do_not_wrap(void **state)
{
    _cleanup_histogram_ struct histogram h = {0};
    uint64_t value;

    for (unsigned b = 1; b < 6; b++)
        assert_int_equal(histogram_add_bucket(&h, b, INT64_MAX), 0);
    assert_int_equal(histogram_count(&h), INT64_MAX);
    assert_true(histogram_quantile(&h, 1, false, &value));
    assert_int_equal(value, 5);
}

static void equality(void **state)
{
    _cleanup_histogram_ struct histogram a = {0}, b = {0};

    assert_true(histogram_equal(&a, &b));
    assert_int_equal(histogram_add(&a, 5, 2), 0);
    assert_false(histogram_equal(&a, &b));
    assert_int_equal(histogram_add(&b, 5, 1), 0);
    assert_false(histogram_equal(&a, &b));
    assert_int_equal(histogram_add(&b, 5, 1), 0);
    assert_true(histogram_equal(&a, &b));
    histogram_clear(&b);
    assert_int_equal(histogram_add(&b, 6, 2), 0);
    assert_false(histogram_equal(&a, &b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_of_random_data),
        cmocka_unit_test(quantiles_by_hand),
        cmocka_unit_test(cells_stay_sorted_and_sparse),
        cmocka_unit_test(merging_is_adding),
        cmocka_unit_test(refusals_change_nothing),
        cmocka_unit_test(counts_do_not_wrap),
        cmocka_unit_test(equality),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
