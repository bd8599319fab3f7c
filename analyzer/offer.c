/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/offer.h"

#include <errno.h>
#include <fnmatch.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/capacity.h"
#include "lib/cleanup.h"
#include "lib/log.h"

static const char *const figures[OFFER_FIGURES] = {
    [OFFER_READ_IOPS] = "read_iops",
    [OFFER_WRITE_IOPS] = "write_iops",
    [OFFER_IOPS] = "iops",
    [OFFER_METADATA] = "metadata_ops_s",
    [OFFER_READ_BYTES] = "read_bytes_s",
    [OFFER_WRITE_BYTES] = "write_bytes_s",
    [OFFER_BYTES] = "bytes_s",
    [OFFER_IN_FLIGHT] = "in_flight",
    [OFFER_LATENCY_US] = "latency_us",
    [OFFER_CAPACITY] = "capacity_bytes",
    [OFFER_FILES] = "capacity_files",
    [OFFER_NODE_CORES] = "node_cores",
    [OFFER_NODE_MEMORY] = "node_memory_bytes",
    [OFFER_PRICE] = "price",
    [OFFER_YEARS] = "years",
};

static int refuse(const char *name, const char *key, const char *what)
{
    log_error("cannot use the platform %s: %s %s", name, key, what);
    return -EINVAL;
}

static int take_text(const char *name, const char *key, const json_t *value, char **out)
{
    if (!json_is_string(value) || !*json_string_value(value))
        return refuse(name, key, "is no text");
    free(*out);
    *out = strdup(json_string_value(value));
    return *out ? 0 : -ENOMEM;
}

static int take_count(const char *name, const char *key, const json_t *value, unsigned *out)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0 || json_integer_value(value) > 1000000)
        return refuse(name, key, "is no number of nodes");
    *out = (unsigned)json_integer_value(value);
    return 0;
}

static int take_figure(const char *name, const char *key, const json_t *value, double *out)
{
    if (!json_is_number(value) || !(json_number_value(value) > 0) || !isfinite(json_number_value(value)))
        return refuse(name, key, "is no number above 0");
    *out = json_number_value(value);
    return 0;
}

static int take_volumes(const char *name, const json_t *list, struct offer *p)
{
    if (!json_is_array(list))
        return refuse(name, "volumes", "is no list");
    p->volumes = calloc(json_array_size(list) + 1, sizeof(*p->volumes));
    if (!p->volumes)
        return -ENOMEM;
    for (size_t i = 0; i < json_array_size(list); i++) {
        int err = take_text(name, "one of volumes", json_array_get(list, i), &p->volumes[i]);

        if (err)
            return err;
        p->volume_count++;
    }
    return 0;
}

static int take_tier(const char *name, json_t *from, struct offer_tier *tier)
{
    const char *key;
    json_t *value;
    int err = 0;

    *tier = (struct offer_tier){NULL, NAN, NAN, NAN};
    json_object_foreach(from, key, value) {
        err = strcmp(key, "name") == 0             ? take_text(name, "name of a tier", value, &tier->name)
              : strcmp(key, "capacity_bytes") == 0 ? take_figure(name, key, value, &tier->bytes)
              : strcmp(key, "bytes_s") == 0        ? take_figure(name, key, value, &tier->bytes_s)
              : strcmp(key, "price") == 0          ? take_figure(name, key, value, &tier->price)
                                                   : refuse(name, key, "is no key of a tier");
        if (err)
            return err;
    }
    return tier->name ? 0 : refuse(name, "name", "is missing in a tier");
}

static int take_tiers(const char *name, const json_t *list, struct offer *p)
{
    if (!json_is_array(list))
        return refuse(name, "tiers", "is no list");
    p->tiers = calloc(json_array_size(list) + 1, sizeof(*p->tiers));
    if (!p->tiers)
        return -ENOMEM;
    for (size_t i = 0; i < json_array_size(list); i++) {
        int err;

        p->tier_count++; /* also what is half read is given back */
        err = take_tier(name, json_array_get(list, i), &p->tiers[i]);
        if (err)
            return err;
    }
    return 0;
}

/* A tier is a part of the platform. Decimal fractions do not add up to the last bit. */
static int check_prices(const char *name, const struct offer *p)
{
    double sum = 0;

    for (unsigned i = 0; i < p->tier_count; i++)
        sum += isnan(p->tiers[i].price) ? 0 : p->tiers[i].price;
    return sum > p->figure[OFFER_PRICE] * (1 + 1e-9) ? refuse(name, "price", "is less than its tiers cost") : 0;
}

