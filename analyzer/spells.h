/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When processes did what they were judged to do: a job whose processes come one after the other does one thing at a time,
 * though its totals know of several. Of each process it is only known when it was there, and the middle and the spread of
 * its reading, its writing and its metadata (analyzer/presence.h): in between its time is taken to be even.
 */
#ifndef UNBLEND_ANALYZER_SPELLS_H
#define UNBLEND_ANALYZER_SPELLS_H

#include "analyzer/aggregate.h"

struct spell {
    const struct unit *unit; /* whose; only to tell one from another */
    uint32_t volume, profile; /* of the job's; of the catalogue's, or its count: unknown */
    int64_t first_ns, last_ns; /* the middles of its first and last interval */
    double times[BUSY_KINDS];  /* ns inside operations, */
    struct {
        int64_t first_ns, last_ns; /* as if all were between the middles of these */
    } span[BUSY_KINDS];
};

/* A zeroed struct is an empty one. */
struct spells {
    struct spell *list;
    uint32_t count, capacity;
};

/* What a process did on a volume of its job, of one profile. 0 or -ENOMEM. */
int spells_add(struct spells *spells, uint32_t volume, uint32_t profile, const struct unit *unit,
               const double times[BUSY_KINDS]);
/* Those of a volume, as of the only volume of another job. 0 or -ENOMEM. */
int spells_take(struct spells *spells, const struct spells *from, uint32_t volume);
void spells_clear(struct spells *spells);

/* Of a job's time on a volume (times: by profile and kind), how much is of processes that each did several things, or of
   none: when such a one did which is not known. ns. */
double spells_mingled(const struct spells *spells, uint32_t volume, const double *times, uint32_t profiles);

/* Slots of a volume's time. */
struct spell_slots {
    int64_t from_ms; /* the first one's start, since 1970 */
    uint32_t slot_ms;
    size_t count;
};

/*
 * Divides a job's time inside operations of one kind on a volume, busy[slots], among so many profiles, and adds it to
 * patterns[slots][profiles]: in each slot by the time of those processes that were there, and what belongs to none by all its
 * slots. times: by profile and kind, of the job on that volume. 0 or -ENOMEM.
 */
int spells_divide(const struct spells *spells, uint32_t volume, enum busy kind, const double *times,
                  const struct spell_slots *slots, const double *busy, uint32_t profiles, double *patterns);

#endif
