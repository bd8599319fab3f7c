/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/codec_station.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/field.h"

/* One table for both ways: what is not known is left out. */
static const struct {
    const char *name;
    unsigned known;
    size_t offset;
} counts[] = {
    {"ops", STATION_OPS, offsetof(struct station, ops)},
    {"bytes", STATION_BYTES, offsetof(struct station, bytes)},
    {"errors", STATION_ERRORS, offsetof(struct station, errors)},
    {"merges", STATION_MERGES, offsetof(struct station, merges)},
    {"queue_sum_ns", STATION_QUEUE, offsetof(struct station, queue_sum_ns)},
    {"service_sum_ns", STATION_SERVICE, offsetof(struct station, service_sum_ns)},
    {"in_flight", STATION_IN_FLIGHT, offsetof(struct station, in_flight)},
};

static const struct {
    const char *name;
    size_t offset;
} histograms[] = {
    {"size", offsetof(struct station, size)},
    {"queue_ns", offsetof(struct station, queue_ns)},
    {"service_ns", offsetof(struct station, service_ns)},
    {"depth", offsetof(struct station, depth)},
};

#define COUNTS     (sizeof(counts) / sizeof(*counts))
#define HISTOGRAMS (sizeof(histograms) / sizeof(*histograms))

static void *member(const struct station *station, size_t offset)
{
    return (char *)station + offset;
}

/* --- encoding --- */

static bool put(json_t *o, const char *key, json_t *value)
{
    return json_object_set_new_nocheck(o, key, value) != 0;
}

static json_t *count_value(uint64_t n)
{
    return json_integer(n > INT64_MAX ? INT64_MAX : (json_int_t)n);
}

static bool put_histogram(json_t *o, const char *key, const struct histogram *h)
{
    _cleanup_free_ char *pairs = h->length ? codec_histogram_encode(h) : NULL;

    return h->length && (!pairs || put(o, key, json_string_nocheck(pairs)));
}

static json_t *station_value(const struct station *s)
{
    json_t *o = json_object();
    bool failed = !o || put(o, "layer", json_string_nocheck(layer_names[s->layer])) ||
                  put(o, "volume", count_value(s->volume)) ||
                  put(o, "request", json_string_nocheck(request_names[s->request])) ||
                  put(o, "for", json_string_nocheck(party_names[s->party])) ||
                  (s->job != NO_INDEX && put(o, "job", count_value(s->job))) ||
                  (s->server && put(o, "server", json_string_nocheck(s->server)));

    for (size_t i = 0; !failed && i < COUNTS; i++)
        failed = s->known & counts[i].known &&
                 put(o, counts[i].name, count_value(*(uint64_t *)member(s, counts[i].offset)));
    for (size_t i = 0; !failed && i < HISTOGRAMS; i++)
        failed = put_histogram(o, histograms[i].name, member(s, histograms[i].offset));
    if (!failed)
        return o;
    json_decref(o);
    return NULL;
}

json_t *codec_stations(const struct batch *batch)
{
    json_t *array = json_array();
    bool failed = !array;

    for (uint32_t i = 0; !failed && i < batch->station_count; i++)
        failed = json_array_append_new(array, station_value(&batch->stations[i])) != 0;
    if (!failed)
        return array;
    json_decref(array);
    return NULL;
}

/* --- decoding --- */

static int decode_word(const struct field_place *p, const json_t *o, const char *key, const char *const *words,
                       unsigned length, unsigned *out)
{
    const char *word = NULL;
    int err = field_text(p, o, key, &word);

    for (unsigned i = 0; !err && i < length; i++)
        if (strcmp(words[i], word) == 0) {
            *out = i;
            return 0;
        }
    return err ? err : field_refuse(p, key, "\"%.40s\" is none that is known", word);
}

static int decode_key(struct batch *batch, const struct field_place *p, const json_t *o, struct station *key)
{
    unsigned layer = 0, request = 0, party = 0;
    int err;

    if ((err = decode_word(p, o, "layer", layer_names, LAYERS, &layer)) ||
        (err = decode_word(p, o, "request", request_names, REQUESTS, &request)) ||
        (err = decode_word(p, o, "for", party_names, PARTIES, &party)) ||
        (err = field_index(p, o, "volume", batch->volume_count, &key->volume)))
        return err;
    key->layer = layer;
    key->request = request;
    key->party = party;
    key->job = NO_INDEX;
    if (json_object_get(o, "server") && (err = field_text(p, o, "server", &key->server)))
        return err;
    if (party == PARTY_JOB || (party == PARTY_SERVER && json_object_get(o, "job")))
        return field_index(p, o, "job", batch->job_count, &key->job);
    return 0;
}

static int decode_station(struct batch *batch, const struct field_place *p, const json_t *o)
{
    uint32_t before = batch->station_count;
    struct station key = {0}, *station;
    int err = decode_key(batch, p, o, &key);

    if (!err)
        err = batch_station(batch, &key, &station);
    if (!err && batch->station_count == before)
        return field_refuse(p, NULL, "has the keys of another one");
    for (size_t i = 0; !err && i < COUNTS; i++)
        if (json_object_get(o, counts[i].name)) {
            err = field_count(p, o, counts[i].name, member(station, counts[i].offset));
            station->known |= counts[i].known;
        }
    for (size_t i = 0; !err && i < HISTOGRAMS; i++)
        if (json_object_get(o, histograms[i].name))
            err = field_histogram(p, o, histograms[i].name, member(station, histograms[i].offset));
    return err;
}

int codec_stations_decode(struct batch *batch, struct codec_error *error, const json_t *root)
{
    struct field_place top = {.error = error}, p = {.error = error, .table = "storage", .indexed = true};
    json_t *array, *element;
    int err;

    if (!json_object_get(root, "storage"))
        return 0;
    err = field_array(&top, root, "storage", CODEC_STATIONS_MAX, &array);
    if (err)
        return err;
    json_array_foreach(array, p.at, element)
    {
        err = json_is_object(element) ? decode_station(batch, &p, element) : field_refuse(&p, NULL, "is not an object");
        if (err)
            return err;
    }
    return 0;
}
