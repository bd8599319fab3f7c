/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a job did on a volume over time, by kinds that compare: the same operation, of about the same size (the mean of
 * a record; within a factor of 1.5), mostly going on or mostly jumping (stats: by descriptor or by name; opens: of
 * regular files or others), and mostly failing or not. How long operations take at some times and at others is compared
 * kind by kind, and what is expected of each is weighed by how often it was done (direct standardisation): who reads
 * 4 MiB in place of 64 KiB is not slowed down by anybody.
 *
 * Slots are those of the job's busy series (analyzer/series.h), and bounded like it. Memory: 16 bytes for each kind in
 * each slot that had it, KINDS_MAX kinds at most; what is of later ones is not kept, and not compared.
 */
#ifndef UNBLEND_ANALYZER_KINDS_H
#define UNBLEND_ANALYZER_KINDS_H

#include "analyzer/series.h"
#include "lib/record.h"

#define KINDS_MAX 64

struct kind_cell {
    uint64_t slot : 18; /* from kinds.first on */
    uint64_t kind : 6;  /* which of kinds.ids */
    uint64_t ops : 40;
    uint64_t time_ns;
};

/* Zeroed is empty. */
struct kinds {
    uint32_t slot_ms; /* as the series' */
    int64_t first;
    uint16_t ids[KINDS_MAX];
    uint32_t id_count;
    struct kind_cell *cells; /* by slot, then by kind */
    uint32_t count, capacity;
};

/* Adds a record of the file layer, once its interval was added to the busy series. 0 or -ENOMEM. */
int kinds_add(struct kinds *kinds, const struct series *busy, const struct batch *batch, const struct record *record);

enum kinds_side { KINDS_NEITHER, KINDS_ALONE, KINDS_TOGETHER };

/* What is compared with what: windows of window_ms, of which the first holds `from` (ms since 1970). */
struct sides {
    uint32_t window_ms;
    int64_t from;
    const uint8_t *side; /* by window: enum kinds_side */
    size_t count;
    enum operation op; /* OP_NONE: all */
};

/* Of the kinds that were seen on both sides. */
struct contrast {
    double ops, alone_ops; /* so many on either side; 0: nothing compares */
    double all_ops;        /* together, of whichever kind */
    double time_ns;        /* of those together, */
    double expected_ns;    /* and what they would have taken alone */
    uint32_t windows;      /* together, with any of them */
    double doubt; /* half the 95 % interval of expected_ns, as a share of it; NAN: too few windows alone to tell */
};

void kinds_compare(const struct kinds *kinds, const struct sides *sides, struct contrast *out);

void kinds_clear(struct kinds *kinds);

#endif
