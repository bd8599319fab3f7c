/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/kinds.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/floor_div.h"
#include "lib/order.h"
#include "lib/vector.h"

#define OP_SHIFT    10  /* in ids */
#define OPS_MAX     (((uint64_t)1 << 40) - 1)
#define OPS_MIN     5   /* of a kind alone: fewer say little of how long they take */
#define WINDOWS_MIN 5  /* alone, to tell how they vary */
#define SURE        0.9 /* of the time, of kinds with that many */

/* Classes of four buckets, which are half an octave, with powers of two well inside. Where an operation takes so long
   and so much longer for each byte, its mean time depends on its mean size, whatever sizes there are. */
static unsigned size_class(const struct record *record, uint64_t ops)
{
    if (!operation_info(record->op)->has_size || ops <= record->errors)
        return 0;
    return (bucket_of(record->bytes / (ops - record->errors)) + 2) / 4;
}

/* Of transfers, whether most of them jump; of stats, whether most are by name; of opens, whether most are of regular
   files (others are of directories). */
static bool is_other_way(const struct record *record, uint64_t ops)
{
    const uint64_t *order = record->order;

    switch (record->op) {
    case OP_READ:
    case OP_WRITE:
        return order[ORDER_SEQUENTIAL] + order[ORDER_RANDOM] > order[ORDER_CONSECUTIVE];
    case OP_STAT:
        return order[ORDER_BY_NAME] > order[ORDER_OF_OPEN];
    case OP_OPEN:
        return histogram_count(&record->size) > ops / 2;
    default:
        return false;
    }
}

static uint16_t kind_of(const struct record *record, uint64_t ops)
{
    return (uint16_t)((unsigned)record->op << OP_SHIFT | size_class(record, ops) << 2 |
                      (unsigned)is_other_way(record, ops) << 1 | (record->errors > ops / 2));
}

static uint32_t key_of(const struct kind_cell *cell)
{
    return (uint32_t)cell->slot << 6 | (uint32_t)cell->kind;
}

static int by_key(const void *a, const void *b)
{
    return ORDER(key_of(a), key_of(b));
}

static void add_to_cell(struct kind_cell *cell, uint64_t ops, uint64_t time_ns)
{
    cell->ops = ops < OPS_MAX - cell->ops ? cell->ops + ops : OPS_MAX;
    cell->time_ns += time_ns;
}

/* Slots that have become one are added up. */
static void merge(struct kinds *kinds)
{
    uint32_t kept = 0;

    qsort(kinds->cells, kinds->count, sizeof(*kinds->cells), by_key);
    for (uint32_t i = 1; i < kinds->count; i++) {
        const struct kind_cell cell = kinds->cells[i];

        if (key_of(&cell) == key_of(&kinds->cells[kept]))
            add_to_cell(&kinds->cells[kept], cell.ops, cell.time_ns);
        else
            kinds->cells[++kept] = cell;
    }
    kinds->count = kept + 1;
}

/* The series may have begun earlier meanwhile, or made its slots longer. */
static void follow(struct kinds *kinds, const struct series *busy)
{
    uint32_t factor = kinds->count ? busy->slot_ms / kinds->slot_ms : 1;

    if (kinds->count && (factor > 1 || kinds->first != busy->first))
        for (uint32_t i = 0; i < kinds->count; i++)
            kinds->cells[i].slot =
                (uint64_t)(floor_div(kinds->first + kinds->cells[i].slot, factor) - busy->first) & 0x3ffff;
    if (factor > 1)
        merge(kinds);
    kinds->slot_ms = busy->slot_ms;
    kinds->first = busy->first;
}

/* False where there are too many. */
static bool find_kind(struct kinds *kinds, uint16_t id, uint32_t *out)
{
    for (*out = 0; *out < kinds->id_count; (*out)++)
        if (kinds->ids[*out] == id)
            return true;
    if (kinds->id_count == KINDS_MAX)
        return false;
    kinds->ids[kinds->id_count++] = id;
    return true;
}

