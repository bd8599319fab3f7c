/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/rhythm.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analyzer/peer.h"
#include "lib/cleanup.h"

#define SPIKE     0.5  /* of the fullest slot */
#define PEAKY     2.0  /* times the mean, else it is no spike */
#define STEADY    0.5  /* a less steady rhythm is none */
#define RAMP      0.5

struct runs {
    double *starts, *lengths, *bytes;
    uint32_t count;
};

static double median(double *values, uint32_t count)
{
    struct peer_norm norm;

    peer_norm_of(values, count, 0, 0, &norm);
    return norm.median;
}

static void add_slot(struct rhythm *r, struct runs *runs, double rate, double slot_s, double start_s, bool begins)
{
    struct spike *spike;

    if (begins) {
        runs->starts[runs->count] = start_s;
        if (runs->count < RHYTHM_SPIKES)
            r->spikes[runs->count] = (struct spike){.start_ms = (int64_t)(1000 * start_s)};
        runs->count++;
    }
    runs->lengths[runs->count - 1] += slot_s;
    runs->bytes[runs->count - 1] += rate * slot_s;
    if (runs->count > RHYTHM_SPIKES)
        return;
    spike = &r->spikes[runs->count - 1];
    spike->length_s += slot_s;
    spike->bytes += rate * slot_s;
    spike->peak = fmax(spike->peak, rate);
}

static bool is_spike(const double *rates, uint32_t count, int64_t at, double peak)
{
    return at >= 0 && at < count && rates[at] >= SPIKE * peak;
}

/* What slots that are in no spike, nor beside one, have: the median; 0 when there is none. `memory` has room for all
   of them. */
static double usual(const double *rates, uint32_t count, double peak, double *memory)
{
    uint32_t quiet = 0;

    for (int64_t i = 0; i < count; i++)
        if (!is_spike(rates, count, i - 1, peak) && !is_spike(rates, count, i, peak) &&
            !is_spike(rates, count, i + 1, peak))
            memory[quiet++] = rates[i];
    return quiet ? median(memory, quiet) : 0;
}

/* A spike begins and ends in the midst of a slot: what a neighbour has beyond the usual is the spike's, or half of it
   each when it lies between two, and lasts as long as in the spike's own slots. */
static void add_edge(struct rhythm *r, struct runs *runs, uint32_t run, double rate, double slot_s)
{
    double own = runs->bytes[run] / runs->lengths[run], part = fmin(rate / own, 1);

    runs->bytes[run] += rate * slot_s;
    runs->lengths[run] += part * slot_s;
    if (run >= RHYTHM_SPIKES)
        return;
    r->spikes[run].bytes += rate * slot_s;
    r->spikes[run].length_s += part * slot_s;
}

static void add_edges(const double *rates, uint32_t count, double slot_s, double base, struct rhythm *r,
                      struct runs *runs)
{
    uint32_t begun = 0; /* spikes that begin before the slot */

    for (int64_t i = 0; i < count; i++) {
        bool after = is_spike(rates, count, i - 1, r->peak), before = is_spike(rates, count, i + 1, r->peak);
        double more = fmax(rates[i] - base, 0) / (after && before ? 2 : 1);

        if (is_spike(rates, count, i, r->peak)) {
            begun += !after;
            continue;
        }
        if (after)
            add_edge(r, runs, begun - 1, more, slot_s);
        if (before)
            add_edge(r, runs, begun, more, slot_s);
    }
}

/* How far apart spikes begin, and how evenly. */
static void find_period(struct runs *runs, struct rhythm *r)
{
    struct peer_norm norm;
    uint32_t gaps = runs->count - 1;

    if (runs->count < 3)
        return;
    for (uint32_t i = 0; i < gaps; i++)
        runs->starts[i] = runs->starts[i + 1] - runs->starts[i];
    peer_norm_of(runs->starts, gaps, 0, 0, &norm);
    r->steadiness = fmax(1 - norm.mad / norm.median, 0);
    if (r->steadiness >= STEADY)
        r->period_s = norm.median;
}

static void find_ramp(const double *rates, size_t count, double slot_s, struct rhythm *r)
{
    size_t half = count / 2, at = 0;
    double later = 0;

    for (size_t i = half; i < count; i++)
        later += rates[i] / (double)(count - half);
    while (at < count && rates[at] < RAMP * later)
        at++;
    if (later > 0 && at < count)
        r->ramp_s = (double)at * slot_s;
}

int rhythm_of(const struct series *series, unsigned demands, double watched_s, struct rhythm *out)
{
    struct rhythm r = {.mean = NAN, .peak = NAN, .period_s = NAN, .length_s = NAN, .bytes = NAN, .ramp_s = NAN};
    _cleanup_free_ double *rates = calloc(series->length + 1u, sizeof(*rates));
    _cleanup_free_ double *memory = calloc(series->length + 1u, 4 * sizeof(*memory));
    double slot_s = series->slot_ms / 1e3, sum = 0;
    struct runs runs = {0};

    if (!rates || !memory)
        return -ENOMEM;
    runs = (struct runs){memory, memory + series->length, memory + 2 * (size_t)series->length, 0};
    if (!series->length)
        return -ENODATA;
    for (uint32_t i = 0; i < series->length; i++) {
        rates[i] = (double)demand_sum(&series->slots[i], demands) / slot_s;
        sum += rates[i];
        r.peak = fmax(r.peak, rates[i]);
    }
    r.mean = sum / series->length;
    for (uint32_t i = 0; i < series->length && r.peak > PEAKY * r.mean; i++)
        if (rates[i] >= SPIKE * r.peak)
            add_slot(&r, &runs, rates[i], slot_s, (double)(series->first + i) * slot_s,
                     !i || rates[i - 1] < SPIKE * r.peak);
    r.spike_count = runs.count;
    if (runs.count) {
        add_edges(rates, series->length, slot_s,
                  usual(rates, series->length, r.peak, memory + 3 * (size_t)series->length), &r, &runs);
        find_period(&runs, &r);
        r.length_s = median(runs.lengths, runs.count);
        r.bytes = median(runs.bytes, runs.count);
    }
    find_ramp(rates, series->length, slot_s, &r);
    if (watched_s > 0)
        r.mean = sum * slot_s / watched_s;
    r.peak = fmax(r.peak, r.mean);
    *out = r;
    return 0;
}
