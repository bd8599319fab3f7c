/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report's member "storage": devices, backends, platforms. */
#include "analyzer/view/json.h"

#include <math.h>

static json_t *count_of(const struct station *station, unsigned known, uint64_t count)
{
    return station->known & known ? json_integer((json_int_t)count) : json_null();
}

/* A platform tells sums only. */
static json_t *wait_of(const struct station *station, unsigned known, uint64_t sum_ns, const struct histogram *h)
{
    json_t *object = h->length ? json_latency(h) : json_pack("{s:n,s:n,s:n,s:n,s:n}", "p50", "p95", "p99", "max",
                                                             "histogram");
    double mean = station->ops ? (double)sum_ns / (double)station->ops : NAN;
    bool failed = !object;

    if (!(station->known & known)) {
        json_decref(object);
        return json_null();
    }
    json_put(&failed, object, "mean", json_number(mean));
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *requests_of(const struct station *requests)
{
    json_t *object = json_object();
    bool failed = !object;

    for (enum request_kind r = REQUEST_READ; r < REQUESTS; r++) {
        const struct station *s = &requests[r];

        if (!s->known)
            continue;
        json_put(&failed, object, request_names[r],
                 json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "ops", count_of(s, STATION_OPS, s->ops), "bytes",
                           count_of(s, STATION_BYTES, s->bytes), "errors", count_of(s, STATION_ERRORS, s->errors),
                           "merges", count_of(s, STATION_MERGES, s->merges), "size",
                           s->size.length ? json_size(&s->size) : json_null(), "queue_ns",
                           wait_of(s, STATION_QUEUE, s->queue_sum_ns, &s->queue_ns), "service_ns",
                           wait_of(s, STATION_SERVICE, s->service_sum_ns, &s->service_ns)));
    }
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *in_flight_of(const struct backend *backend, int64_t span_ns)
{
    const struct station *all = &backend->requests[REQUEST_ALL];
    json_t *depth = all->depth.length ? json_latency(&all->depth) : json_null();

    if (layer_is_platform(backend->layer)) {
        json_decref(depth);
        return json_null();
    }
    return json_pack("{s:o,s:o,s:o}", "now", count_of(all, STATION_IN_FLIGHT, all->in_flight), "mean",
                     json_number(backend_depth(backend, span_ns)), "at_issue", depth);
}

static json_t *parties_of(const struct backend *backend)
{
    json_t *list = json_array();
    bool failed = !list;

    for (uint32_t i = 0; i < backend->party_count; i++) {
        const struct party_total *party = &backend->parties[i];
        bool asks = false;

        for (enum request_kind r = REQUEST_READ; r < REQUESTS; r++)
            asks = asks || party->requests[r].known;
        if (asks)
            json_add(&failed, list, json_pack("{s:s,s:o,s:o}", "for", party_names[party->party], "job",
                                              json_text(party->job), "requests", requests_of(party->requests)));
    }
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *servers_of(const struct backend *backend)
{
    json_t *list = json_array();
    bool failed = !list;

    for (uint32_t i = 0; i < backend->party_count; i++)
        if (backend->parties[i].party == PARTY_SERVER)
            json_add(&failed, list, json_pack("{s:o,s:o}", "command", json_text(backend->parties[i].server), "job",
                                              json_text(backend->parties[i].job)));
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *backend_of(const struct backend *backend, int64_t span_ns)
{
    return json_pack("{s:s,s:s,s:s,s:s,s:s,s:o,s:o,s:o,s:o}", "layer", layer_names[backend->layer], "node",
                     backend->node, "volume", backend->volume, "source", backend->source, "fstype", backend->fstype,
                     "requests", requests_of(backend->requests), "in_flight", in_flight_of(backend, span_ns), "parties",
                     layer_is_platform(backend->layer) ? json_null() : parties_of(backend), "servers",
                     backend->layer == LAYER_FUSE ? servers_of(backend) : json_null());
}

json_t *json_storage(const struct report *report)
{
    const struct backends *backends = &report->totals.backends;
    int64_t span_ns = report->totals.end_ns - report->totals.start_ns;
    json_t *devices = json_array(), *others = json_array(), *platforms = json_array();
    bool failed = !devices || !others || !platforms;

    for (uint32_t i = 0; !failed && i < backends->count; i++) {
        const struct backend *backend = &backends->list[i];

        json_add(&failed,
                 backend->layer == LAYER_BLOCK        ? devices
                 : layer_is_platform(backend->layer) ? platforms
                                                     : others,
                 backend_of(backend, span_ns));
    }
    if (!failed)
        return json_pack("{s:o,s:o,s:o}", "devices", devices, "backends", others, "platforms", platforms);
    json_decref(devices);
    json_decref(others);
    json_decref(platforms);
    return NULL;
}
