/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is fitted, and what is handed out afterwards, by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "analyzer/companions.h"
#include "analyzer/unmix.h"

static void unmixing_by_hand(void **state)
{
    /* 100 of (1/2, 1/2, 0) and 40 of (0, 0, 1), and 500 of what neither knows */
    const double observed[] = {50, 50, 40, 500};
    const double *const signatures[] = {(const double[]){0.5, 0.5, 0, 0}, (const double[]){0, 0, 1, 0}};
    double amounts[2], parts[8], score;

    assert_int_equal(unmix(&(struct unmixing){observed, 4, 4, signatures, 2}, UNMIX_FINE, -INFINITY, amounts, parts,
                           &score), 0);
    assert_true(fabs(amounts[0] - 100) < 1 && fabs(amounts[1] - 40) < 1);
    assert_true(fabs(parts[0] - 50) < 0.5 && fabs(parts[1] - 50) < 0.5);
    assert_true(fabs(parts[6] - 40) < 0.5);
    assert_true(parts[3] == 0 && parts[7] == 0);
}

/* A fit is left as soon as it is sure that it does not pass the floor, and only then. */
static void a_floor_is_sure(void **state)
{
    const double observed[] = {50, 50, 40, 500};
    const double *const signatures[] = {(const double[]){0.5, 0.5, 0, 0}, (const double[]){0, 0, 1, 0},
                                        (const double[]){0.2, 0.2, 0.6, 0}};
    struct unmixing of = {observed, 4, 4, signatures, 3};
    double amounts[3], parts[12], again[3], best, score = NAN;

    assert_int_equal(unmix(&of, UNMIX_FINE, -INFINITY, amounts, parts, &best), 0);
    for (double below = 1e-6; below < 1000; below *= 10) {
        assert_int_equal(unmix(&of, UNMIX_FINE, best - below, again, parts, &score), 0);
        assert_true(score == best);
        assert_memory_equal(again, amounts, sizeof(amounts));
    }
    score = NAN;
    assert_int_equal(unmix(&of, UNMIX_FINE, best + 1, again, parts, &score), 1);
    assert_int_equal(unmix(&of, UNMIX_FINE, best + 1000, again, parts, &score), 1);
    assert_true(isnan(score));
}

/* Patterns get what may go with them of what nobody explains, and no more than there is; how well they fit stays. */
static void companions_take_what_is_left(void **state)
{
    static struct companion of_reads[] = {{OP_SEEK, COMPANION_OK, OP_READ, 3}, {OP_READ, COMPANION_EMPTY, OP_READ, 0.5}};
    static struct companion of_opens[] = {{OP_SEEK, COMPANION_OK, OP_OPEN, 1}, {OP_STAT, COMPANION_FAILED, OP_OPEN, 4}};
    struct profile profiles[] = {{.companions = of_reads, .companion_count = 2},
                                 {.companions = of_opens, .companion_count = 2},
                                 {.companions = of_opens, .companion_count = 2}};
    const struct catalogue of = {.profiles = profiles, .count = 3};
    struct part parts[3] = {{.fit = 90}, {.fit = 200, .contested = 50}}, rest = {0};

    parts[0].ok[OP_READ] = 120; /* 20 of them read nothing */
    parts[0].read[0] = 20;
    parts[0].read[100] = 100;
    parts[1].ok[OP_OPEN] = 200;
    rest.ok[OP_SEEK] = 1000;
    rest.failed[OP_STAT] = 300;
    rest.ok[OP_STAT] = 70;
    rest.ok[OP_READ] = rest.read[0] = 60;
    companions_take(&of, &rest, parts);
    assert_true(parts[0].ok[OP_SEEK] == 300 && parts[0].ok[OP_READ] == 170 && parts[0].read[0] == 70);
    assert_true(parts[1].ok[OP_SEEK] == 200 && parts[1].failed[OP_STAT] == 300);
    assert_true(rest.ok[OP_SEEK] == 500 && rest.ok[OP_STAT] == 70 && rest.ok[OP_READ] == 10 && rest.read[0] == 10);
    assert_true(rest.failed[OP_STAT] == 0 && part_ops(&parts[2]) == 0);
    assert_float_equal(parts[0].fit / part_ops(&parts[0]), 90.0 / 120, 1e-9);
    assert_float_equal(parts[1].contested / part_ops(&parts[1]), 50.0 / 200, 1e-9);

    parts[0] = parts[1] = (struct part){0};
    parts[0].ok[OP_READ] = parts[0].read[100] = 100;
    parts[1].ok[OP_OPEN] = 100;
    rest.ok[OP_SEEK] = 200; /* of the 400 that they may have */
    companions_take(&of, &rest, parts);
    assert_float_equal(parts[0].ok[OP_SEEK], 150, 1e-9);
    assert_float_equal(parts[1].ok[OP_SEEK], 50, 1e-9);
    assert_float_equal(rest.ok[OP_SEEK], 0, 1e-9);
}

