/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of lib/option.h share among themselves. */
#ifndef UNBLEND_LIB_OPTION_PRIVATE_H
#define UNBLEND_LIB_OPTION_PRIVATE_H

#include "lib/option.h"

/* Stores a value, which a string option keeps; text NULL sets a flag. 0 or -EINVAL. */
int option_set(const struct option_spec *spec, const char *text);

/* Completes "'x' is ..." for a value that option_set() refused. */
const char *option_wanted(enum option_type type);

static inline bool option_is_foreign(const struct option_program *program, unsigned at)
{
    return program->foreign && program->foreign[at];
}

/* Prints --help to stdout. */
void option_help(const struct option_program *program);

/*
 * Reads a configuration file; given[i] keeps option i as it is. One line on stderr for each bad
 * line, up to 20. Without must_exist a file that is not there is an empty one. 0 or -EINVAL.
 */
int option_file(const struct option_program *program, const char *path, bool must_exist,
                const bool *given);

/* Forgets what option_from() tells. */
void option_forget(void);

#endif
