/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/option_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define WIDTH      100
#define COLUMN_MAX 34 /* longer names have their help on the next line */

static void format_duration(uint64_t ns, char *to, size_t size)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"d", 86400 * 1000000000ull},
                 {"h", 3600 * 1000000000ull},
                 {"m", 60 * 1000000000ull},
                 {"s", 1000000000},
                 {"ms", 1000000}};

    for (unsigned i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (ns % units[i].ns == 0) {
            snprintf(to, size, "%" PRIu64 "%s", ns / units[i].ns, units[i].name);
            return;
        }
    snprintf(to, size, "%.9gs", (double)ns / 1e9);
}

static void format_size(uint64_t bytes, char *to, size_t size)
{
    unsigned unit = 0;

    while (unit < 4 && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    snprintf(to, size, "%" PRIu64 "%.1s", bytes, &"\0KMGT"[unit]);
}

/* What the variable holds before anything was parsed. 0, false, none and "no limit" say nothing. */
static void format_default(const struct option_spec *spec, char *to, size_t size)
{
    char value[256] = "";

    if (spec->type == OPTION_STRING) {
        const char *text = *(const char *const *)spec->value;

        snprintf(value, sizeof(value), "%s", text ? text : "");
    } else if (spec->type != OPTION_FLAG && spec->type != OPTION_TIMES) {
        uint64_t number = *(const uint64_t *)spec->value;

        if (!number || number >= INT64_MAX)
            value[0] = '\0';
        else if (spec->type == OPTION_DURATION)
            format_duration(number, value, sizeof(value));
        else if (spec->type == OPTION_SIZE)
            format_size(number, value, sizeof(value));
        else if (spec->type == OPTION_PERCENT)
            snprintf(value, sizeof(value), "%g", (double)number / 1e4);
        else
            snprintf(value, sizeof(value), "%" PRIu64, number);
    }
    *to = '\0';
    if (*value)
        snprintf(to, size, " (default %s)", value);
}

static int left_column(const struct option_spec *spec, char *to, size_t size)
{
    char letter[5] = "    ";

    if (spec->letter)
        snprintf(letter, sizeof(letter), "-%c, ", spec->letter);
    return snprintf(to, size, "  %s--%s%s%s", letter, spec->name, spec->argument ? " " : "",
                    spec->argument ? spec->argument : "");
}

/* Words from the column on, with line breaks between them where the width ends. */
static void print_wrapped(const char *text, int column)
{
    int at = column;

    while (*text) {
        int length = (int)strcspn(text, " ");

        if (at > column && at + 1 + length > WIDTH) {
            printf("\n%*s", column, "");
            at = column;
        } else if (at > column) {
            putchar(' ');
            at++;
        }
        printf("%.*s", length, text);
        at += length;
        text += length;
        text += strspn(text, " ");
    }
    putchar('\n');
}

static void print_option(const struct option_spec *spec, int column)
{
    char left[128], value[288], help[1024];
    int length = left_column(spec, left, sizeof(left));

    format_default(spec, value, sizeof(value));
    snprintf(help, sizeof(help), "%s%s", spec->help, value);
    if (length + 2 <= column)
        printf("%-*s", column, left);
    else
        printf("%s\n%*s", left, column, "");
    print_wrapped(help, column);
}

void option_help(const struct option_program *program)
{
    bool flag;
    const struct option_spec own[] = {
        {"config", 0, OPTION_STRING, "FILE", (void *)&program->config,
         "read options from this file; the command line wins"},
        {"help", 0, OPTION_FLAG, NULL, &flag, "print this and exit"},
        {"version", 0, OPTION_FLAG, NULL, &flag, "print the version and exit"},
    };
    char left[128];
    int column = 0;

    for (unsigned i = 0; i < program->count; i++) {
        int length = left_column(&program->options[i], left, sizeof(left)) + 2;

        if (!option_is_foreign(program, i) && length > column && length <= COLUMN_MAX)
            column = length;
    }
    for (unsigned i = 0; i < 3; i++)
        if (left_column(&own[i], left, sizeof(left)) + 2 > column)
            column = left_column(&own[i], left, sizeof(left)) + 2;
    printf("Usage: %s%s%s\n", program->name, *program->usage ? " " : "", program->usage);
    print_wrapped(program->summary, 0);
    putchar('\n');
    for (unsigned i = 0; i < program->count; i++)
        if (!option_is_foreign(program, i))
            print_option(&program->options[i], column);
    for (unsigned i = program->config ? 0 : 1; i < 3; i++)
        print_option(&own[i], column);
}
