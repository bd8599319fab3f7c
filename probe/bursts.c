/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/bursts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/lookup.h"

#define SLOTS_A_SECOND (1000 / FLOW_SLOT_MS)
#define RECENT         32 /* slots that may still grow while the drain looks away */

static const unsigned kind_demand[FLOW_KINDS] = {
    [FLOW_DATA] = DEMAND_BYTES, [FLOW_METADATA] = DEMAND_BIT(DEMAND_METADATA_OPS)};

/* What ended in a slot of a flow since the last judgement. */
struct heap {
    int64_t slot;
    uint64_t demand[FLOW_KINDS];
    uint32_t octave[FLOW_KINDS][ABI_OCTAVES];
};

/* Those of one flow of the batch. */
struct gathered {
    struct heap *heaps;
    uint32_t count, capacity;
};

/* A sum that is over when its number comes round again. */
struct window {
    int64_t number;
    uint64_t demand[FLOW_KINDS];
};

/* The last minute of a job on a volume, by their names: batches come and go. */
struct history {
    uint64_t key;
    int64_t first, last; /* slots with demand */
    struct window seconds[BURSTS_MEMORY_S + 1];
    struct window recent[RECENT];
};

struct bursts {
    uint64_t factor;
    struct gathered *gathered; /* by flow */
    uint32_t gathered_count;
    struct history *histories;
    uint32_t history_count, history_capacity;
    struct lookup index;
};

int bursts_new(uint64_t factor, struct bursts **out)
{
    struct bursts *bursts = calloc(1, sizeof(*bursts));

    if (!bursts)
        return -ENOMEM;
    bursts->factor = factor;
    *out = bursts;
    return 0;
}

void bursts_free(struct bursts *bursts)
{
    if (!bursts)
        return;
    for (uint32_t i = 0; i < bursts->gathered_count; i++)
        free(bursts->gathered[i].heaps);
    free(bursts->gathered);
    free(bursts->histories);
    lookup_clear(&bursts->index);
    free(bursts);
}

static struct heap *find_heap(struct bursts *bursts, uint32_t flow, int64_t slot)
{
    struct gathered *g;
    void *grown;

    if (flow >= bursts->gathered_count) {
        grown = reallocarray(bursts->gathered, flow + 1, sizeof(*bursts->gathered));
        if (!grown)
            return NULL;
        bursts->gathered = grown;
        memset(bursts->gathered + bursts->gathered_count, 0,
               (flow + 1 - bursts->gathered_count) * sizeof(*bursts->gathered));
        bursts->gathered_count = flow + 1;
    }
    g = &bursts->gathered[flow];
    for (uint32_t i = g->count; i-- > 0;)
        if (g->heaps[i].slot == slot)
            return &g->heaps[i];
    if (g->count == g->capacity) {
        grown = reallocarray(g->heaps, g->capacity ? g->capacity * 2 : 4, sizeof(*g->heaps));
        if (!grown)
            return NULL;
        g->heaps = grown;
        g->capacity = g->capacity ? g->capacity * 2 : 4;
    }
    g->heaps[g->count] = (struct heap){.slot = slot};
    return &g->heaps[g->count++];
}

int bursts_add(struct bursts *bursts, uint32_t flow, int64_t slot, enum operation op,
               const struct demand_slot *amount, const uint32_t octaves[ABI_OCTAVES])
{
    enum flow_kind kind = operation_info(op)->class == OP_CLASS_METADATA ? FLOW_METADATA : FLOW_DATA;
    struct heap *heap = find_heap(bursts, flow, slot);

    if (!heap)
        return -ENOMEM;
    heap->demand[kind] += demand_sum(amount, kind_demand[kind]);
    for (unsigned i = 0; i < ABI_OCTAVES; i++)
        heap->octave[kind][i] += octaves[i];
    return 0;
}

/* FNV-1a (Fowler, Noll, Vo) over two names: two flows that share one of 2^64 keys would share a threshold only. */
static uint64_t key_of(const char *job, const char *volume)
{
    uint64_t key = 0xcbf29ce484222325ULL;

    for (const char *c = job; *c; c++)
        key = (key ^ (unsigned char)*c) * 0x100000001b3ULL;
    key = (key ^ 0xff) * 0x100000001b3ULL;
    for (const char *c = volume; *c; c++)
        key = (key ^ (unsigned char)*c) * 0x100000001b3ULL;
    return key;
}

static struct history *find_history(struct bursts *bursts, uint64_t key)
{
    uint32_t hash = (uint32_t)(key ^ key >> 32), cursor = hash, at;

    while (lookup_next(&bursts->index, hash, &cursor, &at))
        if (bursts->histories[at].key == key)
            return &bursts->histories[at];
    if (bursts->history_count == bursts->history_capacity) {
        uint32_t wanted = bursts->history_capacity ? bursts->history_capacity * 2 : 4;
        struct history *grown = reallocarray(bursts->histories, wanted, sizeof(*grown));

        if (!grown)
            return NULL;
        bursts->histories = grown;
        bursts->history_capacity = wanted;
    }
    if (lookup_reserve(&bursts->index))
        return NULL;
    bursts->histories[bursts->history_count] = (struct history){.key = key, .first = -1};
    lookup_insert(&bursts->index, hash, bursts->history_count);
    return &bursts->histories[bursts->history_count++];
}

