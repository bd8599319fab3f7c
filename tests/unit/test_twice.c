/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "analyzer/twice.h"

static struct batch numbered(const char *node, const char *stream, uint64_t seq)
{
    return (struct batch){.cluster = "c1", .node = node, .stream = stream, .seq = seq};
}

static int look(struct twice *twice, unsigned input, const char *stream, uint64_t seq)
{
    struct batch batch = numbered("n1", stream, seq);
    unsigned other = 99;
    int got = twice_look(twice, input, &batch, &other);

    assert_in_range(got, 0, 1);
    assert_true(got == 0 ? other == 99 : other != input);
    return got;
}

static void a_copy_is_told(void **state)
{
    struct twice twice = {0};

    for (uint64_t seq = 0; seq < 10; seq++)
        assert_int_equal(look(&twice, 0, "aa", seq), 0);
    assert_int_equal(look(&twice, 1, "aa", 4), 1);
    assert_int_equal(look(&twice, 1, "bb", 4), 0);
    assert_int_equal(look(&twice, 0, "bb", 5), 0);
    assert_int_equal(look(&twice, 2, "bb", 5), 1);
    twice_clear(&twice);
}

/* One recording cut in two, or one that two programs kept in turn. */
static void parts_of_a_stream_are_no_copies(void **state)
{
    struct twice twice = {0};

    for (uint64_t seq = 0; seq < 1000; seq++)
        assert_int_equal(look(&twice, seq / 10 % 2, "aa", seq), 0);
    for (uint64_t seq = 0; seq < 1000; seq++)
        assert_int_equal(look(&twice, 2, "aa", seq), 1);
    twice_clear(&twice);
}

static void another_node_or_no_stream_is_something_else(void **state)
{
    const struct batch first = numbered("n1", "aa", 1), elsewhere = numbered("n2", "aa", 1);
    const struct batch unnamed = numbered("n1", "", 1), none = numbered("n1", NULL, 1);
    struct twice twice = {0};
    unsigned other;

    for (unsigned input = 0; input < 2; input++) {
        assert_int_equal(twice_look(&twice, input, &unnamed, &other), 0);
        assert_int_equal(twice_look(&twice, input, &none, &other), 0);
    }
    assert_int_equal(twice_look(&twice, 0, &first, &other), 0);
    assert_int_equal(twice_look(&twice, 1, &elsewhere, &other), 0);
    twice_clear(&twice);
}

/* Backwards, and with holes that are filled later: one run is left. */
static void numbers_may_come_in_any_order(void **state)
{
    struct twice twice = {0};

    for (uint64_t seq = 1000; seq > 0; seq -= 2)
        assert_int_equal(look(&twice, 0, "aa", seq), 0);
    assert_int_equal(look(&twice, 1, "aa", 501), 0);
    for (uint64_t seq = 1; seq < 1000; seq += 2)
        assert_int_equal(look(&twice, 0, "aa", seq), seq == 501);
    assert_int_equal(look(&twice, 1, "aa", 1000), 1);
    assert_int_equal(look(&twice, 1, "aa", 1), 1);
    assert_int_equal(look(&twice, 1, "aa", 1001), 0);
    twice_clear(&twice);
}

static void what_one_holds_twice_is_told(void **state)
{
    const struct batch batch = numbered("n1", "aa", 7);
    struct twice twice = {0};
    unsigned other = 99;

    assert_int_equal(twice_look(&twice, 3, &batch, &other), 0);
    assert_int_equal(other, 99);
    assert_int_equal(twice_look(&twice, 3, &batch, &other), 1);
    assert_int_equal(other, 3);
    twice_clear(&twice);
}

/* How many of a range of n1's stream were said before. */
static uint64_t said(struct twice *twice, const char *stream, uint64_t first, uint64_t last)
{
    const struct batch batch = numbered("n1", "", 0);
    const struct dropped range = {.stream = stream, .first = first, .last = last};
    uint64_t known = 99;

    assert_int_equal(twice_dropped(twice, &batch, &range, &known), 0);
    return known;
}

static void ranges_are_said_once(void **state)
{
    struct twice twice = {0};

    assert_int_equal(said(&twice, "aa", 100, 104), 0);
    assert_int_equal(said(&twice, "aa", 100, 104), 5);
    assert_int_equal(said(&twice, "bb", 100, 104), 0);
    assert_int_equal(said(&twice, "aa", 0, 0), 0);
    assert_int_equal(said(&twice, "aa", 110, 119), 0);
    assert_int_equal(said(&twice, "aa", 103, 111), 4); /* 103, 104, 110, 111 */
    assert_int_equal(said(&twice, "aa", 100, 119), 20);
    assert_int_equal(said(&twice, "aa", 0, 200), 21);
    assert_int_equal(said(&twice, "aa", 201, UINT64_MAX), 0);
    assert_int_equal(said(&twice, "aa", 5, 5), 1);
    twice_clear(&twice);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_is_told),
        cmocka_unit_test(parts_of_a_stream_are_no_copies),
        cmocka_unit_test(another_node_or_no_stream_is_something_else),
        cmocka_unit_test(what_one_holds_twice_is_told),
        cmocka_unit_test(ranges_are_said_once),
        cmocka_unit_test(numbers_may_come_in_any_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
