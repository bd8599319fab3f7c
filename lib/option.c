/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/option.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "lib/cleanup.h"
#include "lib/log.h"
#include "lib/option_private.h"

/* What getopt_long() returns for a long option: LONG_FIRST + its place, or one of our own. */
enum {
    LONG_HELP = 256,
    LONG_VERSION,
    LONG_CONFIG,
    LONG_FIRST,
};

struct parser {
    const struct option_program *program;
    struct option *table;
    char *letters;
    bool *given;
    const char **text; /* of what is given; NULL for a flag alone */
    const char *config;
};

static void parser_clear(struct parser *p)
{
    free(p->table);
    free(p->letters);
    free(p->given);
    free(p->text);
}

/* The tables of getopt_long() from ours. A flag's value is optional: "--flag=no" undoes the file's.
 */
static int parser_init(struct parser *p)
{
    unsigned count = p->program->count, n = 0;
    char *letter;

    option_forget();
    p->table = calloc(count + 4, sizeof(*p->table));
    p->letters = calloc(2 * count + 3, 1);
    p->given = calloc(count + 1, sizeof(*p->given));
    p->text = calloc(count + 1, sizeof(*p->text));
    if (!p->table || !p->letters || !p->given || !p->text)
        return -ENOMEM;
    letter = stpcpy(p->letters, "+:"); /* stop at the first operand; tell a missing value apart */
    for (unsigned i = 0; i < count; i++) {
        const struct option_spec *spec = &p->program->options[i];
        bool flag = spec->type == OPTION_FLAG || spec->type == OPTION_TIMES;

        if (option_is_foreign(p->program, i))
            continue;
        p->table[n++] = (struct option){spec->name, flag ? optional_argument : required_argument,
                                      NULL, LONG_FIRST + (int)i};
        if (!spec->letter)
            continue;
        *letter++ = spec->letter;
        if (!flag)
            *letter++ = ':';
    }
    p->table[n++] = (struct option){"help", no_argument, NULL, LONG_HELP};
    p->table[n++] = (struct option){"version", no_argument, NULL, LONG_VERSION};
    if (p->program->config)
        p->table[n] = (struct option){"config", required_argument, NULL, LONG_CONFIG};
    return 0;
}

/* The option that getopt_long() speaks of by a letter or by LONG_FIRST and more. */
static int place(const struct parser *p, int value)
{
    if (value >= LONG_FIRST)
        return value - LONG_FIRST;
    for (unsigned i = 0; i < p->program->count; i++)
        if (p->program->options[i].letter == value)
            return (int)i;
    return -ENOENT;
}

/* What was wrong with the last argument, in one line. Always -EINVAL. */
static int complain(const struct parser *p, int result, char **argv)
{
    const char *argument = argv[optind - 1], *name = p->program->name;
    int length = (int)strcspn(argument, "=");

    if (result == ':')
        log_error("option '%s' needs a value: try '%s --help'", argument, name);
    else if (optopt >= LONG_HELP)
        log_error("option '%.*s' takes no value: try '%s --help'", length, argument, name);
    else if (optopt)
        log_error("unknown option '-%c': try '%s --help'", optopt, name);
    else
        log_error("unknown option '%.*s': try '%s --help'", length, argument, name);
    return -EINVAL;
}

/* 0, 1 for --help and --version, -EINVAL (logged). */
static int collect(struct parser *p, int argc, char **argv)
{
    int value, at;

    opterr = 0;
    optind = 0; /* GNU: start over, as several command lines may be parsed in one program */
    while ((value = getopt_long(argc, argv, p->letters, p->table, NULL)) != -1) {
        switch (value) {
        case LONG_HELP:
            option_help(p->program);
            return 1;
        case LONG_VERSION:
            printf("%s %s\n", p->program->name, PACKAGE_VERSION);
            return 1;
        case LONG_CONFIG:
            p->config = optarg;
            break;
        case '?':
        case ':':
            return complain(p, value, argv);
        default:
            at = place(p, value);
            p->given[at] = true;
            p->text[at] = optarg;
            if (p->program->options[at].type == OPTION_TIMES && !optarg)
                (void)option_set(&p->program->options[at], NULL); /* each time counts */
        }
    }
    return 0;
}

static int apply(const struct parser *p)
{
    for (unsigned i = 0; i < p->program->count; i++) {
        const struct option_spec *spec = &p->program->options[i];

        if (p->given[i] && (p->text[i] || spec->type != OPTION_TIMES) && option_set(spec, p->text[i])) {
            log_error("option '--%s': '%s' is %s", spec->name, p->text[i],
                      option_wanted(spec->type));
            return -EINVAL;
        }
    }
    return 0;
}

/* What the command line says goes into the variables, and then what the file says of the others. */
static int settle(const struct parser *p)
{
    const char *config = p->program->config;
    int err = apply(p);

    return err || !config ? err : option_file(p->program, p->config ? p->config : config, p->config != NULL, p->given);
}

static int no_memory(void)
{
    log_error("cannot read the command line: no memory");
    return -EINVAL;
}

int option_parse(const struct option_program *program, int argc, char **argv, int *first)
{
    _cleanup_(parser_clear) struct parser p = {.program = program};
    int operand, result = parser_init(&p) ? no_memory() : collect(&p, argc, argv);

    operand = optind;
    if (!result)
        result = settle(&p);
    if (!result)
        *first = operand;
    return result;
}

int option_parse_mixed(const struct option_program *program, int argc, char **argv, char ***operands, unsigned *count)
{
    _cleanup_(parser_clear) struct parser p = {.program = program};
    _cleanup_free_ char **list = calloc((size_t)argc + 1, sizeof(*list));
    int result = parser_init(&p) || !list ? no_memory() : collect(&p, argc, argv);
    unsigned n = 0;

    while (!result && optind < argc) {
        bool all = optind > 0 && strcmp(argv[optind - 1], "--") == 0;

        /* the operand stands where getopt() expects the program's name */
        argv += optind;
        argc -= optind;
        list[n++] = argv[0];
        while (all && argc > 1) {
            list[n++] = *++argv;
            argc--;
        }
        result = collect(&p, argc, argv);
    }
    if (!result)
        result = settle(&p);
    if (!result) {
        *operands = take_pointer(list);
        *count = n;
    }
    return result;
}
