/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/blend.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "analyzer/blend_private.h"
#include "analyzer/part.h"
#include "lib/cleanup.h"
#include "lib/order.h"

static int by_total(const void *a, const void *b)
{
    const struct guest *x = a, *y = b;

    return (x->total < y->total) - (x->total > y->total);
}

static void clear_stage(struct stage *stage)
{
    for (uint32_t i = 0; i < stage->count; i++) {
        for (unsigned k = 0; k < BLEND_KINDS; k++)
            free(stage->guests[i].slots[k]);
        free(stage->guests[i].bytes);
    }
    free(stage->guests);
}

static const struct volume_total *volume_of_guest(const struct aggregate *totals, const struct guest *guest)
{
    return &totals->jobs[guest->job].volumes[guest->volume];
}

/* The slots that all guests' series can be brought to. */
static void measure(struct stage *stage, const struct aggregate *totals)
{
    for (uint32_t i = 0; i < stage->count; i++) {
        const struct series *busy = &volume_of_guest(totals, &stage->guests[i])->busy;

        stage->slot_ms = busy->slot_ms > stage->slot_ms ? busy->slot_ms : stage->slot_ms;
        stage->from = !i || series_from(busy) < stage->from ? series_from(busy) : stage->from;
        stage->last = !i || series_last(busy) > stage->last ? series_last(busy) : stage->last;
    }
}

static int fill(struct stage *stage, const struct volume_total *volume, struct guest *guest)
{
    for (unsigned k = 0; k < BLEND_KINDS; k++) {
        int err = series_windows(&volume->busy, DEMAND_BIT(k), stage->slot_ms, stage->from, stage->last,
                                 &guest->slots[k], &stage->slots);

        if (err)
            return err;
        for (size_t s = 0; k < BUSY_KINDS && s < stage->slots; s++)
            guest->total += guest->slots[k][s];
    }
    return series_windows(&volume->series, DEMAND_BYTES, stage->slot_ms, stage->from, stage->last, &guest->bytes,
                          &stage->slots);
}

/* Who is on the stage's volume. 0 or -ENOMEM. */
static int find_guests(struct stage *stage, const struct aggregate *totals, const struct profile_list *lists)
{
    stage->guests = calloc(totals->job_count + 1u, sizeof(*stage->guests));
    if (!stage->guests)
        return -ENOMEM;
    for (uint32_t j = 0; j < totals->job_count; j++)
        for (uint32_t v = 0; v < totals->jobs[j].volume_count; v++)
            if (totals->jobs[j].volumes[v].busy.length &&
                strcmp(totals->jobs[j].volumes[v].name, stage->volume->name) == 0)
                stage->guests[stage->count++] = (struct guest){
                    .job = j, .volume = v, .times = lists[j].times + (size_t)v * stage->profiles * BUSY_KINDS,
                    .spells = &lists[j].spells,
                    .from = series_from(&totals->jobs[j].volumes[v].busy),
                    .last = series_last(&totals->jobs[j].volumes[v].busy)};
    measure(stage, totals);
    return 0;
}

/* 0, -ENOMEM, or -ENODATA for slots that cannot be aligned. */
static int set_stage(struct stage *stage, const struct aggregate *totals)
{
    int err = 0;

    for (uint32_t i = 0; !err && i < stage->count; i++)
        err = fill(stage, volume_of_guest(totals, &stage->guests[i]), &stage->guests[i]);
    if (!err && stage->count)
        qsort(stage->guests, stage->count, sizeof(*stage->guests), by_total);
    return err;
}

/* The patterns' time in each slot, [slots][profiles]. */
static int divide(const struct stage *stage, double *patterns)
{
    struct spell_slots slots = {.slot_ms = stage->slot_ms, .count = stage->slots};
    int err = 0;

    if (stage->count)
        slots.from_ms = stage->from / stage->slot_ms * stage->slot_ms;
    for (uint32_t i = 0; i < stage->count; i++) {
        const struct guest *guest = &stage->guests[i];

        for (enum busy k = 0; !err && k < BUSY_KINDS; k++)
            err = spells_divide(guest->spells, guest->volume, k, guest->times, &slots, guest->slots[k], stage->profiles,
                                patterns);
    }
    return err;
}