/* Where a cell is, or has to be inserted: mostly near the end, as batches come in the order of their start. */
static uint32_t place_of(const struct kinds *kinds, uint32_t key)
{
    uint32_t low = 0, high = kinds->count, step = 1;

    while (high >= step && key_of(&kinds->cells[high - step]) >= key) {
        high -= step;
        step *= 2;
    }
    low = high >= step ? high - step + 1 : 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (key_of(&kinds->cells[middle]) < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int kinds_add(struct kinds *kinds, const struct series *busy, const struct batch *batch, const struct record *record)
{
    uint64_t ops = record_ops(record);
    struct kind_cell cell = {.time_ns = record->latency_sum_ns};
    uint32_t kind, at;

    if (!ops || !find_kind(kinds, kind_of(record, ops), &kind))
        return 0;
    follow(kinds, busy);
    cell.kind = kind & 0x3f;
    cell.slot = (uint64_t)(series_slot_of(batch->start_ns, batch->duration_ns, busy->slot_ms) - busy->first) & 0x3ffff;
    at = place_of(kinds, key_of(&cell));
    if (at == kinds->count || key_of(&kinds->cells[at]) != key_of(&cell)) {
        if (vector_reserve((void **)&kinds->cells, &kinds->capacity, kinds->count, sizeof(cell)))
            return -ENOMEM;
        memmove(kinds->cells + at + 1, kinds->cells + at, (kinds->count - at) * sizeof(cell));
        kinds->cells[at] = cell;
        kinds->cells[at].time_ns = 0;
        kinds->count++;
    }
    add_to_cell(&kinds->cells[at], ops, cell.time_ns);
    return 0;
}

/* Of a kind. */
struct sums {
    double ops[KINDS_TOGETHER + 1], time[KINDS_TOGETHER + 1];
    uint32_t windows; /* alone */
    double weight;    /* how much more of it was done together than alone; 0: it does not compare */
};

/* Which side a cell is on, and in which window. */
static enum kinds_side side_of(const struct kinds *kinds, const struct sides *sides, const struct kind_cell *cell,
                               int64_t *window)
{
    *window = floor_div((kinds->first + cell->slot) * kinds->slot_ms, sides->window_ms) -
              floor_div(sides->from, sides->window_ms);
    if (*window < 0 || (uint64_t)*window >= sides->count ||
        (sides->op != OP_NONE && kinds->ids[cell->kind] >> OP_SHIFT != sides->op))
        return KINDS_NEITHER;
    return (enum kinds_side)sides->side[*window];
}

static void add_up(const struct kinds *kinds, const struct sides *sides, struct sums *sums)
{
    int64_t last[KINDS_MAX], window;

    memset(last, 0xff, sizeof(last));
    for (uint32_t i = 0; i < kinds->count; i++) {
        const struct kind_cell *cell = &kinds->cells[i];
        enum kinds_side side = side_of(kinds, sides, cell, &window);

        sums[cell->kind].ops[side] += (double)cell->ops;
        sums[cell->kind].time[side] += (double)cell->time_ns;
        if (side != KINDS_ALONE || last[cell->kind] == window)
            continue;
        last[cell->kind] = window;
        sums[cell->kind].windows++;
    }
}

/* How the windows alone stray from what is expected of what was done in them, as often as it was done together: the
   standard error of a sum of ratio estimators (Cochran 1977, ch. 6). */
struct strays {
    int64_t window[KINDS_TOGETHER + 1]; /* the last one */
    uint32_t n[KINDS_TOGETHER + 1];
    double rest, squares;
};

static void stray(const struct kinds *kinds, const struct sides *sides, const struct sums *sums, struct strays *out)
{
    *out = (struct strays){.window = {-1, -1, -1}};
    for (uint32_t i = 0; i < kinds->count; i++) {
        const struct kind_cell *cell = &kinds->cells[i];
        const struct sums *sum = &sums[cell->kind];
        int64_t window;
        enum kinds_side side = side_of(kinds, sides, cell, &window);

        if (side == KINDS_NEITHER || !(sum->weight > 0))
            continue;
        if (out->window[side] != window) {
            out->window[side] = window;
            out->n[side]++;
            if (side == KINDS_ALONE) {
                out->squares += out->rest * out->rest;
                out->rest = 0;
            }
        }
        if (side == KINDS_ALONE)
            out->rest += sum->weight * ((double)cell->time_ns -
                                        (double)cell->ops * sum->time[KINDS_ALONE] / sum->ops[KINDS_ALONE]);
    }
    out->squares += out->rest * out->rest;
}

void kinds_compare(const struct kinds *kinds, const struct sides *sides, struct contrast *out)
{
    struct sums sums[KINDS_MAX] = {0};
    struct strays strays;
    double sure = 0, n;

    *out = (struct contrast){.doubt = NAN};
    if (!kinds->count || sides->window_ms % kinds->slot_ms)
        return;
    add_up(kinds, sides, sums);
    for (uint32_t k = 0; k < kinds->id_count; k++) {
        struct sums *sum = &sums[k];
        double expected;

        out->all_ops += sum->ops[KINDS_TOGETHER];
        if (!(sum->ops[KINDS_TOGETHER] > 0) || sum->ops[KINDS_ALONE] < OPS_MIN)
            continue;
        sum->weight = sum->ops[KINDS_TOGETHER] / sum->ops[KINDS_ALONE];
        expected = sum->weight * sum->time[KINDS_ALONE];
        out->ops += sum->ops[KINDS_TOGETHER];
        out->alone_ops += sum->ops[KINDS_ALONE];
        out->time_ns += sum->time[KINDS_TOGETHER];
        out->expected_ns += expected;
        sure += sum->windows >= WINDOWS_MIN ? expected : 0;
    }
    stray(kinds, sides, sums, &strays);
    out->windows = strays.n[KINDS_TOGETHER];
    n = strays.n[KINDS_ALONE];
    if (n >= WINDOWS_MIN && out->expected_ns > 0 && sure >= SURE * out->expected_ns)
        out->doubt = 1.96 * sqrt(strays.squares * n / (n - 1)) / out->expected_ns;
}

void kinds_clear(struct kinds *kinds)
{
    free(kinds->cells);
    *kinds = (struct kinds){0};
}
