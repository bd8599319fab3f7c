/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/series.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "lib/floor_div.h"
#include "lib/record.h"

#define SECOND_MS       1000u
#define MINUTE_MS       60000u
#define HOUR_MS         3600000u
#define APART_MIN       4u   /* seconds */
#define NEXT_TO_NOTHING 0.02 /* of what is written in such a time on average */

int64_t series_slot_of(int64_t start_ns, uint64_t duration_ns, uint32_t slot_ms)
{
    uint64_t whole = (uint64_t)slot_ms * 1000000;
    uint64_t half = (duration_ns < whole ? duration_ns : whole) / 2;

    return floor_div(start_ns + (int64_t)half, (int64_t)whole);
}

/* Makes slots longer. Where they are no part of the new ones, the middle decides here, too. */
static void coarsen(struct series *series, uint32_t slot_ms)
{
    const int64_t whole = (int64_t)series->slot_ms * 1000000;
    int64_t first = series_slot_of(series->first * whole, (uint64_t)whole, slot_ms);
    uint32_t length = 0;

    for (uint32_t i = 0; i < series->length; i++) {
        struct demand_slot slot = series->slots[i];
        uint32_t at = (uint32_t)(series_slot_of((series->first + i) * whole, (uint64_t)whole, slot_ms) - first);

        /* at <= i, so what is written has been read */
        while (length <= at)
            series->slots[length++] = (struct demand_slot){{0}};
        demand_add(&series->slots[at], &slot);
    }
    series->first = first;
    series->length = length;
    series->slot_ms = slot_ms;
}

/* Slots that hold such an interval: as long as that, if windows are made of these, whichever came first. */
static uint32_t slot_for(uint32_t interval_ms, uint32_t slot_ms)
{
    const uint32_t window_ms = interval_ms > MINUTE_MS ? HOUR_MS : MINUTE_MS;

    return window_ms % interval_ms ? (interval_ms + slot_ms - 1) / slot_ms * slot_ms : interval_ms;
}

/* Lengths that are parts of a minute and of an hour, as long as there are such. */
static uint32_t coarser(uint32_t slot_ms)
{
    static const uint32_t nice[] = {1000, 2000, 5000, 10000, 20000, 60000, 300000, 1200000, 3600000};

    for (size_t i = 0; i < sizeof(nice) / sizeof(*nice); i++)
        if (nice[i] > slot_ms && nice[i] % slot_ms == 0)
            return nice[i] / slot_ms;
    return 10;
}

