/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which jobs meet on a volume, when, and how long what they do takes then and when they are alone. */
#include "analyzer/blend_private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "lib/cleanup.h"
#include "lib/order.h"
#include "lib/vector.h"

#define NOTICED_SHARE 0.01

static double time_in(const struct guest *guest, size_t slot)
{
    return guest->slots[BUSY_READ][slot] + guest->slots[BUSY_WRITE][slot] + guest->slots[BUSY_METADATA][slot];
}

static double ops_in(const struct guest *guest, size_t slot)
{
    return guest->slots[BUSY_DATA_OPS][slot] + guest->slots[BUSY_METADATA_OPS][slot];
}

static double noticed_ns(const struct stage *stage)
{
    return NOTICED_SHARE * 1e6 * stage->slot_ms;
}

/* What takes so long and moves so much beside one is next to nothing: a hundredth of the slot, and of its own. */
static bool is_nothing(const struct stage *stage, double time, double bytes, const struct guest *beside, size_t slot)
{
    return time < noticed_ns(stage) && time < NOTICED_SHARE * time_in(beside, slot) &&
           bytes <= NOTICED_SHARE * beside->bytes[slot];
}

/* All others together do next to nothing, if anything. */
static bool is_alone(const struct stage *stage, uint32_t guest, size_t slot)
{
    double time = 0, bytes = 0;

    for (uint32_t i = 0; i < stage->count; i++)
        if (i != guest) {
            time += time_in(&stage->guests[i], slot);
            bytes += stage->guests[i].bytes[slot];
        }
    return !(time > 0) || is_nothing(stage, time, bytes, &stage->guests[guest], slot);
}

/* One who is inside operations for a hundredth of the slot, or asks for a hundredth as often as the other one, and not
   for next to nothing. */
static bool is_noticed(const struct stage *stage, uint32_t who, uint32_t by, size_t slot)
{
    const struct guest *one = &stage->guests[who], *other = &stage->guests[by];

    return time_in(one, slot) > 0 &&
           (time_in(one, slot) >= noticed_ns(stage) || ops_in(one, slot) >= NOTICED_SHARE * ops_in(other, slot)) &&
           !is_nothing(stage, time_in(one, slot), one->bytes[slot], other, slot);
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

int meetings_add(const struct stage *stage, const struct aggregate *totals, uint32_t victim, struct blend *blend)
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

double meeting_cost_least(const struct meeting *meeting)
{
    if (isnan(meeting->cost_s) || isnan(meeting->alone_high_ns))
        return NAN;
    return fmax(meeting->cost_s - meeting->compared_ops * (meeting->alone_high_ns - meeting->alone_ns) / 1e9, 0);
}

static double worth(const struct meeting *meeting)
{
    return isnan(meeting->cost_s) ? -INFINITY : meeting->cost_s;
}

static int by_cost(const void *a, const void *b)
{
    const struct meeting *x = a, *y = b;

    return ORDER(worth(y), worth(x)) ?: ORDER(y->seconds, x->seconds) ?: ORDER(x->victim, y->victim)
                                     ?: ORDER(x->other, y->other);
}

void meetings_sort(struct blend *blend)
{
    if (blend->meeting_count)
        qsort(blend->meetings, blend->meeting_count, sizeof(*blend->meetings), by_cost);
}
