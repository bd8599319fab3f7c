/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names that tell a job: variables of the environment, in the order of their rank, and commands that launch ranks. */
#ifndef UNBLEND_PROBE_NAMES_H
#define UNBLEND_PROBE_NAMES_H

#include <stdbool.h>

#define NAMES_FIRST "UNBLEND_JOB" /* always, and first */
#define NAMES_MAX   32

struct names {
    const char *name[NAMES_MAX + 1]; /* the last one NULL */
    unsigned count;
};

/* A list with commas; first stands before it unless it is NULL, and in front of variables there may be ABI_RANKS in all.
   0, -EINVAL (too many, too long, empty or with a character that no such name has), or -ENOMEM. */
int names_parse(const char *list, const char *first, struct names *out);
void names_clear(struct names *names);

/* Tells the kernel side of the variables and of all launchers; map may be -1. 0 or -errno. */
int names_tell(const struct names *names, int map);

/* Whether a command launches ranks, and as which; and the name that its ranks' job has. NULL: no such number. */
bool names_launcher(const char *command, unsigned *which);
const char *names_launcher_name(unsigned which);

#endif
