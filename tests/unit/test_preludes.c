/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Walks that others do first. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyzer/preludes.h"

enum { WALK, READER, WRITER, PROFILES };

static const struct catalogue *catalogue_of_three(void)
{
    static struct profile profiles[PROFILES] = {[WALK] = {.name = "walk", .prelude = true}};
    static const struct catalogue catalogue = {.profiles = profiles, .count = PROFILES};

    return &catalogue;
}

/* A walk with so many stats, two readers that open 3,000 and 1,000 files, and read them in so many blocks. */
static void fill(struct part parts[PROFILES], double stats, double reads)
{
    for (unsigned p = 0; p < PROFILES; p++)
        parts[p] = (struct part){0};
    parts[WALK].ok[OP_STAT] = stats;
    parts[WALK].ok[OP_READDIR] = stats / 10;
    parts[WALK].fit = 0.8 * part_ops(&parts[WALK]);
    parts[READER].ok[OP_OPEN] = 3000;
    parts[WRITER].ok[OP_OPEN] = 1000;
    parts[READER].ok[OP_READ] = parts[READER].read[100] = reads;
    for (unsigned p = READER; p < PROFILES; p++)
        parts[p].fit = 0.9 * part_ops(&parts[p]);
}

static void who_opens_files_has_listed_them(void **state)
{
    struct part parts[PROFILES];

    fill(parts, 6000, 5000); /* 1.5 for each of 4,000 */
    preludes_take(catalogue_of_three(), parts);
    assert_float_equal(part_ops(&parts[WALK]), 0, 0);
    assert_float_equal(parts[READER].ok[OP_STAT], 4500, 1e-9);
    assert_float_equal(parts[WRITER].ok[OP_STAT], 1500, 1e-9);
    assert_float_equal(parts[READER].ok[OP_READDIR], 450, 1e-9);
    assert_float_equal(parts[READER].prelude, 4950, 1e-9);
    assert_int_equal(parts[READER].first, WALK);
    assert_float_equal(parts[READER].fit, 0.9 * part_ops(&parts[READER]), 1e-9);
}

static void more_names_than_that_are_a_walk(void **state)
{
    struct part parts[PROFILES];

    fill(parts, 6001, 5000);
    preludes_take(catalogue_of_three(), parts);
    assert_float_equal(parts[WALK].ok[OP_STAT], 6001, 0);
    assert_float_equal(parts[READER].ok[OP_STAT] + parts[READER].prelude, 0, 0);
    fill(parts, 4000, 5000);
    parts[WALK].failed[OP_STAT] = 1000;
    parts[WALK].ok[OP_SETATTR] = 1001;
    preludes_take(catalogue_of_three(), parts);
    assert_float_equal(parts[WALK].ok[OP_STAT], 4000, 0);
}

/* Who reads a few large files may have looked for them among many. */
static void little_is_anybodys(void **state)
{
    struct part parts[PROFILES];

    fill(parts, 4500, 8000);
    parts[READER].ok[OP_OPEN] = parts[WRITER].ok[OP_OPEN] = 0;
    parts[WRITER].ok[OP_WRITE] = 2000;
    preludes_take(catalogue_of_three(), parts);
    assert_float_equal(parts[READER].ok[OP_STAT], 3600, 1e-9); /* by operations, where nobody opens a file */
    assert_float_equal(parts[WRITER].ok[OP_STAT], 900, 1e-9);
    fill(parts, 4500, 800);
    parts[READER].ok[OP_OPEN] = parts[WRITER].ok[OP_OPEN] = 10;
    preludes_take(catalogue_of_three(), parts);
    assert_float_equal(parts[WALK].ok[OP_STAT], 4500, 0); /* more than all else */
}

static void what_removes_names_is_nobodys(void **state)
{
    struct part parts[PROFILES];

    fill(parts, 1000, 5000);
    parts[WALK].ok[OP_UNLINK] = 60;
    preludes_take(catalogue_of_three(), parts);
    assert_float_equal(parts[WALK].ok[OP_STAT], 1000, 0);
}

static void a_walk_alone_stays(void **state)
{
    struct part parts[PROFILES] = {0};

    parts[WALK].ok[OP_STAT] = 1000;
    preludes_take(catalogue_of_three(), parts);
    assert_float_equal(parts[WALK].ok[OP_STAT], 1000, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_opens_files_has_listed_them),
        cmocka_unit_test(more_names_than_that_are_a_walk),
        cmocka_unit_test(little_is_anybodys),
        cmocka_unit_test(what_removes_names_is_nobodys),
        cmocka_unit_test(a_walk_alone_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
