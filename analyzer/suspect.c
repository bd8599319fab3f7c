/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/suspect.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/peer.h"
#include "analyzer/series.h"
#include "analyzer/vector.h"
#include "lib/cleanup.h"

#define OPS_MIN 20 /* fewer have no p99 */
#define LATE    3  /* intervals, the longest, that batches may come late by */

const char *const symptom_names[SYMPTOMS] = {"p99_s", "errors", "oldest_s"};

/* Deviations that are never taken for less: buckets are 12.5 % wide, and an error or a second may be chance. */
static const struct {
    double relative, absolute;
} floors[SYMPTOMS] = {[SYMPTOM_P99] = {0.125, 20e-6}, [SYMPTOM_ERRORS] = {0, 0.01}, [SYMPTOM_OLDEST] = {0.125, 1}};

/* Who is compared: a job's operation on a volume; and one node of them. */
struct group {
    const char *cluster, *job, *volume;
    enum operation op;
    uint32_t interval_ms;
};

struct member {
    uint32_t group;
    const char *node, *volume;
    unsigned seen, bad[SYMPTOMS]; /* of the last SUSPECT_OF intervals, a bit each; the lowest is the latest */
    int64_t slot_ms;              /* when it began */
    uint32_t intervals, bads[SYMPTOMS];
    struct suspect worst[SYMPTOMS];
    bool is[SYMPTOMS];
};

/* A member in one interval. */
struct sighting {
    uint32_t member;
    int64_t slot_ms; /* when it began */
    uint64_t ops, errors, oldest_ns;
    struct histogram latency_ns;
};

struct suspect_state {
    struct group *groups;
    uint32_t group_count, group_capacity;
    struct lookup group_index;
    struct member *members;
    uint32_t member_count, member_capacity;
    struct lookup member_index;
    struct sighting *sightings; /* as they came */
    uint32_t sighting_count, sighting_capacity;
    struct lookup sighting_index; /* of those */
    int64_t latest_ms;
    uint32_t longest_ms; /* interval */
};

/* "node:ext4:/dev/nvme0n1" is what "other:ext4:/dev/nvme0n1" is elsewhere. */
static const char *without_node(const char *volume, const char *node)
{
    size_t length = strlen(node);

    return strncmp(volume, node, length) == 0 && volume[length] == ':' ? volume + length + 1 : volume;
}

static int find_group(struct suspects *s, const struct batch *batch, const struct record *record, uint32_t *out)
{
    struct suspect_state *state = s->state;
    const char *job = batch->jobs[record->job].name;
    const char *volume = without_node(batch->volumes[record->volume].name, batch->node);
    uint32_t hash = lookup_hash(job, strlen(job)) ^ lookup_hash(volume, strlen(volume)) ^ (uint32_t)record->op ^
                    batch->interval_ms << 8;
    uint32_t cursor = hash;
    struct group *group;

    if (vector_reserve((void **)&state->groups, &state->group_capacity, state->group_count, sizeof(*group)) ||
        lookup_reserve(&state->group_index))
        return -ENOMEM;
    while (lookup_next(&state->group_index, hash, &cursor, out)) {
        group = &state->groups[*out];
        if (group->op == record->op && group->interval_ms == batch->interval_ms && strcmp(group->job, job) == 0 && strcmp(group->volume, volume) == 0 &&
            strcmp(group->cluster, batch->cluster) == 0)
            return 0;
    }
    group = &state->groups[state->group_count];
    *group = (struct group){arena_strdup(&s->arena, batch->cluster), arena_strdup(&s->arena, job),
                            arena_strdup(&s->arena, volume), record->op, batch->interval_ms};
    if (!group->cluster || !group->job || !group->volume)
        return -ENOMEM;
    lookup_insert(&state->group_index, hash, state->group_count);
    *out = state->group_count++;
    return 0;
}

static int find_member(struct suspects *s, const struct batch *batch, const struct record *record, uint32_t *out)
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

