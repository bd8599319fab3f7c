/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/program.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#define TABLE (4 << 20) /* bytes, many more than are read again at once */

/* Not volatile: that would not lie where nothing is written. */
static const unsigned char table[TABLE] = {[0 ... TABLE - 1] = 7};
static volatile unsigned char written[TABLE] = {[0 ... TABLE - 1] = 1};

static unsigned sum_of(const volatile unsigned char *bytes)
{
    unsigned sum = 0;

    for (size_t i = 0; i < TABLE; i++)
        sum += bytes[i];
    return sum;
}

static long resident_kib(void)
{
    FILE *file = fopen("/proc/self/smaps_rollup", "re");
    char line[128];
    long kib = -1;

    assert_non_null(file);
    while (kib < 0 && fgets(line, sizeof(line), file))
        (void)sscanf(line, "Rss: %ld kB", &kib);
    fclose(file);
    assert_true(kib > 0);
    return kib;
}

static void test_what_lies_unused_is_given_back(void **state)
{
    long before;

    (void)state;
    for (size_t i = 0; i < TABLE; i++)
        written[i] = 2;
    assert_int_equal(sum_of(table), 7 * TABLE);
    before = resident_kib();
    program_give_back();
    assert_true(before - resident_kib() >= TABLE / 1024 / 2);
    assert_int_equal(sum_of(table), 7 * TABLE);
    assert_int_equal(sum_of(written), 2 * TABLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_lies_unused_is_given_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
