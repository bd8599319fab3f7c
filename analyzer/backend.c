/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/backend.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/order.h"
#include "lib/vector.h"

static bool same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static const char *copy(struct arena *arena, const char *text)
{
    return text ? arena_strdup(arena, text) : NULL;
}

static uint32_t hash_of(const char *text)
{
    return lookup_hash(text, strlen(text));
}

static struct backend *find_backend(struct backends *backends, struct arena *arena, const struct batch *batch,
                                    const struct station *station)
{
    const struct volume *volume = &batch->volumes[station->volume];
    uint32_t node = hash_of(batch->node), hash = hash_of(volume->name) ^ node, cursor = hash, at;
    struct backend *backend;

    while (lookup_next(&backends->index, hash, &cursor, &at)) {
        backend = &backends->list[at];
        if (backend->layer == station->layer && strcmp(backend->volume, volume->name) == 0 &&
            strcmp(backend->node, batch->node) == 0 && strcmp(backend->cluster, batch->cluster) == 0)
            return backend;
    }
    if (vector_reserve((void **)&backends->list, &backends->capacity, backends->count, sizeof(*backend)) ||
        lookup_reserve(&backends->index) || lookup_reserve(&backends->by_node))
        return NULL;
    backend = &backends->list[backends->count];
    *backend = (struct backend){.layer = station->layer, .last_ns = INT64_MIN};
    backend->cluster = copy(arena, batch->cluster);
    backend->node = copy(arena, batch->node);
    backend->volume = copy(arena, volume->name);
    backend->source = copy(arena, volume->source);
    backend->fstype = copy(arena, volume->fstype);
    if (!backend->cluster || !backend->node || !backend->volume || !backend->source || !backend->fstype)
        return NULL;
    lookup_insert(&backends->by_node, node, backends->count);
    lookup_insert(&backends->index, hash, backends->count++);
    return backend;
}

static struct party_total *find_party(struct backend *backend, struct arena *arena, const struct batch *batch,
                                      const struct station *station)
{
    const char *job = station->job == NO_INDEX ? NULL : batch->jobs[station->job].name;
    struct party_total *party;

    for (uint32_t i = 0; i < backend->party_count; i++) {
        party = &backend->parties[i];
        if (party->party == station->party && same(party->job, job) && same(party->server, station->server))
            return party;
    }
    if (vector_reserve((void **)&backend->parties, &backend->party_capacity, backend->party_count, sizeof(*party)))
        return NULL;
    party = &backend->parties[backend->party_count];
    *party = (struct party_total){.party = station->party};
    party->job = copy(arena, job);
    party->server = copy(arena, station->server);
    if ((job && !party->job) || (station->server && !party->server))
        return NULL;
    backend->party_count++;
    return party;
}

int backends_add(struct backends *backends, struct arena *arena, const struct batch *batch)
{
    int64_t end = batch->start_ns + (int64_t)batch->duration_ns;
    uint32_t hash = hash_of(batch->node), cursor = hash, at;

    for (uint32_t i = 0; i < batch->station_count; i++) {
        const struct station *station = &batch->stations[i];
        struct backend *backend = find_backend(backends, arena, batch, station);
        struct party_total *party = backend ? find_party(backend, arena, batch, station) : NULL;
        int err;

        if (!party)
            return -ENOMEM;
        err = station_add(&backend->requests[station->request], station);
        if (!err)
            err = station_add(&party->requests[station->request], station);
        if (err)
            return err;
        if (station->request == REQUEST_ALL && station->known & STATION_IN_FLIGHT && end >= backend->last_ns)
            backend->last_ns = end;
    }
    /* A station that says nothing of an interval had nothing in flight at its end. */
    while (lookup_next(&backends->by_node, hash, &cursor, &at))
        if (backends->list[at].last_ns < end && strcmp(backends->list[at].node, batch->node) == 0)
            backends->list[at].requests[REQUEST_ALL].in_flight = 0;
    return 0;
}

static int by_name(const void *x, const void *y)
{
    const struct backend *a = x, *b = y;

    return ORDER(a->layer, b->layer) ?: strcmp(a->volume, b->volume) ?: strcmp(a->node, b->node)
                                     ?: strcmp(a->cluster, b->cluster);
}

static int by_party(const void *x, const void *y)
{
    const struct party_total *a = x, *b = y;

    return ORDER(a->party, b->party) ?: strcmp(a->job ?: "", b->job ?: "") ?: strcmp(a->server ?: "", b->server ?: "");
}

void backends_sort(struct backends *backends)
{
    if (!backends->count)
        return;
    qsort(backends->list, backends->count, sizeof(*backends->list), by_name);
    for (uint32_t i = 0; i < backends->count; i++)
        qsort(backends->list[i].parties, backends->list[i].party_count, sizeof(*backends->list[i].parties), by_party);
    lookup_clear(&backends->index);
    lookup_clear(&backends->by_node); /* its positions are stale now */
}

void backends_clear(struct backends *backends)
{
    for (uint32_t i = 0; i < backends->count; i++) {
        struct backend *backend = &backends->list[i];

        for (unsigned r = 0; r < REQUESTS; r++)
            station_clear(&backend->requests[r]);
        for (uint32_t p = 0; p < backend->party_count; p++)
            for (unsigned r = 0; r < REQUESTS; r++)
                station_clear(&backend->parties[p].requests[r]);
        free(backend->parties);
    }
    free(backends->list);
    lookup_clear(&backends->index);
    lookup_clear(&backends->by_node);
    *backends = (struct backends){0};
}

double backend_depth(const struct backend *backend, int64_t span_ns)
{
    double sum = 0;
    bool known = false;

    for (unsigned r = REQUEST_READ; r < REQUESTS; r++) {
        known = known || backend->requests[r].known & STATION_SERVICE;
        sum += (double)backend->requests[r].service_sum_ns;
    }
    return known && span_ns > 0 ? sum / (double)span_ns : NAN;
}
