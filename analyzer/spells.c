/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/spells.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "lib/cleanup.h"
#include "lib/vector.h"

#define NEARLY_ALL 0.9
#define ELSEWHERE  0.001 /* of a process's time, in any of its intervals: tells whose a slot is in which nobody is as a rule */

/* When it did operations of a kind, within the spell. */
static void place(struct spell *spell, const struct unit *unit, enum busy kind)
{
    int64_t first_ns, last_ns;

    presence_span(&unit->presence[kind], MAX(unit->interval_ns, 1), &first_ns, &last_ns);
    spell->span[kind].first_ns = MIN(MAX(first_ns, spell->first_ns), spell->last_ns);
    spell->span[kind].last_ns = MAX(MIN(last_ns, spell->last_ns), spell->span[kind].first_ns);
}

int spells_add(struct spells *spells, uint32_t volume, uint32_t profile, const struct unit *unit,
               const double times[BUSY_KINDS])
{
    int64_t half = MIN(unit->interval_ns, unit->last_ns - unit->first_ns) / 2;
    struct spell *spell;

    if (vector_grow((void **)&spells->list, &spells->capacity, spells->count, sizeof(*spells->list)))
        return -ENOMEM;
    spell = &spells->list[spells->count++];
    *spell = (struct spell){.unit = unit, .volume = volume, .profile = profile,
                            .first_ns = unit->first_ns + half, .last_ns = unit->last_ns - half};
    memcpy(spell->times, times, sizeof(spell->times));
    for (enum busy k = 0; k < BUSY_KINDS; k++)
        place(spell, unit, k);
    return 0;
}

int spells_take(struct spells *spells, const struct spells *from, uint32_t volume)
{
    for (uint32_t i = 0; i < from->count; i++) {
        if (from->list[i].volume != volume)
            continue;
        if (vector_grow((void **)&spells->list, &spells->capacity, spells->count, sizeof(*spells->list)))
            return -ENOMEM;
        spells->list[spells->count] = from->list[i];
        spells->list[spells->count++].volume = 0;
    }
    return 0;
}

void spells_clear(struct spells *spells)
{
    free(spells->list);
    *spells = (struct spells){0};
}

/* Of one that did so much all in all: all of it, if no one thing is nearly all. */
static double if_mingled(double sum, double most)
{
    return most < NEARLY_ALL * sum ? sum : 0;
}

static double time_of(const double times[BUSY_KINDS])
{
    double sum = 0;

    for (unsigned k = 0; k < BUSY_KINDS; k++)
        sum += times[k];
    return sum;
}

/* What is of no process. */
static double mingled_rest(const struct spells *spells, uint32_t volume, const double *times, uint32_t profiles)
{
    double sum = 0, most = 0;

    for (uint32_t p = 0; p < profiles; p++) {
        double rest = time_of(times + (size_t)p * BUSY_KINDS);

        for (uint32_t i = 0; i < spells->count; i++)
            if (spells->list[i].volume == volume && spells->list[i].profile == p)
                rest -= time_of(spells->list[i].times);
        sum += fmax(rest, 0);
        most = fmax(most, rest);
    }
    return if_mingled(sum, most);
}

double spells_mingled(const struct spells *spells, uint32_t volume, const double *times, uint32_t profiles)
{
    double mingled = mingled_rest(spells, volume, times, profiles), sum = 0, most = 0;
    const struct unit *unit = NULL;

    for (uint32_t i = 0; i < spells->count; i++) {
        const struct spell *spell = &spells->list[i];

        if (spell->volume != volume)
            continue;
        if (spell->unit != unit) {
            mingled += if_mingled(sum, most);
            sum = most = 0;
            unit = spell->unit;
        }
        sum += time_of(spell->times);
        most = fmax(most, time_of(spell->times));
    }
    return mingled + if_mingled(sum, most);
}

static size_t slot_at(const struct spell_slots *slots, int64_t ns)
{
    int64_t slot = (ns / 1000000 - slots->from_ms) / slots->slot_ms;

    return (size_t)MAX(0, MIN(slot, (int64_t)slots->count - 1));
}