static int find_sighting(struct suspect_state *state, uint32_t member, int64_t slot_ms, struct sighting **out)
{
    const int64_t key[2] = {member, slot_ms};
    uint32_t hash = lookup_hash(key, sizeof(key)), cursor = hash, at;

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

static double value_of(const struct sighting *sighting, enum symptom symptom)
{
    uint64_t p99;

    switch (symptom) {
    case SYMPTOM_P99:
        return sighting->ops >= OPS_MIN && histogram_quantile(&sighting->latency_ns, 0.99, false, &p99)
                   ? (double)p99 / 1e9
                   : NAN;
    case SYMPTOM_ERRORS:
        return sighting->ops >= OPS_MIN ? (double)sighting->errors / (double)sighting->ops : NAN;
    default:
        return (double)sighting->oldest_ns / 1e9;
    }
}

static void advance(const struct suspect_state *state, struct member *member, int64_t slot_ms)
{
    uint32_t interval_ms = state->groups[member->group].interval_ms;
    int64_t passed = interval_ms ? (slot_ms - member->slot_ms) / interval_ms : 0;
    unsigned mask = (1u << SUSPECT_OF) - 1;

    for (unsigned i = 0; i < SYMPTOMS; i++)
        member->bad[i] = passed >= 0 && passed < SUSPECT_OF ? member->bad[i] << passed & mask : 0;
    member->slot_ms = slot_ms;
    member->intervals++;
}

static void judge(struct suspect_state *state, const struct sighting *sighting, enum symptom symptom, double *others,
                  uint32_t peers)
{
    struct member *member = &state->members[sighting->member];
    struct suspect *worst = &member->worst[symptom];
    double value = value_of(sighting, symptom), mads;
    struct peer_norm norm;

    if (isnan(value) || peers < SUSPECT_PEERS)
        return;
    peer_norm_of(others, peers, floors[symptom].relative, floors[symptom].absolute, &norm);
    mads = peer_mads(&norm, value);
    if (!(mads > SUSPECT_MADS))
        return;
    member->bad[symptom] |= 1;
    member->bads[symptom]++;
    if (mads > worst->mads)
        *worst = (struct suspect){.value = value, .median = norm.median, .mads = mads, .peers = peers};
    member->is[symptom] |= __builtin_popcount(member->bad[symptom]) >= SUSPECT_BAD;
}

static int by_group(const void *a, const void *b, void *context)
{
    const struct suspect_state *state = context;
    const struct sighting *x = a, *y = b;
    uint32_t p = state->members[x->member].group, q = state->members[y->member].group;

    if (x->slot_ms != y->slot_ms)
        return (x->slot_ms > y->slot_ms) - (x->slot_ms < y->slot_ms);
    return p != q ? (p > q) - (p < q) : (x->member > y->member) - (x->member < y->member);
}

/* One operation of a job on a volume, in one interval. */
static void compare(struct suspect_state *state, const struct sighting *first, uint32_t count, double *values)
{
    for (uint32_t i = 0; i < count; i++)
        advance(state, &state->members[first[i].member], first[i].slot_ms);
    for (unsigned symptom = 0; symptom < SYMPTOMS && count > SUSPECT_PEERS; symptom++)
        for (uint32_t i = 0; i < count; i++) {
            uint32_t peers = 0;

            for (uint32_t k = 0; k < count; k++) {
                double value = k == i ? NAN : value_of(&first[k], symptom);

                if (!isnan(value))
                    values[peers++] = value;
            }
            judge(state, &first[i], symptom, values, peers);
        }
}

/* Intervals that began before then are over. */
static int retire(struct suspect_state *state, int64_t before_ms)
{
    _cleanup_free_ double *values = calloc(state->sighting_count + 1u, sizeof(*values));
    uint32_t done = 0, left = 0;

    if (!values)
        return -ENOMEM;
    if (state->sighting_count)
        qsort_r(state->sightings, state->sighting_count, sizeof(*state->sightings), by_group, state);
    while (done < state->sighting_count && state->sightings[done].slot_ms < before_ms) {
        const struct sighting *first = &state->sightings[done];
        uint32_t count = 1;

        while (done + count < state->sighting_count && first[count].slot_ms == first->slot_ms &&
               state->members[first[count].member].group == state->members[first->member].group)
            count++;
        compare(state, first, count, values);
        done += count;
    }
    for (uint32_t i = 0; i < done; i++)
        histogram_clear(&state->sightings[i].latency_ns);
    left = state->sighting_count - done;
    if (left)
        memmove(state->sightings, state->sightings + done, left * sizeof(*state->sightings));
    state->sighting_count = left;
    lookup_clear(&state->sighting_index);
    for (uint32_t i = 0; i < left; i++) {
        const int64_t key[2] = {state->sightings[i].member, state->sightings[i].slot_ms};

        if (lookup_reserve(&state->sighting_index))
            return -ENOMEM;
        lookup_insert(&state->sighting_index, lookup_hash(key, sizeof(key)), i);
    }
    return 0;
}

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
        err = retire(s->state, slot_ms - LATE * (int64_t)s->state->longest_ms);
        s->state->latest_ms = slot_ms;
    }
    for (uint32_t i = 0; !err && i < batch->record_count; i++) {
        const struct record *record = &batch->records[i];
        struct sighting *sighting;
        uint32_t member;

        if (!operation_is_file(record->op) || record->op == OP_SEEK)
            continue;
        err = find_member(s, batch, record, &member);
        if (!err)
            err = find_sighting(s->state, member, slot_ms, &sighting);
        if (err)
            break;
        sighting->ops += record_ops(record);
        sighting->errors += record->errors;
        if (record->oldest_ns > sighting->oldest_ns)
            sighting->oldest_ns = record->oldest_ns;
        err = histogram_merge(&sighting->latency_ns, &record->latency_ns);
    }
    return err;
}

