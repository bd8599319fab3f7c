/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "probe/pressure.h"

static void reads_what_the_kernel_writes(void **state)
{
    struct pressure p = pressure_parse("some avg10=0.87 avg60=1.62 avg300=1.69 total=37110771\n"
                                       "full avg10=0.00 avg60=0.00 avg300=0.00 total=8477599\n");

    assert_true(p.known);
    assert_int_equal(p.some_ns, 37110771000);
    assert_int_equal(p.full_ns, 8477599000);
}

static void nothing_else(void **state)
{
    static const char *const texts[] = {
        "",
        "some",
        "some avg10=0.00 total=1\n",
        "some avg10=0.00\nfull avg10=0.00 total=1\n",
        "some avg10=0.00 total=x\nfull avg10=0.00 total=1\n",
        "some avg10=0.00 total=18446744073709551615\nfull avg10=0.00 total=1\n",
    };

    for (unsigned i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        struct pressure p = pressure_parse(texts[i]);

        assert_false(p.known);
        assert_int_equal(p.some_ns, 0);
    }
}

static void what_came_between(void **state)
{
    const struct pressure before = {true, 100, 50}, now = {true, 170, 50}, unknown = {0};
    struct pressure p = pressure_between(&before, &now);

    assert_true(p.known);
    assert_int_equal(p.some_ns, 70);
    assert_int_equal(p.full_ns, 0);
    assert_false(pressure_between(&now, &before).known);
    assert_false(pressure_between(&unknown, &now).known);
    assert_false(pressure_between(&before, &unknown).known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_the_kernel_writes),
        cmocka_unit_test(nothing_else),
        cmocka_unit_test(what_came_between),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
