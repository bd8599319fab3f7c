/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/blend.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "analyzer/part.h"
#include "lib/cleanup.h"
#include "lib/vector.h"

#define NOTICED_SHARE 0.01
#define KINDS 5 /* of enum busy */

/* One job on the volume that is looked at, slot by slot. */
struct guest {
    uint32_t job;
    double *slots[KINDS];
    uint32_t volume;     /* of the job's */
    const double *times; /* by profile and kind of time */
    const struct spells *spells;
    double total;
    int64_t from, last; /* of its series */
};

struct stage {
    const struct volume_total *volume;
    struct guest *guests;
    uint32_t count, profiles;
    uint32_t slot_ms;
    int64_t from, last;
    size_t slots;
};

static int by_total(const void *a, const void *b)
{
    const struct guest *x = a, *y = b;

    return (x->total < y->total) - (x->total > y->total);
}

static void clear_stage(struct stage *stage)
{
    for (uint32_t i = 0; i < stage->count; i++)
        for (unsigned k = 0; k < KINDS; k++)
            free(stage->guests[i].slots[k]);
    free(stage->guests);
}

static const struct series *busy_of_guest(const struct aggregate *totals, const struct guest *guest)
{
    return &totals->jobs[guest->job].volumes[guest->volume].busy;
}

/* The slots that all guests' series can be brought to. */
static void measure(struct stage *stage, const struct aggregate *totals)
{
    for (uint32_t i = 0; i < stage->count; i++) {
        const struct series *busy = busy_of_guest(totals, &stage->guests[i]);

        stage->slot_ms = busy->slot_ms > stage->slot_ms ? busy->slot_ms : stage->slot_ms;
        stage->from = !i || series_from(busy) < stage->from ? series_from(busy) : stage->from;
        stage->last = !i || series_last(busy) > stage->last ? series_last(busy) : stage->last;
    }
}

