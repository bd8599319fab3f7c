/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The nodes of an interval that is over, each beside the others that did the same. */
#include "analyzer/suspect_private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/peer.h"
#include "lib/cleanup.h"
#include "lib/order.h"

#define OPS_MIN 20 /* fewer have no p99 */
#define OPS_FEW 3  /* fewer have no middle either */

/* Deviations that are never taken for less: buckets are 12.5 % wide, and an error or a second may be chance. */
static const struct {
    double relative, absolute;
} floors[SYMPTOMS] = {[SYMPTOM_P99] = {0.125, 20e-6}, [SYMPTOM_ERRORS] = {0, 0.01}, [SYMPTOM_OLDEST] = {0.125, 1}};

static double value_of(const struct sighting *sighting, enum symptom symptom)
{
    uint64_t p99, ops;

    switch (symptom) {
    case SYMPTOM_P99:
        return sighting->ops >= OPS_MIN && histogram_quantile(&sighting->latency_ns, 0.99, false, &p99)
                   ? (double)p99 / 1e9
                   : NAN;
    case SYMPTOM_ERRORS:
        ops = sighting->ops - sighting->answers;
        return ops >= OPS_MIN ? (double)sighting->errors / (double)ops : NAN;
    default:
        return (double)sighting->oldest_ns / 1e9;
    }
}

/* Of the one that is judged, who may have done so little as it is so slow: where the middle of that stands out, its p99
   does all the more. */
static double own_value_of(const struct sighting *sighting, enum symptom symptom)
{
    uint64_t median;

    if (symptom != SYMPTOM_P99 || sighting->ops >= OPS_MIN)
        return value_of(sighting, symptom);
    return sighting->ops >= OPS_FEW && histogram_quantile(&sighting->latency_ns, 0.5, false, &median)
               ? (double)median / 1e9
               : NAN;
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

/* Those of one operation of a job on a volume, in one interval. */
struct row {
    const struct sighting *first;
    uint32_t count;
    enum operation op;
    double *values; /* room for as many */
};

/* What the others have of a symptom: all of them, or those that do the same. How many there are. */
static uint32_t gather(const struct row *row, const struct sighting *judged, enum symptom symptom, bool all)
{
    uint32_t peers = 0;

    for (uint32_t k = 0; k < row->count; k++) {
        const struct sighting *other = &row->first[k];
        double value = other == judged ? NAN : value_of(other, symptom);

        if (!isnan(value) && (all || symptom != SYMPTOM_P99 || suspects_alike(judged, other, row->op)))
            row->values[peers++] = value;
    }
    return peers;
}

/* Whether it stands out among so many others. */
static bool stands_out(const struct row *row, double value, enum symptom symptom, uint32_t peers, struct suspect *out)
{
    struct peer_norm norm;

    if (isnan(value) || peers < SUSPECT_PEERS)
        return false;
    peer_norm_of(row->values, peers, floors[symptom].relative, floors[symptom].absolute, &norm);
    *out = (struct suspect){
        .value = value, .median = norm.median, .mads = peer_mads(&norm, value), .peers = peers};
    return out->mads > SUSPECT_MADS;
}

static void judge(struct suspect_state *state, const struct row *row, const struct sighting *sighting,
                  enum symptom symptom)
{
    struct member *member = &state->members[sighting->member];
    double value = own_value_of(sighting, symptom);
    uint32_t peers = gather(row, sighting, symptom, false);
    struct suspect found;

    if (!stands_out(row, value, symptom, peers, &found)) {
        if (peers < SUSPECT_PEERS)
            member->unlike[symptom] += stands_out(row, value, symptom, gather(row, sighting, symptom, true), &found);
        return;
    }
    member->bad[symptom] |= 1;
    member->bads[symptom]++;
    if (found.mads > member->worst[symptom].mads)
        member->worst[symptom] = found;
    member->is[symptom] |= __builtin_popcount(member->bad[symptom]) >= SUSPECT_BAD;
}

static int by_group(const void *a, const void *b, void *context)
{
    const struct suspect_state *state = context;
    const struct sighting *x = a, *y = b;
    uint32_t p = state->members[x->member].group, q = state->members[y->member].group;

    return ORDER(x->slot_ms, y->slot_ms) ?: ORDER(p, q) ?: ORDER(x->member, y->member);
}

static void compare(struct suspect_state *state, const struct row *row)
{
    for (uint32_t i = 0; i < row->count; i++)
        advance(state, &state->members[row->first[i].member], row->first[i].slot_ms);
    for (unsigned symptom = 0; symptom < SYMPTOMS && row->count > SUSPECT_PEERS; symptom++)
        for (uint32_t i = 0; i < row->count; i++)
            judge(state, row, &row->first[i], symptom);
}

int suspects_retire(struct suspect_state *state, int64_t before_ms)
{
    _cleanup_free_ double *values = calloc(state->sighting_count + 1u, sizeof(*values));
    uint32_t done = 0, left = 0;

    if (!values)
        return -ENOMEM;
    if (state->sighting_count)
        qsort_r(state->sightings, state->sighting_count, sizeof(*state->sightings), by_group, state);
    while (done < state->sighting_count && state->sightings[done].slot_ms < before_ms) {
        const struct sighting *first = &state->sightings[done];
        uint32_t group = state->members[first->member].group;
        struct row row = {.first = first, .count = 1, .op = state->groups[group].op, .values = values};

        while (done + row.count < state->sighting_count && first[row.count].slot_ms == first->slot_ms &&
               state->members[first[row.count].member].group == group)
            row.count++;
        compare(state, &row);
        done += row.count;
    }
    for (uint32_t i = 0; i < done; i++)
        suspects_clear_sighting(&state->sightings[i]);
    left = state->sighting_count - done;
    if (left)
        memmove(state->sightings, state->sightings + done, left * sizeof(*state->sightings));
    state->sighting_count = left;
    lookup_clear(&state->sighting_index);
    for (uint32_t i = 0; i < left; i++) {
        const struct sighting *sighting = &state->sightings[i];

        if (lookup_reserve(&state->sighting_index))
            return -ENOMEM;
        lookup_insert(&state->sighting_index, suspects_sighting_hash(sighting->member, sighting->slot_ms), i);
    }
    return 0;
}
