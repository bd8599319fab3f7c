/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many workloads a volume sees at a time, and what jobs cost each other there.
 *
 * effective = exp(entropy of the patterns' shares of operation-seconds), in each slot of time and volume, averaged by
 * operation-seconds; blend = 1 - 1 / effective: 0 when one comes after the other, 0.5 for two evenly. A job's time in a
 * slot is divided among its patterns as the time on that volume is of those of its processes that are there in it
 * (analyzer/spells.h), or of all slots where none has it to itself, for reading, writing and metadata apart; unknown is one
 * pattern.
 */
#ifndef UNBLEND_ANALYZER_BLEND_H
#define UNBLEND_ANALYZER_BLEND_H

#include "analyzer/classify.h"

#define BLEND_JOBS 24 /* of a volume, by time: only these are paired */

/* What a job on a volume met another one for, where that one did enough to be noticed. Slots are the recording's
   intervals; one in which one job may have ended before the other began is none of them. */
struct meeting {
    const struct volume_total *volume;
    uint32_t victim, other; /* positions in the aggregate's jobs */
    double seconds;         /* in which both were inside operations, */
    uint32_t slots;         /* and in so many slots */
    uint32_t alone_slots;   /* in which the victim had the volume to itself */
    uint32_t compared_slots; /* of those together, with what it does alone, too: */
    double compared_ops;     /* so many operations, of kinds (analyzer/kinds.h) seen on both sides; 0: none */
    double together_ns, alone_ns; /* of one of those, weighed alike; without any, together of all, and alone NAN */
    double alone_low_ns, alone_high_ns; /* where alone_ns lies with 95 % confidence; NAN: too few slots alone to tell */
    double together_ops_s, alone_ops_s; /* how many operations a second of its own, in slots with any */
    double cost_s;          /* operation-seconds more than they would have taken alone; NAN with alone_ns */
};

struct blend {
    double effective, blend; /* NAN without operations */
    double mingled;          /* share of that time in which it is not known what was done when, see spells_mingled() */
    uint32_t slot_ms;        /* the longest slots that went into it */
    struct meeting *meetings; /* the dearest first */
    uint32_t meeting_count, meeting_capacity;
};

/* lists: one a job of the sorted totals, which must outlive the blend. 0 or -ENOMEM. */
int blend_of(const struct aggregate *totals, const struct profile_list *lists, uint32_t profiles, struct blend *out);
void blend_clear(struct blend *blend);

/* What the meeting cost the victim at least, in operation-seconds: cost_s is the most that is likely. Never below 0; NAN
   where it cannot be told. */
double meeting_cost_least(const struct meeting *meeting);

#endif
