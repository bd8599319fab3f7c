/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/suspect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/series.h"
#include "analyzer/suspect_private.h"
#include "lib/order.h"
#include "lib/vector.h"

#define LATE 3 /* intervals, the longest, that batches may come late by */

const char *const symptom_names[SYMPTOMS] = {"p99_s", "errors", "oldest_s"};

int suspects_add(struct suspects *s, const struct batch *batch)
{
    int64_t slot_ms = 0;
    int err = 0;

    if (batch->interval_ms)
        slot_ms = series_slot_of(batch->start_ns, batch->duration_ns, batch->interval_ms) * batch->interval_ms;

    if (!s->state && !(s->state = calloc(1, sizeof(*s->state))))
        return -ENOMEM;
    if (batch->interval_ms > s->state->longest_ms)
        s->state->longest_ms = batch->interval_ms;
    if (slot_ms > s->state->latest_ms) {
        err = suspects_retire(s->state, slot_ms - LATE * (int64_t)s->state->longest_ms);
        s->state->latest_ms = slot_ms;
    }
    for (uint32_t i = 0; !err && i < batch->record_count; i++) {
        const struct record *record = &batch->records[i];
        struct sighting *sighting;
        uint32_t member;

        if (!operation_is_file(record->op) || record->op == OP_SEEK)
            continue;
        err = suspects_find_member(s, batch, record, &member);
        if (!err)
            err = suspects_find_sighting(s->state, member, slot_ms, &sighting);
        if (err)
            break;
        err = suspects_note(sighting, batch, record);
    }
    return err;
}

/* Which symptom it is shows in how often; deviations of different ones do not compare. */
static int by_node(const void *a, const void *b)
{
    const struct suspect *x = a, *y = b;

    return strcmp(x->node, y->node) ?: ORDER(y->bad, x->bad) ?: ORDER(y->mads, x->mads) ?: ORDER(x->op, y->op);
}

static void clear_state(struct suspect_state *state)
{
    if (!state)
        return;
    for (uint32_t i = 0; i < state->sighting_count; i++)
        suspects_clear_sighting(&state->sightings[i]);
    lookup_clear(&state->group_index);
    lookup_clear(&state->member_index);
    lookup_clear(&state->sighting_index);
    free(state->groups);
    free(state->members);
    free(state->sightings);
    free(state);
}

/* Appends what is known of a member's symptom. 0 or -ENOMEM. */
static int tell(const struct suspect_state *state, const struct member *member, enum symptom symptom, uint32_t bad,
                struct suspect **list, uint32_t *count, uint32_t *capacity)
{
    const struct group *group = &state->groups[member->group];
    struct suspect *suspect;

    if (vector_reserve((void **)list, capacity, *count, sizeof(*suspect)))
        return -ENOMEM;
    suspect = &(*list)[(*count)++];
    *suspect = member->worst[symptom];
    suspect->cluster = group->cluster;
    suspect->node = member->node;
    suspect->job = group->job;
    suspect->volume = member->volume;
    suspect->op = group->op;
    suspect->symptom = symptom;
    suspect->bad = bad;
    suspect->intervals = member->intervals;
    return 0;
}

static int tell_all(struct suspects *s)
{
    int err = 0;

    for (uint32_t i = 0; i < s->state->member_count; i++)
        for (unsigned symptom = 0; !err && symptom < SYMPTOMS; symptom++) {
            const struct member *member = &s->state->members[i];

            if (member->is[symptom])
                err = tell(s->state, member, symptom, member->bads[symptom], &s->list, &s->count, &s->capacity);
            else if (member->unlike[symptom] >= SUSPECT_BAD)
                err = tell(s->state, member, symptom, member->unlike[symptom], &s->unlike, &s->unlike_count,
                           &s->unlike_capacity);
        }
    return err;
}

int suspects_finish(struct suspects *s)
{
    int err = s->state ? suspects_retire(s->state, INT64_MAX) : 0;

    if (!err && s->state)
        err = tell_all(s);
    if (!err && s->count)
        qsort(s->list, s->count, sizeof(*s->list), by_node);
    if (!err && s->unlike_count)
        qsort(s->unlike, s->unlike_count, sizeof(*s->unlike), by_node);
    clear_state(s->state);
    s->state = NULL;
    return err;
}

void suspects_clear(struct suspects *s)
{
    clear_state(s->state);
    free(s->list);
    free(s->unlike);
    arena_clear(&s->arena);
    *s = (struct suspects){0};
}