/* Who reads small files has no seeks in large ones beside it; of what is no file anybody may have some. */
static void companions_are_of_the_files_that_are_read(void **state)
{
    static struct signature small = {.files_lower = 1, .files_upper = 131072};
    static struct signature large = {.files_lower = 4194304, .files_upper = UINT64_MAX};
    static struct companion of_reads[] = {{OP_SEEK, COMPANION_OK, OP_READ, 5}};
    struct profile profiles[] = {
        {.companions = of_reads, .companion_count = 1, .signatures = &small, .signature_count = 1},
        {.companions = of_reads, .companion_count = 1, .signatures = &large, .signature_count = 1}};
    const struct catalogue of = {.profiles = profiles, .count = 2};
    struct part parts[2] = {0}, rest = {0};

    for (unsigned p = 0; p < 2; p++)
        parts[p].ok[OP_READ] = parts[p].read[100] = 100;
    rest.ok[OP_SEEK] = 420;
    rest.of_files[OP_SEEK][FILE_SMALL] = 300;
    rest.of_files[OP_SEEK][FILE_SIZES] = 120; /* of none */
    companions_take(&of, &rest, parts);
    assert_float_equal(parts[0].ok[OP_SEEK], 300 + 60, 1e-9);
    assert_float_equal(parts[1].ok[OP_SEEK], 60, 1e-9);
    assert_float_equal(rest.ok[OP_SEEK], 0, 1e-9);
}

/* Modules of some 100 KiB go with opens, data of 8 MiB does not. */
static void companions_read_little(void **state)
{
    static struct companion of_opens[] = {{OP_READ, COMPANION_OK, OP_OPEN, 0.02}};
    struct profile profile = {.companions = of_opens, .companion_count = 1};
    const struct catalogue of = {.profiles = &profile, .count = 1};
    struct bin small = {.op = OP_READ, .bucket = bucket_of(704 * 1024), .ops = 40};
    struct bin large = {.op = OP_READ, .bucket = bucket_of(8 << 20), .ops = 100};
    struct part part = {.fit = 900}, rest = {0};
    double bytes;

    part.ok[OP_OPEN] = 1000;
    small.bytes = small.ops * bucket_middle(small.bucket);
    large.bytes = large.ops * bucket_middle(large.bucket);
    part_add_bin(&rest, &small, small.ops);
    part_add_bin(&rest, &large, large.ops);
    bytes = part_bytes(&rest);
    companions_take(&of, &rest, &part);
    assert_float_equal(part.ok[OP_READ], 20, 1e-9);
    assert_float_equal(part.read[small.bucket], 20, 1e-9);
    assert_float_equal(part.bytes[OP_READ], small.bytes / 2, 1e-3);
    assert_float_equal(rest.ok[OP_READ], 120, 1e-9);
    assert_float_equal(rest.read[large.bucket], 100, 1e-9);
    assert_float_equal(part_bytes(&rest) + part_bytes(&part), bytes, 1e-3);
}

/* So little is shared out, by operations and by bytes; not more, and not what is nobody's. */
static void a_little_that_is_left_goes_with_what_was_found(void **state)
{
    struct profile profiles[2] = {0};
    const struct catalogue of = {.profiles = profiles, .count = 2};

    for (unsigned found = 0; found < 2; found++)
        for (unsigned left = 90; left <= 150; left += 60) {
            struct part parts[2] = {0}, rest = {0};

            parts[0].ok[OP_READ] = parts[0].read[100] = 750 * found;
            parts[0].bytes[OP_READ] = 1e6 * found;
            parts[1].ok[OP_STAT] = 250 * found;
            parts[0].fit = 675 * found;
            rest.ok[OP_SETATTR] = left - 10;
            rest.ok[OP_READ] = rest.read[20] = 10;
            rest.filled = 21;
            rest.bytes[OP_READ] = 1000;
            companions_take_little(&of, &rest, parts);
            if (found && left == 90) {
                assert_float_equal(parts[0].ok[OP_SETATTR], 60, 1e-9);
                assert_float_equal(parts[0].read[20], 10, 1e-9); /* the other reads nothing */
                assert_float_equal(parts[0].bytes[OP_READ], 1e6 + 1000, 1e-6); /* the other has moved none */
                assert_float_equal(parts[0].given + parts[1].given, left, 1e-9);
                assert_float_equal(parts[0].fit / part_ops(&parts[0]), 0.9, 1e-9);
                assert_true(part_ops(&rest) == 0 && part_bytes(&rest) == 0);
            } else {
                assert_true(part_ops(&rest) == left && parts[0].given == 0 && parts[1].given == 0);
            }
        }
}

/* A small part next to a large unknown is still found. */
static void a_trace_is_not_drowned(void **state)
{
    const double observed[] = {20, 1000000};
    const double *const signatures[] = {(const double[]){1, 0}};
    double amounts[1], parts[2], score;

    assert_int_equal(unmix(&(struct unmixing){observed, 2, 2, signatures, 1}, UNMIX_FINE, -INFINITY, amounts, parts,
                           &score), 0);
    assert_true(fabs(parts[0] - 20) < 0.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unmixing_by_hand),
        cmocka_unit_test(a_floor_is_sure),
        cmocka_unit_test(companions_take_what_is_left),
        cmocka_unit_test(companions_are_of_the_files_that_are_read),
        cmocka_unit_test(companions_read_little),
        cmocka_unit_test(a_little_that_is_left_goes_with_what_was_found),
        cmocka_unit_test(a_trace_is_not_drowned),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
