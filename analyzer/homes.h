/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where totals are by volume, who copies or packs is told by all that a process does, as in a report by job: it reads one
 * volume and writes another. So processes are judged in the jobs that they are of, and each volume gets its part.
 */
#ifndef UNBLEND_ANALYZER_HOMES_H
#define UNBLEND_ANALYZER_HOMES_H

#include "analyzer/aggregate.h"
#include "analyzer/catalogue.h"
#include "analyzer/part.h"
#include "analyzer/spells.h"

/* What a volume's processes were judged to do there; nothing where they copy or pack together on that volume alone, as this
   does not take other volumes to tell, and there may be other things that go on on these. */
struct judged {
    bool alone;
    struct part *parts; /* by profile; the last is unknown */
    struct tally rest;  /* of those that are looked at together */
    struct spells spells;
};

/* Of sorted totals by volume, in the order of their jobs, which stand for volumes. Those that have no processes are not judged.
   0, -ENOMEM or -ERANGE. */
int homes_judge(const struct catalogue *catalogue, const struct aggregate *totals, struct judged **out);

void judged_free(struct judged *judged, uint32_t count);

#endif