/* Which symptom it is shows in how often; deviations of different ones do not compare. */
static int by_node(const void *a, const void *b)
{
    const struct suspect *x = a, *y = b;
    int order = strcmp(x->node, y->node);

    if (order)
        return order;
    if (x->bad != y->bad)
        return x->bad < y->bad ? 1 : -1;
    return x->mads != y->mads ? (x->mads < y->mads) - (x->mads > y->mads) : (int)x->op - (int)y->op;
}

static void clear_state(struct suspect_state *state)
{
    if (!state)
        return;
    for (uint32_t i = 0; i < state->sighting_count; i++)
        histogram_clear(&state->sightings[i].latency_ns);
    lookup_clear(&state->group_index);
    lookup_clear(&state->member_index);
    lookup_clear(&state->sighting_index);
    free(state->groups);
    free(state->members);
    free(state->sightings);
    free(state);
}

int suspects_finish(struct suspects *s)
{
    int err = s->state ? retire(s->state, INT64_MAX) : 0;

    for (uint32_t i = 0; !err && s->state && i < s->state->member_count; i++)
        for (unsigned symptom = 0; symptom < SYMPTOMS; symptom++) {
            const struct member *member = &s->state->members[i];
            const struct group *group = &s->state->groups[member->group];
            struct suspect *suspect;

            if (!member->is[symptom])
                continue;
            if (vector_reserve((void **)&s->list, &s->capacity, s->count, sizeof(*suspect)))
                return -ENOMEM;
            suspect = &s->list[s->count++];
            *suspect = member->worst[symptom];
            suspect->cluster = group->cluster;
            suspect->node = member->node;
            suspect->job = group->job;
            suspect->volume = member->volume;
            suspect->op = group->op;
            suspect->symptom = symptom;
            suspect->bad = member->bads[symptom];
            suspect->intervals = member->intervals;
        }
    if (!err && s->count)
        qsort(s->list, s->count, sizeof(*s->list), by_node);
    clear_state(s->state);
    s->state = NULL;
    return err;
}

void suspects_clear(struct suspects *s)
{
    clear_state(s->state);
    free(s->list);
    arena_clear(&s->arena);
    *s = (struct suspects){0};
}
