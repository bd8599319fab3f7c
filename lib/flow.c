/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/flow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void flow_clear(struct flow *flow)
{
    free(flow->slots);
    sketch_clear(&flow->files);
    for (unsigned kind = 0; kind < FLOW_KINDS; kind++) {
        histogram_clear(&flow->burst[kind]);
        histogram_clear(&flow->steady[kind]);
    }
    *flow = (struct flow){0};
}

/* The nearest slot that leaves the flow no longer than it may be. */
static int64_t clamp(const struct flow *flow, int64_t slot)
{
    int64_t end = flow->first + flow->length;

    if (!flow->length)
        return slot;
    if (slot < end - FLOW_SLOTS_MAX)
        return end - FLOW_SLOTS_MAX;
    return slot < flow->first + FLOW_SLOTS_MAX ? slot : flow->first + FLOW_SLOTS_MAX - 1;
}

/* Makes the flow hold a slot. */
static int extend(struct flow *flow, int64_t slot)
{
    int64_t first = flow->length && flow->first < slot ? flow->first : slot;
    int64_t end = flow->length && flow->first + flow->length > slot ? flow->first + flow->length : slot + 1;
    uint32_t length = (uint32_t)(end - first), before = flow->length ? (uint32_t)(flow->first - first) : 0;

    if (length > flow->capacity) {
        uint32_t wanted = flow->capacity ? flow->capacity : 12; /* a second, and what spills over */
        struct demand_slot *grown;

        while (wanted < length)
            wanted *= 2;
        grown = reallocarray(flow->slots, wanted, sizeof(*grown));
        if (!grown)
            return -ENOMEM;
        flow->slots = grown;
        flow->capacity = wanted;
    }
    if (before)
        memmove(flow->slots + before, flow->slots, flow->length * sizeof(*flow->slots));
    memset(flow->slots, 0, before * sizeof(*flow->slots));
    memset(flow->slots + before + flow->length, 0,
           (length - before - flow->length) * sizeof(*flow->slots));
    flow->first = first;
    flow->length = length;
    return 0;
}

int flow_add(struct flow *flow, int64_t slot, const struct demand_slot *amount)
{
    struct demand_slot *to;
    int err;

    slot = clamp(flow, slot);
    err = extend(flow, slot);
    if (err)
        return err;
    to = &flow->slots[slot - flow->first];
    for (unsigned d = 0; d < DEMAND_COUNT; d++)
        if (amount->demand[d] > INT64_MAX - to->demand[d])
            return -ERANGE;
    demand_add(to, amount);
    return 0;
}

int flow_spread(struct flow *flow, int64_t first, int64_t last, const struct demand_slot *amount)
{
    uint64_t count = (uint64_t)(last - first + 1);
    struct demand_slot left = *amount;

    for (uint64_t i = 0; i < count; i++) {
        struct demand_slot part;
        int err;

        for (unsigned d = 0; d < DEMAND_COUNT; d++) {
            part.demand[d] = left.demand[d] / (count - i);
            left.demand[d] -= part.demand[d];
        }
        err = flow_add(flow, first + (int64_t)i, &part);
        if (err)
            return err;
    }
    return 0;
}

int flow_merge(struct flow *dst, const struct flow *src)
{
    int err = 0;

    for (uint32_t i = 0; i < src->length && !err; i++)
        err = flow_add(dst, src->first + i, &src->slots[i]);
    for (unsigned kind = 0; kind < FLOW_KINDS && !err; kind++) {
        err = histogram_merge(&dst->burst[kind], &src->burst[kind]);
        if (!err)
            err = histogram_merge(&dst->steady[kind], &src->steady[kind]);
    }
    for (enum operation op = OP_NONE; op < OP_FILE_END; op++)
        if (src->in_flight_max[op] > dst->in_flight_max[op])
            dst->in_flight_max[op] = src->in_flight_max[op];
    return err ? err : sketch_merge(&dst->files, &src->files);
}