static int take(const char *name, const char *key, json_t *value, struct offer *p)
{
    for (unsigned i = 0; i < OFFER_FIGURES; i++)
        if (strcmp(figures[i], key) == 0)
            return take_figure(name, key, value, &p->figure[i]);
    if (strcmp(key, "name") == 0)
        return take_text(name, key, value, &p->name);
    if (strcmp(key, "currency") == 0)
        return take_text(name, key, value, &p->currency);
    if (strcmp(key, "nodes") == 0)
        return take_count(name, key, value, &p->nodes);
    if (strcmp(key, "nodes_may_fail") == 0)
        return take_count(name, key, value, &p->failures);
    if (strcmp(key, "volumes") == 0 && !p->volumes)
        return take_volumes(name, value, p);
    if (strcmp(key, "tiers") == 0 && !p->tiers)
        return take_tiers(name, value, p);
    if (strcmp(key, "converged") == 0 && json_is_boolean(value)) {
        p->converged = json_is_true(value);
        return 0;
    }
    return strcmp(key, "schema") == 0 ? 0 : refuse(name, key, "is no key that it can have");
}

static int take_all(const char *name, json_t *root, struct offer *p)
{
    const char *schema = json_string_value(json_object_get(root, "schema")), *key;
    json_t *value;

    if (!json_is_object(root) || !schema || strcmp(schema, OFFER_SCHEMA) != 0)
        return refuse(name, "schema", "is not " OFFER_SCHEMA);
    json_object_foreach(root, key, value) {
        int err = take(name, key, value, p);

        if (err)
            return err;
    }
    if (!p->name && !(p->name = strdup(name)))
        return -ENOMEM;
    if (!p->nodes)
        return refuse(name, "nodes", "is 0");
    if (p->failures >= p->nodes)
        return refuse(name, "nodes_may_fail", "is not below nodes");
    return check_prices(name, p);
}

static int load(json_t *root, const json_error_t *error, const char *name, struct offer *out)
{
    struct offer p = {.nodes = 1};
    int err;

    for (unsigned i = 0; i < OFFER_FIGURES; i++)
        p.figure[i] = NAN;
    if (!root) {
        if (error->line < 0)
            log_error("cannot use the platform: %s", error->text);
        else
            log_error("cannot use the platform %s: line %d: %s: give JSON as unblend-platform(5) has it", name,
                      error->line, error->text);
        return -EINVAL;
    }
    err = take_all(name, root, &p);
    json_decref(root);
    if (err)
        offer_clear(&p);
    else
        *out = p;
    return err;
}

int offer_load(const char *path, struct offer *out)
{
    _cleanup_fclose_ FILE *file = fopen(path, "re");
    json_error_t error;

    if (!file) {
        int err = -errno;

        log_error("cannot use the platform %s: %s", path, log_why(err));
        return err;
    }
    return load(json_loadf(file, JSON_REJECT_DUPLICATES, &error), &error, path, out);
}

int offer_parse(const char *text, const char *name, struct offer *out)
{
    json_error_t error;

    return load(json_loads(text, JSON_REJECT_DUPLICATES, &error), &error, name, out);
}

void offer_clear(struct offer *p)
{
    for (unsigned i = 0; i < p->volume_count; i++)
        free(p->volumes[i]);
    for (unsigned i = 0; i < p->held_count; i++)
        free(p->held[i]);
    for (unsigned i = 0; i < p->tier_count; i++)
        free(p->tiers[i].name);
    free(p->held);
    free(p->volumes);
    free(p->tiers);
    free(p->name);
    free(p->currency);
    *p = (struct offer){0};
}

static bool is_held(const struct offer *p, const char *volume)
{
    for (unsigned i = 0; i < p->held_count; i++)
        if (strcmp(p->held[i], volume) == 0)
            return true;
    return false;
}

bool offer_holds(const struct offer *p, const char *volume)
{
    for (unsigned i = 0; i < p->volume_count; i++)
        if (fnmatch(p->volumes[i], volume, 0) == 0)
            return true;
    return !p->volume_count || is_held(p, volume);
}

int offer_hold(struct offer *p, const char *name)
{
    char **grown;

    if (is_held(p, name))
        return 0;
    grown = reallocarray(p->held, p->held_count + 1, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    p->held = grown;
    grown[p->held_count] = strdup(name);
    if (!grown[p->held_count])
        return -ENOMEM;
    p->held_count++;
    return 0;
}

void offer_limits(const struct offer *p, unsigned nodes, double *limits)
{
    static const struct {
        enum metric_id metric;
        enum offer_figure own, both;
    } of[] = {
        {METRIC_READ_BYTES, OFFER_READ_BYTES, OFFER_BYTES}, {METRIC_WRITE_BYTES, OFFER_WRITE_BYTES, OFFER_BYTES},
        {METRIC_READ_OPS, OFFER_READ_IOPS, OFFER_IOPS},     {METRIC_WRITE_OPS, OFFER_WRITE_IOPS, OFFER_IOPS},
        {METRIC_METADATA_OPS, OFFER_METADATA, OFFER_METADATA}, {METRIC_IN_FLIGHT, OFFER_IN_FLIGHT, OFFER_IN_FLIGHT},
    };

    for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
        double figure = isnan(p->figure[of[i].own]) ? p->figure[of[i].both] : p->figure[of[i].own];

        if (!isnan(figure))
            limits[of[i].metric] = figure * nodes / p->nodes;
    }
}
