/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/overlap.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SLOT_NS (FLOW_SLOT_MS * 1000000LL)
#define SLACK   50 /* as in windows.c */
#define SEVERAL UINT32_MAX

/* Slots before that one are over. */
static void retire(struct overlap *o, int64_t before)
{
    uint32_t count = 0;

    for (; count < o->length && o->first + count < before; count++) {
        o->busy += o->jobs[count] != 0;
        o->shared += o->jobs[count] == SEVERAL;
    }
    if (!count)
        return;
    memmove(o->jobs, o->jobs + count, (o->length - count) * sizeof(*o->jobs));
    o->length -= count;
    o->first += count;
}

/* The slot's place; NULL without memory, or for one that is over. */
static uint32_t *place_of(struct overlap *o, int64_t slot)
{
    if (!o->length)
        o->first = slot;
    if (slot < o->first || slot - o->first >= FLOW_SLOTS_MAX * 2)
        return NULL;
    if ((uint64_t)(slot - o->first) >= o->capacity) {
        uint32_t wanted = o->capacity ? o->capacity : 128;
        uint32_t *grown;

        while (wanted <= slot - o->first)
            wanted *= 2;
        grown = reallocarray(o->jobs, wanted, sizeof(*grown));
        if (!grown)
            return NULL;
        o->jobs = grown;
        o->capacity = wanted;
    }
    while (o->first + o->length <= slot)
        o->jobs[o->length++] = 0;
    return &o->jobs[slot - o->first];
}

int overlap_add(struct overlap *o, int64_t start_ns, uint32_t job, const struct flow *flow)
{
    int64_t horizon = start_ns / SLOT_NS - SLACK;

    retire(o, horizon);
    if (!o->length && flow->length) {
        /* Another flow of this time may begin earlier. */
        if (!place_of(o, flow->first < horizon ? flow->first : horizon))
            return -ENOMEM;
    }
    for (uint32_t i = 0; i < flow->length; i++) {
        uint32_t *place;

        if (!demand_sum(&flow->slots[i], DEMAND_BYTES) || flow->first + i < o->first)
            continue;
        place = place_of(o, flow->first + i);
        if (!place)
            continue; /* farther away than any interval: a clock was set */
        *place = *place && *place != job + 1 ? SEVERAL : job + 1;
    }
    return 0;
}

double overlap_share(const struct overlap *o)
{
    struct overlap rest = {.busy = o->busy, .shared = o->shared};

    for (uint32_t i = 0; i < o->length; i++) {
        rest.busy += o->jobs[i] != 0;
        rest.shared += o->jobs[i] == SEVERAL;
    }
    return rest.busy ? (double)rest.shared / (double)rest.busy : NAN;
}

void overlap_clear(struct overlap *o)
{
    free(o->jobs);
    *o = (struct overlap){0};
}
