/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fits of one mixture that were made already: what comes of one depends on the signatures that take part alone, and the
 * search for profiles comes back to the same ones again and again. A zeroed struct is an empty memory.
 */
#ifndef UNBLEND_ANALYZER_FIT_MEMORY_H
#define UNBLEND_ANALYZER_FIT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fit {
    bool *chosen;             /* by signature: it takes part */
    size_t count;             /* of those that do */
    double *rows;             /* their signatures over the groups, as unmix() takes them */
    double *amounts, *parts;  /* as unmix() gives them */
    bool made; /* else these are not known, */
    double score; /* nor this, but that it is no more */
};

#define FIT_MEMORY_MAX 512 /* what is more is not kept */

struct fit_memory {
    struct fit *fits;
    uint32_t count, capacity;
};

/* The fit of those signatures, which are `signatures` many with those left out; NULL when it has not been made. The
   memory's, until the next fit_memory_add(). */
struct fit *fit_memory_find(const struct fit_memory *memory, const bool *chosen, size_t signatures);

/* A new one, all of it zero but who takes part. NULL without memory. */
struct fit *fit_memory_add(struct fit_memory *memory, const bool *chosen, size_t signatures, size_t groups);

void fit_memory_clear(struct fit_memory *memory);

#endif