static int add_entropy(const struct stage *stage, double *weighted, double *weight)
{
    _cleanup_free_ double *patterns = calloc(stage->slots * stage->profiles + 1, sizeof(*patterns));

    if (!patterns || divide(stage, patterns))
        return -ENOMEM;
    for (size_t slot = 0; slot < stage->slots; slot++) {
        const double *here = patterns + slot * stage->profiles;
        double sum = 0, entropy = 0;

        for (uint32_t p = 0; p < stage->profiles; p++)
            sum += here[p];
        for (uint32_t p = 0; p < stage->profiles; p++)
            entropy -= here[p] > 0 ? here[p] / sum * log(here[p] / sum) : 0;
        *weighted += sum > 0 ? sum * exp(entropy) : 0;
        *weight += sum;
    }
    return 0;
}

/* Adds to the time in operations that of which it is not known when what was done. */
static void add_mingled(const struct stage *stage, double *mingled, double *all)
{
    for (uint32_t i = 0; i < stage->count; i++) {
        const struct guest *guest = &stage->guests[i];

        *mingled += spells_mingled(guest->spells, guest->volume, guest->times, stage->profiles);
        for (size_t t = 0; t < (size_t)stage->profiles * BUSY_KINDS; t++)
            *all += guest->times[t];
    }
}

static int play(struct stage *stage, const struct aggregate *totals, struct blend *blend, double *weighted,
                double *weight)
{
    int err = set_stage(stage, totals);

    if (!err)
        err = add_entropy(stage, weighted, weight);
    for (uint32_t i = 0; !err && i < stage->count && i < BLEND_JOBS; i++)
        err = meetings_add(stage, totals, i, blend);
    blend->slot_ms = stage->slot_ms > blend->slot_ms ? stage->slot_ms : blend->slot_ms;
    return err == -ENODATA ? 0 : err;
}

static int by_time(const void *a, const void *b)
{
    const struct guest *x = a, *y = b;

    return ORDER(x->from, y->from);
}

/* Guests who are not there at one time do not meet: where the time between them would take more slots than a series has
   (a clock that is years ahead), those of each time have the stage for themselves. */
static int play_apart(struct stage *stage, const struct aggregate *totals, struct blend *blend, double *weighted,
                      double *weight)
{
    uint32_t next;
    int err = 0;

    qsort(stage->guests, stage->count, sizeof(*stage->guests), by_time);
    for (uint32_t first = 0; !err && first < stage->count; first = next) {
        struct stage part = {.volume = stage->volume, .profiles = stage->profiles, .guests = &stage->guests[first]};
        int64_t last = part.guests->last;

        for (next = first + 1; next < stage->count && stage->guests[next].from <= last + stage->slot_ms; next++)
            last = MAX(last, stage->guests[next].last);
        part.count = next - first;
        measure(&part, totals);
        err = play(&part, totals, blend, weighted, weight);
    }
    return err;
}

int blend_of(const struct aggregate *totals, const struct profile_list *lists, uint32_t profiles, struct blend *out)
{
    struct blend blend = {0};
    double weighted = 0, weight = 0, mingled = 0, all = 0;
    int err = 0;

    for (uint32_t v = 0; !err && v < totals->volume_count; v++) {
        struct stage stage = {.volume = &totals->volumes[v], .profiles = profiles};

        err = find_guests(&stage, totals, lists);
        if (!err)
            add_mingled(&stage, &mingled, &all);
        if (!err && stage.count && (stage.last - stage.from) / stage.slot_ms >= SERIES_SLOTS_MAX)
            err = play_apart(&stage, totals, &blend, &weighted, &weight);
        else if (!err)
            err = play(&stage, totals, &blend, &weighted, &weight);
        clear_stage(&stage);
    }
    if (err) {
        blend_clear(&blend);
        return err;
    }
    meetings_sort(&blend);
    blend.effective = weight > 0 ? weighted / weight : NAN;
    blend.mingled = all > 0 ? mingled / all : NAN;
    blend.blend = 1 - 1 / blend.effective;
    *out = blend;
    return 0;
}

void blend_clear(struct blend *blend)
{
    free(blend->meetings);
    *blend = (struct blend){0};
}
