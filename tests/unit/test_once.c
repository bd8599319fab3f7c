/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyzer/once.h"

#define KIB 1024
#define MIB 1048576

/* That many files of a size, opened so often each. */
static void opened(struct volume_total *volume, unsigned files, uint64_t bytes, unsigned times)
{
    static uint64_t number;
    struct sketch sketch = {0};

    assert_int_equal(histogram_add(&volume->tally.op[OP_OPEN].size, bytes, (uint64_t)files * times), 0);
    for (unsigned i = 0; i < files; i++)
        assert_int_equal(sketch_add(&sketch, &(struct sketch_file){.hash = ++number << 8, .bytes = bytes}), 0);
    assert_int_equal(working_add(&volume->working, 1000000000, bytes * files, 0, &sketch), 0);
    volume->working.bins[0].opens += (uint64_t)files * times;
    sketch_clear(&sketch);
}

static void clear(struct volume_total *volume)
{
    histogram_clear(&volume->tally.op[OP_OPEN].size);
    working_clear(&volume->working);
}

static void programs_do_not_hide_epochs(void **state)
{
    struct volume_total volume = {0};

    opened(&volume, 1000, 20 * KIB, 2);
    opened(&volume, 60, 10 * MIB, 1); /* what an interpreter loads: most of the bytes, once */
    assert_false(once_opened(&volume, 20 * KIB));
    clear(&volume);
}

static void programs_make_no_epochs(void **state)
{
    struct volume_total volume = {0};

    opened(&volume, 1000, 40 * KIB, 1);
    opened(&volume, 60, 10 * MIB, 10); /* by each of ten processes */
    assert_true(once_opened(&volume, 40 * KIB));
    clear(&volume);
}

static void jobs_are_told_apart_by_size(void **state)
{
    struct volume_total volume = {0};

    opened(&volume, 900, 20 * KIB, 1);
    opened(&volume, 900, 600 * KIB, 3);
    assert_true(once_opened(&volume, 24 * KIB));
    assert_false(once_opened(&volume, 500 * KIB));
    clear(&volume);
}

static void few_or_unknown_files_are_not(void **state)
{
    struct volume_total volume = {0};

    assert_false(once_opened(&volume, 20 * KIB));
    opened(&volume, 50, 20 * KIB, 1);
    assert_false(once_opened(&volume, 20 * KIB));
    assert_false(once_opened(&volume, 0));
    clear(&volume);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_do_not_hide_epochs),
        cmocka_unit_test(programs_make_no_epochs),
        cmocka_unit_test(jobs_are_told_apart_by_size),
        cmocka_unit_test(few_or_unknown_files_are_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