/* Of each profile, the time that processes had. */
static void add_times(const struct spells *spells, uint32_t volume, enum busy kind, double *had)
{
    for (uint32_t i = 0; i < spells->count; i++)
        if (spells->list[i].volume == volume)
            had[spells->list[i].profile] += spells->list[i].times[kind];
}

/* So much time of a profile in all slots between two times. */
static void add_change(const struct spell_slots *slots, int64_t first_ns, int64_t last_ns, double time, uint32_t profiles,
                       double *changes)
{
    size_t from = slot_at(slots, first_ns), last = slot_at(slots, last_ns);

    time /= (double)(last - from + 1);
    changes[from * profiles] += time;
    changes[(last + 1) * profiles] -= time;
}

/* Each slot's changes of what there is of each profile. What was judged anew, as a whole, is less than its processes had. */
static void add_changes(const struct spells *spells, uint32_t volume, enum busy kind, const double *times, const double *had,
                        const struct spell_slots *slots, uint32_t profiles, double *changes)
{
    for (uint32_t i = 0; i < spells->count; i++) {
        const struct spell *spell = &spells->list[i];
        double all = times[spell->profile * BUSY_KINDS + kind], time = spell->times[kind];

        if (spell->volume != volume || !(time > 0))
            continue;
        time *= fmin(1, all / had[spell->profile]);
        add_change(slots, spell->span[kind].first_ns, spell->span[kind].last_ns, (1 - ELSEWHERE) * time, profiles,
                   changes + spell->profile);
        add_change(slots, spell->first_ns, spell->last_ns, ELSEWHERE * time, profiles, changes + spell->profile);
    }
}

static double sum_of(const double *numbers, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += numbers[i];
    return sum;
}

/* One slot, by what processes did in it, and what none did. */
static void divide(double busy, double share, const double *here, const double *rest, const double *all, uint32_t profiles,
                   double *patterns)
{
    double sum = 0;

    for (uint32_t p = 0; p < profiles; p++)
        sum += fmax(0, here[p]) + share * rest[p];
    for (uint32_t p = 0; p < profiles; p++)
        patterns[p] += busy * (sum > 0 ? (fmax(0, here[p]) + share * rest[p]) / sum : all[p]);
}

/* In slots of which the first and the last have some time. */
static int divide_slots(const struct spells *spells, uint32_t volume, enum busy kind, const double *times,
                        const struct spell_slots *slots, const double *busy, uint32_t profiles, double *patterns)
{
    _cleanup_free_ double *changes = calloc((slots->count + 1) * profiles, sizeof(*changes));
    _cleanup_free_ double *sums = calloc(4u * profiles, sizeof(*sums));
    double *had = sums, *rest = sums + profiles, *all = rest + profiles, *here = all + profiles;
    double total = sum_of(busy, slots->count), time = 0;

    if (!changes || !sums)
        return -ENOMEM;
    add_times(spells, volume, kind, had);
    add_changes(spells, volume, kind, times, had, slots, profiles, changes);
    for (uint32_t p = 0; p < profiles; p++)
        time += times[p * BUSY_KINDS + kind];
    for (uint32_t p = 0; time > 0 && p < profiles; p++) {
        rest[p] = fmax(0, times[p * BUSY_KINDS + kind] - had[p]);
        all[p] = times[p * BUSY_KINDS + kind] / time;
    }
    for (size_t slot = 0; slot < slots->count; slot++) {
        for (uint32_t p = 0; p < profiles; p++)
            here[p] += changes[slot * profiles + p];
        if (busy[slot] > 0)
            divide(busy[slot], busy[slot] / total, here, rest, all, profiles, patterns + slot * profiles);
    }
    return 0;
}

int spells_divide(const struct spells *spells, uint32_t volume, enum busy kind, const double *times,
                  const struct spell_slots *slots, const double *busy, uint32_t profiles, double *patterns)
{
    struct spell_slots used = *slots;
    size_t from = 0, to = slots->count;

    while (from < to && !(busy[from] > 0))
        from++;
    while (to > from && !(busy[to - 1] > 0))
        to--;
    if (from == to)
        return 0;
    used.from_ms += (int64_t)from * slots->slot_ms;
    used.count = to - from;
    return divide_slots(spells, volume, kind, times, &used, busy + from, profiles, patterns + from * profiles);
}