static void add_window(struct window *windows, unsigned count, int64_t number, const struct heap *heap)
{
    struct window *window = &windows[(uint64_t)number % count];

    if (window->number > number)
        return; /* too late for it */
    if (window->number < number)
        *window = (struct window){.number = number};
    for (unsigned kind = 0; kind < FLOW_KINDS; kind++)
        window->demand[kind] += heap->demand[kind];
}

static void remember(struct history *history, const struct heap *heap)
{
    if (!heap->demand[FLOW_DATA] && !heap->demand[FLOW_METADATA])
        return;
    if (history->first < 0 || heap->slot < history->first)
        history->first = heap->slot;
    if (heap->slot > history->last)
        history->last = heap->slot;
    add_window(history->seconds, BURSTS_MEMORY_S + 1, heap->slot / SLOTS_A_SECOND, heap);
    add_window(history->recent, RECENT, heap->slot, heap);
}

/* The mean of the slots that are over, of the last minute or since the first one with demand. */
static double mean_of(const struct history *history, enum flow_kind kind, int64_t now)
{
    int64_t last = history->last > now - 1 ? history->last : now - 1;
    int64_t second = last / SLOTS_A_SECOND - BURSTS_MEMORY_S, first = (second + 1) * SLOTS_A_SECOND;
    double sum = 0;

    for (unsigned i = 0; i <= BURSTS_MEMORY_S; i++)
        if (history->seconds[i].number > second)
            sum += (double)history->seconds[i].demand[kind];
    if (first < history->first)
        first = history->first;
    return sum / (double)(last - first + 1);
}

static bool is_burst(const struct bursts *bursts, const struct history *history, const struct heap *heap,
                     enum flow_kind kind, int64_t now)
{
    const struct window *slot = &history->recent[(uint64_t)heap->slot % RECENT];
    uint64_t demand = slot->number == heap->slot ? slot->demand[kind] : heap->demand[kind];

    return demand && (double)demand >= (double)bursts->factor * mean_of(history, kind, now);
}

static int add_latency(struct histogram *histogram, const uint32_t octaves[ABI_OCTAVES])
{
    for (unsigned i = 0; i < ABI_OCTAVES; i++) {
        int err = octaves[i] ? histogram_add_bucket(histogram, flow_octave_bucket(ABI_OCTAVE_FIRST + i), octaves[i])
                             : 0;

        if (err)
            return err;
    }
    return 0;
}

static int judge(struct bursts *bursts, struct gathered *g, const struct batch *batch, struct flow *flow,
                 int64_t now)
{
    uint64_t key = key_of(batch->jobs[flow->job].name, batch->volumes[flow->volume].name);
    struct history *history = find_history(bursts, key);
    int err = history ? 0 : -ENOMEM;

    if (!err && history->last > now + RECENT) /* the clock was set back: what came then says nothing of now */
        *history = (struct history){.key = key, .first = -1};
    for (uint32_t i = 0; !err && i < g->count; i++)
        remember(history, &g->heaps[i]);
    for (uint32_t i = 0; !err && i < g->count; i++)
        for (enum flow_kind kind = 0; !err && kind < FLOW_KINDS; kind++)
            err = add_latency(is_burst(bursts, history, &g->heaps[i], kind, now) ? &flow->burst[kind]
                                                                                 : &flow->steady[kind],
                              g->heaps[i].octave[kind]);
    g->count = 0;
    return err;
}

/* Flows that have been idle for so long that nothing of them counts any more. */
static int forget_idle(struct bursts *bursts, int64_t now)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < bursts->history_count; i++)
        if (bursts->histories[i].last >= now - (BURSTS_MEMORY_S + 1) * SLOTS_A_SECOND)
            bursts->histories[kept++] = bursts->histories[i];
    if (kept == bursts->history_count)
        return 0;
    bursts->history_count = 0;
    lookup_clear(&bursts->index);
    for (uint32_t i = 0; i < kept; i++) {
        uint64_t key = bursts->histories[i].key;

        if (lookup_reserve(&bursts->index))
            return -ENOMEM;
        lookup_insert(&bursts->index, (uint32_t)(key ^ key >> 32), i);
        bursts->history_count++;
    }
    return 0;
}

int bursts_judge(struct bursts *bursts, struct batch *batch, int64_t now)
{
    int err = 0;

    for (uint32_t i = 0; i < bursts->gathered_count && i < batch->flow_count && !err; i++)
        if (bursts->gathered[i].count)
            err = judge(bursts, &bursts->gathered[i], batch, &batch->flows[i], now);
    return err ? err : forget_idle(bursts, now);
}
