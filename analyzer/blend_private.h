/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What blend.c and meetings.c know of a volume that is looked at. */
#ifndef UNBLEND_ANALYZER_BLEND_PRIVATE_H
#define UNBLEND_ANALYZER_BLEND_PRIVATE_H

#include "analyzer/blend.h"

#define BLEND_KINDS 5 /* of enum busy */

/* One job on the volume that is looked at, slot by slot. */
struct guest {
    uint32_t job;
    double *slots[BLEND_KINDS];
    double *bytes; /* read and written */
    uint32_t volume;     /* of the job's */
    const double *times; /* by profile and kind of time */
    const struct spells *spells;
    double total;
    int64_t from, last; /* of its series */
};

struct stage {
    const struct volume_total *volume;
    struct guest *guests;
    uint32_t count, profiles;
    uint32_t slot_ms;
    int64_t from, last;
    size_t slots;
};

/* Adds whom a job has met on the stage. 0 or -ENOMEM. */
int meetings_add(const struct stage *stage, const struct aggregate *totals, uint32_t victim, struct blend *blend);

/* The dearest first, then the longest. */
void meetings_sort(struct blend *blend);

#endif
