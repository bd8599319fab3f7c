/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fits of one mixture that were made already: what comes of one depends on the signatures that take part alone, and the
 * search for profiles comes back to the same ones again and again; so it does to their rows. A zeroed struct is an empty
 * memory.
 */
#ifndef UNBLEND_ANALYZER_FIT_MEMORY_H
#define UNBLEND_ANALYZER_FIT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What unmix() takes and gives, by signature that takes part. */
struct unmixed {
    size_t count;
    const double **rows; /* over the groups; the rows themselves are somebody else's */
    double *amounts, *parts;
};

struct fit {
    bool *chosen; /* by signature: it takes part */
    struct unmixed of;
    bool made;    /* else amounts and parts are not known, */
    double score; /* nor this, but that it is no more */
};

/* Rows over the groups, of all signatures. */
struct row_memory {
    double *rows;
    bool *made; /* by signature */
};

#define FIT_MEMORY_MAX 512 /* what is more is not kept */
#define FIT_MEMORY_CLAIMS 4 /* ways in which signatures that take part claim what matches (analyzer/matching.h) */

struct fit_memory {
    struct fit *fits;
    uint32_t count, capacity;
    struct row_memory rows[FIT_MEMORY_CLAIMS];
};

/* The fit of those signatures, which are `signatures` many with those left out; NULL when it has not been made. The
   memory's, until the next fit_memory_add(). */
struct fit *fit_memory_find(const struct fit_memory *memory, const bool *chosen, size_t signatures);

/* A new one, all of it zero but who takes part. NULL without memory. */
struct fit *fit_memory_add(struct fit_memory *memory, const bool *chosen, size_t signatures, size_t groups);

/* Those that were made while so was claimed, none of them at first. The memory's; NULL without memory. */
struct row_memory *fit_memory_rows(struct fit_memory *memory, unsigned claims, size_t signatures, size_t groups);

void fit_memory_clear(struct fit_memory *memory);

#endif
