/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who does what where: a job's operation on a volume, the nodes of it, and each of those in an interval. */
#include "analyzer/suspect_private.h"

#include <errno.h>
#include <string.h>

#include "lib/vector.h"

static int find_group(struct suspects *s, const struct batch *batch, const struct record *record, uint32_t *out)
{
    struct suspect_state *state = s->state;
    const char *job = batch->jobs[record->job].name;
    const struct peer_place place = peer_place_of(&batch->volumes[record->volume], batch->node);
    uint32_t hash = lookup_hash(job, strlen(job)) ^ lookup_hash(place.fstype, strlen(place.fstype)) ^
                    lookup_hash(place.source, strlen(place.source)) ^ (uint32_t)record->op ^ batch->interval_ms << 8;
    uint32_t cursor = hash;
    struct group *group;

    if (vector_reserve((void **)&state->groups, &state->group_capacity, state->group_count, sizeof(*group)) ||
        lookup_reserve(&state->group_index))
        return -ENOMEM;
    while (lookup_next(&state->group_index, hash, &cursor, out)) {
        group = &state->groups[*out];
        if (group->op == record->op && group->interval_ms == batch->interval_ms && strcmp(group->job, job) == 0 &&
            peer_same_place(&group->place, &place) && strcmp(group->cluster, batch->cluster) == 0)
            return 0;
    }
    group = &state->groups[state->group_count];
    *group = (struct group){arena_strdup(&s->arena, batch->cluster),
                            arena_strdup(&s->arena, job),
                            {arena_strdup(&s->arena, place.fstype), arena_strdup(&s->arena, place.source),
                             arena_strdup(&s->arena, place.point)},
                            record->op,
                            batch->interval_ms};
    if (!group->cluster || !group->job || !group->place.fstype || !group->place.source || !group->place.point)
        return -ENOMEM;
    lookup_insert(&state->group_index, hash, state->group_count);
    *out = state->group_count++;
    return 0;
}

int suspects_find_member(struct suspects *s, const struct batch *batch, const struct record *record, uint32_t *out)
{
    struct suspect_state *state = s->state;
    uint32_t group, hash, cursor;
    struct member *member;
    int err = find_group(s, batch, record, &group);

    if (err)
        return err;
    cursor = hash = lookup_hash(batch->node, strlen(batch->node)) ^ group * 2654435761u;
    while (lookup_next(&state->member_index, hash, &cursor, out))
        if (state->members[*out].group == group && strcmp(state->members[*out].node, batch->node) == 0)
            return 0;
    if (vector_reserve((void **)&state->members, &state->member_capacity, state->member_count, sizeof(*member)) ||
        lookup_reserve(&state->member_index))
        return -ENOMEM;
    member = &state->members[state->member_count];
    member->group = group;
    member->node = arena_strdup(&s->arena, batch->node);
    member->volume = arena_strdup(&s->arena, batch->volumes[record->volume].name);
    if (!member->node || !member->volume)
        return -ENOMEM;
    lookup_insert(&state->member_index, hash, state->member_count);
    *out = state->member_count++;
    return 0;
}

void suspects_clear_sighting(struct sighting *sighting)
{
    histogram_clear(&sighting->latency_ns);
    histogram_clear(&sighting->size);
}

uint32_t suspects_sighting_hash(uint32_t member, int64_t slot_ms)
{
    const int64_t key[2] = {member, slot_ms};

    return lookup_hash(key, sizeof(key));
}

int suspects_find_sighting(struct suspect_state *state, uint32_t member, int64_t slot_ms, struct sighting **out)
{
    uint32_t hash = suspects_sighting_hash(member, slot_ms), cursor = hash, at;

    while (lookup_next(&state->sighting_index, hash, &cursor, &at))
        if (state->sightings[at].member == member && state->sightings[at].slot_ms == slot_ms) {
            *out = &state->sightings[at];
            return 0;
        }
    if (vector_reserve((void **)&state->sightings, &state->sighting_capacity, state->sighting_count, sizeof(**out)) ||
        lookup_reserve(&state->sighting_index))
        return -ENOMEM;
    lookup_insert(&state->sighting_index, hash, state->sighting_count);
    *out = &state->sightings[state->sighting_count++];
    **out = (struct sighting){.member = member, .slot_ms = slot_ms};
    return 0;
}
