/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/spread.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/floor_div.h"
#include "lib/flow.h"
#include "lib/order.h"

const uint32_t spread_window_ms[SPREAD_WINDOWS] = {FLOW_SLOT_MS, 1000};

/*
 * Runs, when values are known by bucket only. For each bucket b: the last window at or below b ends all runs above b.
 * That window is the same for neighbouring buckets, so steps of them are kept, each with its last window. A value in
 * bucket k ends the runs above every bucket from k on: their steps go, and one step takes their place, so a window
 * costs as many steps as it removes. A run above b is also one above all lower buckets: it is noted at the highest
 * bucket of its step, and holds for the lower ones.
 */
static void note(struct spread_demand *s, unsigned highest, int64_t run)
{
    if (run > s->longest[highest])
        s->longest[highest] = run > UINT32_MAX ? UINT32_MAX : (uint32_t)run;
}

static void end_runs(struct spread_demand *s, int64_t window, unsigned bucket)
{
    unsigned above = BUCKET_COUNT; /* where the step over the one that is looked at begins */

    while (s->step_count && s->steps[s->step_count - 1].bucket >= bucket) {
        note(s, above - 1, window - s->steps[s->step_count - 1].last - 1);
        above = s->steps[--s->step_count].bucket;
    }
    if (s->step_count && above > bucket) /* the upper part of a step that stays */
        note(s, above - 1, window - s->steps[s->step_count - 1].last - 1);
    s->steps[s->step_count++] = (struct spread_step){bucket, window};
}

static int add_rough(struct spread_demand *s, int64_t window, uint64_t value)
{
    int err = histogram_add(&s->values, value, 1);

    if (err)
        return err;
    if (!s->step_count)
        s->steps[s->step_count++] = (struct spread_step){0, window - 1};
    else if (window <= s->last)
        return 0;
    else if (window > s->last + 1) {
        end_runs(s, s->last + 1, 0);
        s->steps[0].last = window - 1;
    }
    end_runs(s, window, bucket_of(value));
    s->last = window;
    return 0;
}

/* Too many to keep: what there is goes into buckets. */
static int make_rough(struct spread_demand *s)
{
    int err = 0;

    s->steps = calloc(BUCKET_COUNT + 2, sizeof(*s->steps));
    s->longest = calloc(BUCKET_COUNT, sizeof(*s->longest));
    if (!s->steps || !s->longest)
        return -ENOMEM;
    s->rough = true;
    for (uint32_t i = 0; !err && i < s->exact_count; i++)
        err = add_rough(s, s->exact[i].window, s->exact[i].value);
    free(s->exact);
    s->exact = NULL;
    s->exact_count = s->exact_capacity = 0;
    return err;
}

static int add_exact(struct spread_demand *s, int64_t window, uint64_t value)
{
    if (s->exact_count == s->exact_capacity) {
        uint32_t wanted = s->exact_capacity ? 2 * s->exact_capacity : 64;
        struct spread_value *grown = reallocarray(s->exact, wanted, sizeof(*grown));

        if (!grown)
            return -ENOMEM;
        s->exact = grown;
        s->exact_capacity = wanted;
    }
    s->exact[s->exact_count++] = (struct spread_value){window, value};
    return 0;
}

int spread_add(struct spread_demand *s, int64_t window, uint64_t value)
{
    int err = 0;

    if (!value)
        return 0;
    if (!s->rough && s->exact_count == SPREAD_EXACT)
        err = make_rough(s);
    if (!err)
        err = s->rough ? add_rough(s, window, value) : add_exact(s, window, value);
    if (err)
        return err;
    if (!s->used || window < s->first)
        s->first = window;
    if (!s->used)
        s->last = window;
    s->sum += value;
    s->used++;
    if (!s->rough && window > s->last)
        s->last = window;
    if (value > s->max)
        s->max = value;
    return 0;
}

static int by_value(const void *a, const void *b)
{
    return ORDER(((const struct spread_value *)a)->value, ((const struct spread_value *)b)->value);
}

