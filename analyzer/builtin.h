/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files of analyzer/profiles as the build put them into the program. */
#ifndef UNBLEND_ANALYZER_BUILTIN_H
#define UNBLEND_ANALYZER_BUILTIN_H

struct builtin_profile {
    const char *name; /* NULL ends the table */
    const char *json;
};

extern const struct builtin_profile builtin_profiles[];

#endif
