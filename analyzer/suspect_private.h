/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What analyzer/suspect.h promises is kept by four files on the tables that stand here: suspect.c, which feeds them and
 * tells who was found; suspect_seen.c, who does what where; suspect_like.c, who does the same; suspect_judge.c, who is
 * worse than others. Texts are the suspects' arena's. No header for others.
 */
#ifndef UNBLEND_ANALYZER_SUSPECT_PRIVATE_H
#define UNBLEND_ANALYZER_SUSPECT_PRIVATE_H

#include "analyzer/peer.h"
#include "analyzer/suspect.h"

/* Who is compared: a job's operation on a volume; and one node of them. */
struct group {
    const char *cluster, *job;
    struct peer_place place;
    enum operation op;
    uint32_t interval_ms;
};

struct member {
    uint32_t group;
    const char *node, *volume;
    unsigned seen, bad[SYMPTOMS]; /* of the last SUSPECT_OF intervals, a bit each; the lowest is the latest */
    int64_t slot_ms;              /* when it began */
    uint32_t intervals, bads[SYMPTOMS];
    uint32_t unlike[SYMPTOMS]; /* intervals in which it would stand out, had those that it is beside done the same */
    struct suspect worst[SYMPTOMS];
    bool is[SYMPTOMS];
};

/* A member in one interval. */
struct sighting {
    uint32_t member;
    int64_t slot_ms; /* when it began */
    uint64_t ops, errors, oldest_ns; /* errors: without */
    uint64_t answers; /* failures that tell what there is, as who looks for a name gets where it does not exist */
    uint64_t order[ORDER_COUNT];
    uint64_t synced; /* of fsync: bytes that its process wrote in the interval */
    struct histogram latency_ns, size;
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

/* --- suspect_seen.c --- */

/* The position of who a record tells of, made when it is new. 0 or -ENOMEM. */
int suspects_find_member(struct suspects *suspects, const struct batch *batch, const struct record *record,
                         uint32_t *out);

/* A member in the interval that begins then, made when it is new; valid until the next is made. 0 or -ENOMEM. */
int suspects_find_sighting(struct suspect_state *state, uint32_t member, int64_t slot_ms, struct sighting **out);

void suspects_clear_sighting(struct sighting *sighting);

/* Under which it is in the index. */
uint32_t suspects_sighting_hash(uint32_t member, int64_t slot_ms);

/* --- suspect_like.c --- */

/* What a record of the batch did is added to its sighting. 0, -ENOMEM or -ERANGE. */
int suspects_note(struct sighting *sighting, const struct batch *batch, const struct record *record);

/* Whether a node may be judged by how long another one's operations take: theirs are of like sizes, as many of them
   jump and as many find nothing. */
bool suspects_alike(const struct sighting *judged, const struct sighting *peer, enum operation op);

/* --- suspect_judge.c --- */

/* Intervals that began before then are over: they are compared and forgotten. 0 or -ENOMEM. */
int suspects_retire(struct suspect_state *state, int64_t before_ms);

#endif