static int fill(struct stage *stage, const struct series *busy, struct guest *guest)
{
    for (unsigned k = 0; k < KINDS; k++) {
        int err = series_windows(busy, DEMAND_BIT(k), stage->slot_ms, stage->from, stage->last, &guest->slots[k],
                                 &stage->slots);

        if (err)
            return err;
        for (size_t s = 0; k < BUSY_KINDS && s < stage->slots; s++)
            guest->total += guest->slots[k][s];
    }
    return 0;
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
        err = fill(stage, busy_of_guest(totals, &stage->guests[i]), &stage->guests[i]);
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

static double time_in(const struct guest *guest, size_t slot)
{
    return guest->slots[BUSY_READ][slot] + guest->slots[BUSY_WRITE][slot] + guest->slots[BUSY_METADATA][slot];
}

static double ops_in(const struct guest *guest, size_t slot)
{
    return guest->slots[BUSY_DATA_OPS][slot] + guest->slots[BUSY_METADATA_OPS][slot];
}

static bool is_alone(const struct stage *stage, uint32_t guest, size_t slot)
{
    for (uint32_t i = 0; i < stage->count; i++)
        if (i != guest && time_in(&stage->guests[i], slot) > 0)
            return false;
    return true;
}

/* One who is inside operations for a hundredth of the slot, or asks for a hundredth as often as the other one. */
static bool is_noticed(const struct stage *stage, uint32_t who, uint32_t by, size_t slot)
{
    const struct guest *one = &stage->guests[who], *other = &stage->guests[by];

    return time_in(one, slot) > 0 &&
           (time_in(one, slot) >= NOTICED_SHARE * 1e6 * stage->slot_ms ||
            ops_in(one, slot) >= NOTICED_SHARE * ops_in(other, slot));
}

/* Whether one of them was there before a slot and the other one after it: then one may have ended in it before the
   other began. */
static bool is_handed_over(const struct stage *stage, uint32_t a, uint32_t b, size_t slot)
{
    bool a_before = slot > 0 && is_noticed(stage, a, b, slot - 1);
    bool b_before = slot > 0 && is_noticed(stage, b, a, slot - 1);
    bool a_after = slot + 1 < stage->slots && is_noticed(stage, a, b, slot + 1);
    bool b_after = slot + 1 < stage->slots && is_noticed(stage, b, a, slot + 1);

    return a_before != b_before && a_after != b_after && a_before != a_after;
}

static bool have_met(const struct stage *stage, uint32_t victim, uint32_t other, size_t slot)
{
    return other != victim && time_in(&stage->guests[victim], slot) > 0 && is_noticed(stage, other, victim, slot) &&
           !is_handed_over(stage, victim, other, slot);
}

/* What a job did in slots of one side. */
static double ops_on(const struct guest *guest, const struct sides *sides, enum kinds_side side, uint32_t *slots)
{
    double ops = 0;

    *slots = 0;
    for (size_t slot = 0; slot < sides->count; slot++)
        if (sides->side[slot] == side) {
            ops += ops_in(guest, slot);
            (*slots)++;
        }
    return ops;
}

static void compare(const struct kinds *kinds, const struct sides *sides, double ops, double time, struct meeting *out)
{
    struct contrast contrast;

    kinds_compare(kinds, sides, &contrast);
    out->compared_ops = contrast.ops;
    out->compared_slots = contrast.windows;
    out->together_ns = contrast.ops > 0 ? contrast.time_ns / contrast.ops : time / ops;
    out->alone_ns = contrast.ops > 0 ? contrast.expected_ns / contrast.ops : NAN;
    out->alone_low_ns = isnan(contrast.doubt) ? NAN : out->alone_ns * fmax(1 - contrast.doubt, 0);
    out->alone_high_ns = out->alone_ns * (1 + contrast.doubt);
    out->cost_s = contrast.ops > 0 ? (contrast.time_ns - contrast.expected_ns) / 1e9 : NAN;
}

/* Marks the slots in which two have met. The time of the victim's operations in them. */
static double mark_together(const struct stage *stage, uint32_t victim, uint32_t other, uint8_t *side)
{
    double time = 0;

    for (size_t slot = 0; slot < stage->slots; slot++) {
        side[slot] = side[slot] == KINDS_ALONE ? KINDS_ALONE : KINDS_NEITHER;
        if (!have_met(stage, victim, other, slot))
            continue;
        side[slot] = KINDS_TOGETHER; /* nobody is alone there */
        time += time_in(&stage->guests[victim], slot);
    }
    return time;
}

static int meet(const struct stage *stage, const struct aggregate *totals, uint32_t victim, struct blend *blend)
{
    const struct guest *guest = &stage->guests[victim];
    const struct kinds *kinds = &totals->jobs[guest->job].volumes[guest->volume].kinds;
    _cleanup_free_ uint8_t *side = calloc(stage->slots + 1, sizeof(*side));
    struct sides sides = {.window_ms = stage->slot_ms, .from = stage->from, .side = side, .count = stage->slots};
    double slot_s = stage->slot_ms / 1e3, alone_ops;
    uint32_t alone;

    if (!side)
        return -ENOMEM;
    for (size_t slot = 0; slot < stage->slots; slot++)
        side[slot] = time_in(guest, slot) > 0 && is_alone(stage, victim, slot) ? KINDS_ALONE : KINDS_NEITHER;
    alone_ops = ops_on(guest, &sides, KINDS_ALONE, &alone);
    for (uint32_t other = 0; other < stage->count && other < BLEND_JOBS; other++) {
        double time = mark_together(stage, victim, other, side), ops;
        struct meeting *meeting;
        uint32_t slots;

        ops = ops_on(guest, &sides, KINDS_TOGETHER, &slots);
        if (!slots)
            continue;
        if (vector_reserve((void **)&blend->meetings, &blend->meeting_capacity, blend->meeting_count,
                           sizeof(*meeting)))
            return -ENOMEM;
        meeting = &blend->meetings[blend->meeting_count++];
        *meeting = (struct meeting){.volume = stage->volume, .victim = guest->job,
                                    .other = stage->guests[other].job,
                                    .seconds = (double)slots * stage->slot_ms / 1000,
                                    .slots = slots, .alone_slots = alone};
        compare(kinds, &sides, ops, time, meeting);
        meeting->together_ops_s = ops / ((double)slots * slot_s);
        meeting->alone_ops_s = alone ? alone_ops / (alone * slot_s) : NAN;
    }
    return 0;
}

static double worth(const struct meeting *meeting)
{
    return isnan(meeting->cost_s) ? -INFINITY : meeting->cost_s;
}

static int by_cost(const void *a, const void *b)
{
    const struct meeting *x = a, *y = b;

    if (worth(x) != worth(y))
        return worth(x) < worth(y) ? 1 : -1;
    if (x->seconds != y->seconds)
        return x->seconds < y->seconds ? 1 : -1;
    return x->victim != y->victim ? (x->victim > y->victim) - (x->victim < y->victim)
                                  : (x->other > y->other) - (x->other < y->other);
}

static int play(struct stage *stage, const struct aggregate *totals, struct blend *blend, double *weighted,
                double *weight)
{
    int err = set_stage(stage, totals);

    if (!err)
        err = add_entropy(stage, weighted, weight);
    for (uint32_t i = 0; !err && i < stage->count && i < BLEND_JOBS; i++)
        err = meet(stage, totals, i, blend);
    blend->slot_ms = stage->slot_ms > blend->slot_ms ? stage->slot_ms : blend->slot_ms;
    return err == -ENODATA ? 0 : err;
}

static int by_time(const void *a, const void *b)
{
    const struct guest *x = a, *y = b;

    return (x->from > y->from) - (x->from < y->from);
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
    double weighted = 0, weight = 0;
    int err = 0;

    for (uint32_t v = 0; !err && v < totals->volume_count; v++) {
        struct stage stage = {.volume = &totals->volumes[v], .profiles = profiles};

        err = find_guests(&stage, totals, lists);
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
    if (blend.meeting_count)
        qsort(blend.meetings, blend.meeting_count, sizeof(*blend.meetings), by_cost);
    blend.effective = weight > 0 ? weighted / weight : NAN;
    blend.blend = 1 - 1 / blend.effective;
    *out = blend;
    return 0;
}

void blend_clear(struct blend *blend)
{
    free(blend->meetings);
    *blend = (struct blend){0};
}
