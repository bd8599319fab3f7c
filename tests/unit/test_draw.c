/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/view/draw.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

static void assert_drawn(bool utf8, const char *text, unsigned width, const char *expected, unsigned columns)
{
    char *drawn = NULL;
    size_t size;
    struct pen pen = {.out = open_memstream(&drawn, &size), .utf8 = utf8};

    assert_non_null(pen.out);
    assert_int_equal(draw_text(&pen, text, width), columns);
    (void)fclose(pen.out);
    assert_string_equal(drawn, expected);
    free(drawn);
}

static void text_takes_the_columns_that_a_terminal_gives_it(void **state)
{
    assert_drawn(true, "train", 0, "train", 5);
    assert_drawn(true, "gr\u00f6\u00dfer", 4, "gr\u00f6\u00df", 4);
    assert_drawn(true, "\u8a13\u7df4-a", 0, "\u8a13\u7df4-a", 6);
    assert_drawn(true, "e\u0301tude", 0, "e\u0301tude", 5); /* the accent stands above the e */
    assert_drawn(true, "\U0001f600x", 0, "\U0001f600x", 3);
}

static void a_wide_character_is_not_cut_in_two(void **state)
{
    assert_drawn(true, "\u8a13\u7df4", 4, "\u8a13\u7df4", 4);
    assert_drawn(true, "\u8a13\u7df4", 3, "\u8a13", 2);
    assert_drawn(true, "a\u0301b", 1, "a\u0301", 1);
}

static void what_cannot_be_shown_is_a_question_mark(void **state)
{
    assert_drawn(true, "a\tb\xc2\x85" "c\u202ed", 0, "a?b?c?d", 7);
    assert_drawn(true, "a\tb\xc2\x85" "c\u202ed", 4, "a?b?", 4);
    assert_drawn(false, "\u00e9t", 0, "??t", 3); /* a column a byte, as bytes are all that is known */
    assert_drawn(false, "a\tb", 0, "a?b", 3);
}

/* Neither obeyed nor the end of a line, and a character of several bytes is as wide as it is shown. */
static void a_paragraph_has_no_other_lines_than_its_own(void **state)
{
    const char *const sentences[] = {"no\x1b[31m such\nhook", "gr\u00f6\u00dfe \u202edcba"};
    char *drawn = NULL;
    size_t size;
    struct pen pen = {.out = open_memstream(&drawn, &size), .utf8 = true};

    assert_non_null(pen.out);
    draw_paragraph(&pen, sentences, 2, 2, 18);
    (void)fclose(pen.out);
    assert_string_equal(drawn, "  no?[31m\n  such?hook; gr\u00f6\u00dfe\n  ?dcba\n");
    free(drawn);
}

/* It goes on where its line begins, and a name in it is no less safe for that. */
static void a_draft_is_wrapped_when_it_is_complete(void **state)
{
    char *drawn = NULL;
    size_t size;
    struct pen pen = {.out = open_memstream(&drawn, &size), .utf8 = true, .color = true};
    struct draft draft;

    assert_non_null(pen.out);
    fputs("high ", pen.out);
    draft_begin(&draft, &pen);
    draw_tone(&draft.pen, TONE_BAD);
    draw_text(&draft.pen, "gr\u00f6\u00dfe\n", 0);
    fputs(" of a job", draft.pen.out);
    draft_end(&draft, 5, 5, 14);
    draft_begin(&draft, &pen);
    fputs("a longer_than_its_line word, sure to 74 %", draft.pen.out);
    draft_end(&draft, 0, 2, 16);
    (void)fclose(pen.out);
    assert_string_equal(drawn, "high gr\u00f6\u00dfe? of\n     a job\n  a\n  longer_than_its_line\n  word, sure to\n  74 %\n");
    free(drawn);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_takes_the_columns_that_a_terminal_gives_it),
        cmocka_unit_test(a_wide_character_is_not_cut_in_two),
        cmocka_unit_test(what_cannot_be_shown_is_a_question_mark),
        cmocka_unit_test(a_paragraph_has_no_other_lines_than_its_own),
        cmocka_unit_test(a_draft_is_wrapped_when_it_is_complete),
    };

    if (!setlocale(LC_ALL, "C.UTF-8"))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