static int reserve(struct series *series, uint32_t length)
{
    uint32_t wanted = series->capacity ? series->capacity : 16;
    struct demand_slot *grown;

    if (length <= series->capacity)
        return 0;
    while (wanted < length)
        wanted *= 2;
    grown = reallocarray(series->slots, wanted, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    series->slots = grown;
    series->capacity = wanted;
    return 0;
}

static int64_t length_with(const struct series *series, int64_t slot)
{
    int64_t first = slot < series->first ? slot : series->first;
    int64_t end = series->first + series->length;

    return (slot >= end ? slot + 1 : end) - first;
}

/* Makes the series hold a slot. */
static int extend(struct series *series, int64_t slot)
{
    int64_t length = length_with(series, slot);
    uint32_t before = slot < series->first ? (uint32_t)(series->first - slot) : 0;
    int err = reserve(series, (uint32_t)length);

    if (err)
        return err;
    memmove(series->slots + before, series->slots, series->length * sizeof(*series->slots));
    memset(series->slots, 0, before * sizeof(*series->slots));
    series->length += before;
    series->first -= before;
    memset(series->slots + series->length, 0,
           ((uint32_t)length - series->length) * sizeof(*series->slots));
    series->length = (uint32_t)length;
    return 0;
}

int series_add(struct series *series, int64_t start_ns, uint64_t duration_ns, uint32_t interval_ms,
               const struct demand_slot *amount)
{
    int64_t slot;
    int err;

    if (!interval_ms)
        return -EINVAL;
    if (interval_ms > INTERVAL_MS_MAX) /* databases may hold such */
        interval_ms = INTERVAL_MS_MAX;
    if (!series->length) {
        series->slot_ms = interval_ms;
        series->first = series_slot_of(start_ns, duration_ns, interval_ms);
    }
    if (interval_ms > series->slot_ms)
        coarsen(series, slot_for(interval_ms, series->slot_ms));
    slot = series_slot_of(start_ns, duration_ns, series->slot_ms);
    if (slot >= series->first && slot < series->first + series->length) {
        demand_add(&series->slots[slot - series->first], amount);
        return 0;
    }
    while (length_with(series, slot) > SERIES_SLOTS_MAX) {
        if (series->slot_ms > UINT32_MAX / 10)
            return -EINVAL;
        coarsen(series, series->slot_ms * coarser(series->slot_ms));
        slot = series_slot_of(start_ns, duration_ns, series->slot_ms);
    }
    err = extend(series, slot);
    if (err)
        return err;
    demand_add(&series->slots[slot - series->first], amount);
    return 0;
}

/* Windows first.., so many of them. */
static void add_up(const struct series *series, unsigned demands, uint32_t window_ms, int64_t first, size_t windows,
                   double *sum)
{
    for (uint32_t i = 0; i < series->length; i++) {
        int64_t at = floor_div((series->first + i) * series->slot_ms, window_ms) - first;

        if (at < 0 || (size_t)at >= windows)
            continue;
        for (unsigned d = 0; d < DEMAND_COUNT; d++)
            if (demands & DEMAND_BIT(d))
                sum[at] += (double)series->slots[i].demand[d];
    }
}

int series_windows(const struct series *series, unsigned demands, uint32_t window_ms, int64_t from,
                   int64_t last, double **sums, size_t *count)
{
    int64_t first = floor_div(from, window_ms);
    size_t windows = (size_t)(floor_div(last, window_ms) - first + 1);
    double *sum;

    if (!series->length || window_ms % series->slot_ms)
        return -ENODATA;
    sum = calloc(windows, sizeof(*sum));
    if (!sum)
        return -ENOMEM;
    add_up(series, demands, window_ms, first, windows, sum);
    *sums = sum;
    *count = windows;
    return 0;
}

int series_part(const struct series *series, unsigned demands, uint32_t window_ms, int64_t from, int64_t last,
                struct series_part *out)
{
    int64_t first = floor_div(from, window_ms), end = floor_div(last, window_ms);

    if (!series->length || window_ms % series->slot_ms)
        return -ENODATA;
    *out = (struct series_part){.first = MAX(first, floor_div(series_from(series), window_ms)),
                                .windows = (uint64_t)(end - first + 1)};
    end = MIN(end, floor_div(series_last(series), window_ms));
    out->count = end < out->first ? 0 : (size_t)(end - out->first + 1);
    out->sums = calloc(out->count + 1, sizeof(*out->sums));
    if (!out->sums)
        return -ENOMEM;
    add_up(series, demands, window_ms, out->first, out->count, out->sums);
    return 0;
}

double series_rank(const double *sorted, size_t count, uint64_t windows, double q)
{
    uint64_t place = (uint64_t)ceil(q * (double)windows), empty = windows - MIN(windows, count);

    return place <= empty || !count ? 0 : sorted[MIN(place - empty, count) - 1];
}

int series_merge(struct series *series, const struct series *other, const double weight[DEMAND_COUNT])
{
    double left[DEMAND_COUNT] = {0}; /* else of one operation a slot a share would be none at all, or all of it */
    int err = 0;

    for (uint32_t i = 0; !err && i < other->length; i++) {
        struct demand_slot slot;

        for (unsigned d = 0; d < DEMAND_COUNT; d++) {
            left[d] += (double)other->slots[i].demand[d] * weight[d];
            slot.demand[d] = (uint64_t)(left[d] + 0.5);
            left[d] -= (double)slot.demand[d];
        }
        err = series_add(series, (other->first + i) * other->slot_ms * 1000000, (uint64_t)other->slot_ms * 1000000,
                         other->slot_ms, &slot);
    }
    return err;
}

double series_reads_apart(const struct series *series)
{
    uint32_t group = MAX(1, SECOND_MS / MAX(series->slot_ms, 1));
    double written = 0, read = 0, apart = 0;

    if (series->slot_ms > 2 * SECOND_MS || series->length < APART_MIN * group)
        return 0;
    for (uint32_t i = 0; i < series->length; i++)
        written += (double)series->slots[i].demand[DEMAND_WRITE_BYTES] / series->length;
    for (uint32_t i = 0; i < series->length; i += group) {
        double in = 0, out = 0;

        for (uint32_t k = i; k < MIN(i + group, series->length); k++) {
            in += (double)series->slots[k].demand[DEMAND_READ_BYTES];
            out += (double)series->slots[k].demand[DEMAND_WRITE_BYTES];
        }
        read += in;
        apart += out <= NEXT_TO_NOTHING * written * group ? in : 0;
    }
    return read > 0 ? apart / read : 0;
}

int64_t series_from(const struct series *series)
{
    return series->first * series->slot_ms;
}

int64_t series_last(const struct series *series)
{
    return (series->first + series->length - 1) * series->slot_ms;
}

void series_clear(struct series *series)
{
    free(series->slots);
    *series = (struct series){0};
}