static uint64_t rank_rough(const struct spread_demand *s, uint64_t rank)
{
    uint64_t seen = 0;

    for (unsigned i = 0; i < s->values.length; i++) {
        seen += s->values.cells[i].count;
        if (seen >= rank)
            return bucket_lower(s->values.cells[i].bucket);
    }
    return s->max;
}

uint64_t spread_quantile(const struct spread_demand *s, double q, int64_t from, int64_t last)
{
    uint64_t all = (uint64_t)(last - from + 1), rank, empty;
    _cleanup_free_ struct spread_value *sorted = NULL;

    all = all < s->used ? s->used : all;
    empty = all - s->used;
    rank = (uint64_t)ceil(q * (double)all);
    rank = rank ? rank : 1;
    if (rank <= empty)
        return 0;
    rank -= empty;
    if (s->rough)
        return rank_rough(s, rank);
    sorted = reallocarray(NULL, s->exact_count, sizeof(*sorted));
    if (!sorted)
        return s->max; /* nobody runs out of memory here and lives on to care */
    memcpy(sorted, s->exact, s->exact_count * sizeof(*sorted));
    qsort(sorted, s->exact_count, sizeof(*sorted), by_value);
    return sorted[rank - 1].value;
}

bool spread_tells(const struct spread_demand *s, uint64_t value)
{
    return !s->rough || s->max <= value || bucket_of(s->max) > bucket_of(value);
}

uint64_t spread_longest_above(const struct spread_demand *s, uint64_t value)
{
    uint64_t run = 0, longest = 0;

    if (s->rough) {
        for (unsigned bucket = bucket_of(value); bucket < BUCKET_COUNT; bucket++)
            longest = s->longest[bucket] > longest ? s->longest[bucket] : longest;
        for (uint32_t i = 0; i < s->step_count; i++) { /* runs that have not ended */
            unsigned highest = i + 1 < s->step_count ? s->steps[i + 1].bucket - 1 : BUCKET_COUNT - 1;
            uint64_t open = (uint64_t)(s->last - s->steps[i].last);

            if (highest >= bucket_of(value) && open > longest)
                longest = open;
        }
        return longest;
    }
    for (uint32_t i = 0; i < s->exact_count; i++) {
        bool follows = i && s->exact[i].window == s->exact[i - 1].window + 1;

        run = s->exact[i].value <= value ? 0 : follows ? run + 1 : 1;
        longest = run > longest ? run : longest;
    }
    return longest;
}

void spread_clear(struct spread_demand *s)
{
    free(s->exact);
    free(s->steps);
    free(s->longest);
    histogram_clear(&s->values);
    *s = (struct spread_demand){0};
}

static void close_window(struct spreads *s, unsigned w)
{
    for (unsigned d = 0; d < DEMAND_COUNT; d++) {
        int err = spread_add(&s->of[w][d], s->open[w], s->sums[w][d]);

        if (err && !s->err)
            s->err = err;
        s->sums[w][d] = 0;
    }
}

void spreads_push(struct spreads *s, int64_t slot, const struct demand_slot *amount)
{
    for (unsigned w = 0; w < SPREAD_WINDOWS; w++) {
        int64_t window = floor_div(slot, spread_window_ms[w] / FLOW_SLOT_MS);

        if (window != s->open[w])
            close_window(s, w);
        s->open[w] = window;
        for (unsigned d = 0; d < DEMAND_COUNT; d++)
            s->sums[w][d] += amount->demand[d];
    }
}

void spreads_finish(struct spreads *s)
{
    for (unsigned w = 0; w < SPREAD_WINDOWS; w++)
        close_window(s, w);
}

void spreads_free(struct spreads *s)
{
    if (!s)
        return;
    for (unsigned w = 0; w < SPREAD_WINDOWS; w++)
        for (unsigned d = 0; d < DEMAND_COUNT; d++)
            spread_clear(&s->of[w][d]);
    free(s);
}
