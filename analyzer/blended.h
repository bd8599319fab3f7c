/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether one process does what several programs do: it serves them (a FUSE daemon, a file server), or they are its threads.
 * Its figures as a whole then lie within the bounds of one of them, mostly of that which moves most, and hide the others.
 */
#ifndef UNBLEND_ANALYZER_BLENDED_H
#define UNBLEND_ANALYZER_BLENDED_H

#include "analyzer/catalogue.h"
#include "analyzer/feature.h"

/* Of a process that was named, by what it reads and what it writes, or as a whole (NULL for what has no name). 1, 0, or
   -ENOMEM. One that serves a file system does what its clients do: two kinds of reading are two of them there, though one
   program might do both. */
int blended(const struct catalogue *catalogue, const struct tally *tally, bool serves, const struct profile *read,
            const struct profile *written);

#endif
