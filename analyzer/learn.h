/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile made of what was recorded, and how far it is from those that there are. */
#ifndef UNBLEND_ANALYZER_LEARN_H
#define UNBLEND_ANALYZER_LEARN_H

#include <jansson.h>
#include <stdio.h>

#include "analyzer/aggregate.h"
#include "analyzer/catalogue.h"

/* What is learned from: processes on one volume, or jobs where records hold no processes. */
struct lesson {
    const char *volume; /* NULL until it is chosen: the one with most bytes, or most operations */
    struct behaviour *behaviours;
    uint32_t count, capacity;
    struct tally tally; /* all of them together */
};

/* Takes what is worth learning out of sorted totals, which must outlive it. 0, -ENODATA when there is nothing, -ENOMEM
   or -ERANGE. */
int lesson_take(const struct aggregate *totals, const char *volume, struct lesson *out);
void lesson_clear(struct lesson *lesson);

/* The profile as JSON, see unblend-profile(5). NULL without memory. */
json_t *learn_profile(const struct lesson *lesson, const char *name);

/* A line a profile of the catalogue: what tells the new one from it, or that nothing does. `learned` is the catalogue's
   new profile. */
void learn_compare(const struct lesson *lesson, const struct catalogue *catalogue, const struct profile *learned,
                   FILE *out);

#endif
