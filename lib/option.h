/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One table of options feeds getopt_long, --help and the configuration file. Values go straight into
 * the caller's variables. A configuration file has "name = value" lines under the same long names
 * ("#" at the start of a word begins a comment; a flag is "name" or "name = yes"); what the command line says
 * wins, "--flag=no" too. A file is a MiB at most.
 */
#ifndef UNBLEND_LIB_OPTION_H
#define UNBLEND_LIB_OPTION_H

#include <stdbool.h>
#include <stdint.h>

enum option_type {
    OPTION_FLAG,     /* bool */
    OPTION_TIMES,    /* uint64_t: how often the flag is given (-qq), or a number (--quiet=2) */
    OPTION_STRING,   /* const char *; points into argv or is never freed */
    OPTION_COUNT,    /* uint64_t, a whole number */
    OPTION_DURATION, /* uint64_t ns; ms, s, m, h, d; a bare number is seconds, fractions are fine */
    OPTION_SIZE,     /* uint64_t bytes; K, M, G, T (binary) */
    OPTION_PERCENT,  /* uint64_t millionths of the whole, from 0 to 100 %; fractions are fine */
};

struct option_spec {
    const char *name;     /* long name */
    char letter;          /* 0 for none */
    enum option_type type;
    const char *argument; /* shown in --help; NULL for flags */
    void *value;
    const char *help;
};

struct option_program {
    const char *name;     /* as in "unblend report" */
    const char *usage;    /* what follows the name in the usage line */
    const char *summary;  /* one sentence */
    const struct option_spec *options;
    unsigned count;
    const char *config;   /* default configuration file, NULL for none; --config is then added */
    const bool *foreign;  /* of each option whether only the file may hold it, for other commands; NULL: none */
};

/*
 * Parses argv. 0 with *first the index of the first operand (parsing stops at "--" and at the first
 * operand); 1 when --help or --version was printed; -EINVAL after one line on stderr (exit 2).
 */
int option_parse(const struct option_program *program, int argc, char **argv, int *first);

/* The same for commands whose operands may stand between the options. *operands (malloc'ed, pointing into argv) and
   *count are set on 0 only. */
int option_parse_mixed(const struct option_program *program, int argc, char **argv, char ***operands, unsigned *count);

/*
 * Where the variable of an option has its value from: "FILE:LINE: " of a configuration file, or "". To begin a
 * complaint about the value with, so that it is found; it stays true until options are parsed again.
 */
const char *option_from(const void *value);

/* The values alone. 0 or -EINVAL; *out only on success. */
int option_duration(const char *text, uint64_t *ns);
int option_size(const char *text, uint64_t *bytes);
int option_count(const char *text, uint64_t *count);
int option_percent(const char *text, uint64_t *millionths);

#endif
