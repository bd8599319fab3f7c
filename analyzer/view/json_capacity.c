/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Demand, limits and what is required, as JSON. */
#include "analyzer/view/json.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/scenario.h"
#include "lib/cleanup.h"

static json_t *list_of(json_t *(*one)(const struct capacity_entry *), const struct capacity_entry *entries,
                       uint32_t count)
{
    json_t *list = json_array();
    bool failed = !list;

    for (uint32_t i = 0; i < count; i++)
        json_add(&failed, list, one(&entries[i]));
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *demand_row(unsigned metric, unsigned window, const struct capacity_demand *d)
{
    double unknown = d->known ? 0 : NAN;

    return json_pack("{s:s,s:i,s:o,s:o,s:o,s:o,s:o,s:o}", "metric", metrics[metric].name, "window_ms",
                     (int)capacity_window_ms[window], "mean", json_number(d->mean + unknown), "p50",
                     json_number(d->p50 + unknown), "p95", json_number(d->p95 + unknown), "p99",
                     json_number(d->p99 + unknown), "max", json_number(d->max + unknown), "longest_above_p95_s",
                     json_number(d->longest_above_p95_s + unknown));
}

static json_t *demand_of_entry(const struct capacity_entry *entry)
{
    json_t *list = json_array();
    bool failed = !list;

    for (unsigned m = 0; m < METRIC_COUNT; m++)
        for (unsigned w = 0; w < CAPACITY_WINDOWS; w++)
            json_add(&failed, list, demand_row(m, w, &entry->demand[m][w]));
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *limit_of(const struct capacity_entry *entry)
{
    json_t *object = json_object();
    bool failed = !object;

    if (entry->source == LIMIT_NONE) {
        json_decref(object);
        return json_null();
    }
    for (unsigned m = 0; m < METRIC_COUNT; m++)
        if (!isnan(entry->limit[m]))
            json_put(&failed, object, metrics[m].name, json_number(entry->limit[m]));
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *utilization_of(const struct capacity_entry *entry)
{
    json_t *list = json_array();
    bool failed = !list, any = false;

    for (unsigned w = 0; w < CAPACITY_WINDOWS; w++) {
        const struct capacity_use *use = &entry->use[w];

        if (!use->known)
            continue;
        any = true;
        json_add(&failed, list,
                 json_pack("{s:i,s:o,s:o,s:o,s:s,s:o}", "window_ms", (int)capacity_window_ms[w], "mean",
                           json_number(use->mean), "p95", json_number(use->p95), "max", json_number(use->max),
                           "binding", metrics[use->binding].name, "max_at", json_time(use->max_ms * 1000000)));
    }
    if (any && !failed)
        return list;
    json_decref(list);
    return failed ? NULL : json_null();
}

static void put_load(bool *failed, json_t *to, const struct capacity_entry *entry)
{
    static const char *const sources[] = {[LIMIT_PLATFORM] = "platform-file", [LIMIT_HIGHEST_SEEN] = "highest-seen"};

    json_put(failed, to, "layer", json_string(entry->reached ? "reached" : "asked"));
    json_put(failed, to, "demand", demand_of_entry(entry));
    json_put(failed, to, "limit", limit_of(entry));
    json_put(failed, to, "limit_source", json_text(sources[entry->source]));
    json_put(failed, to, "utilization", utilization_of(entry));
}

static json_t *moment_or_null(int64_t ns)
{
    return ns ? json_time(ns) : json_null();
}

static void put_space(bool *failed, json_t *to, const struct filling *filling)
{
    struct growth growth;
    struct space space;
    bool known = filling_last(filling, &space), files = known && space.total_files;

    if (filling_growth(filling, &growth))
        *failed = true;
    json_put(failed, to, "used_bytes", known ? json_integer((json_int_t)space.used_bytes) : json_null());
    json_put(failed, to, "total_bytes", known ? json_integer((json_int_t)space.total_bytes) : json_null());
    json_put(failed, to, "used_files", files ? json_integer((json_int_t)space.used_files) : json_null());
    json_put(failed, to, "total_files", files ? json_integer((json_int_t)space.total_files) : json_null());
    json_put(failed, to, "growth_bytes_day",
             growth.known ? json_pack("{s:f,s:f,s:f}", "value", growth.value, "low", growth.low, "high", growth.high)
                          : json_null());
    json_put(failed, to, "full_at",
             growth.known && growth.early_ns
                 ? json_pack("{s:o,s:o}", "early", json_time(growth.early_ns), "late", moment_or_null(growth.late_ns))
                 : json_null());
}

static json_t *volume_entry(const struct capacity_entry *entry)
{
    json_t *object = json_pack("{s:s}", "volume", entry->name);
    bool failed = !object;

    put_load(&failed, object, entry);
    put_space(&failed, object, &entry->volume->filling);
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *cluster_entry(const struct capacity_entry *entry)
{
    json_t *object = json_object();
    bool failed = !object;

    put_load(&failed, object, entry);
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *profile_entry(const struct capacity_entry *entry)
{
    return json_pack("{s:s,s:o}", "profile", entry->name, "demand", demand_of_entry(entry));
}

static json_t *owner_entry(const struct capacity_entry *entry)
{
    return json_pack("{s:s,s:o}", "owner", entry->name, "demand", demand_of_entry(entry));
}

static json_t *with_of(const struct need *r)
{
    json_t *list = json_array();
    bool failed = !list;

    for (unsigned m = 0; m < METRIC_COUNT; m++)
        if (r->with & 1u << m)
            json_add(&failed, list, json_string(metrics[m].name));
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *nonzero(uint64_t value)
{
    return value ? json_integer((json_int_t)value) : json_null();
}

static json_t *requirement_of(const struct need *r)
{
    return json_pack("{s:s,s:f,s:f,s:i,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "metric", metrics[r->metric].name, "sustained",
                     r->sustained, "peak", r->peak, "peak_window_ms", (int)r->peak_window_ms,
                     "longest_above_sustained_s", json_number(r->above_s), "peak_at",
                     r->peak_ms ? json_time(r->peak_ms * 1000000) : json_null(), "peaks_with", with_of(r),
                     "with_a_node_lost", json_number(r->node_lost), "size_p50",
                     r->sized ? nonzero(r->size_p50) : json_null(), "size_p95",
                     r->sized ? nonzero(r->size_p95) : json_null(), "latency_p50_ns", nonzero(r->latency_p50_ns),
                     "latency_p99_ns", nonzero(r->latency_p99_ns));
}

static json_t *required_of(const struct capacity *capacity)
{
    json_t *list = json_array();
    bool failed = !list;

    for (uint32_t i = 0; i < capacity->required_count; i++)
        json_add(&failed, list, requirement_of(&capacity->required[i]));
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *scenario_demand(const struct scenario_result *r)
{
    json_t *list = json_array();
    bool failed = !list;

    for (unsigned m = 0; m < METRIC_COUNT; m++)
        if (!isnan(r->mean[m]))
            json_add(&failed, list,
                     json_pack("{s:s,s:f,s:f,s:f}", "metric", metrics[m].name, "mean", r->mean[m], "p95",
                               r->p95[m], "max", r->max[m]));
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *scenario_of(const struct scenario_result *r)
{
    return json_pack("{s:s,s:s,s:i,s:s,s:o,s:{s:f,s:f,s:f,s:s},s:f,s:o,s:o,s:o,s:b,s:b}", "scenario", r->scenario->name,
                     "platform", r->offer->name, "nodes", (int)r->nodes, "layer", r->reached ? "reached" : "asked",
                     "demand", scenario_demand(r), "utilization", "mean", r->use_mean, "p95", r->use_p95, "max",
                     r->use_max, "binding", metrics[r->binding].name, "served", r->served, "ops_s",
                     json_number(r->ops_s), "latency_mean_ns",
                     json_number(r->latency_ns), "latency_p99_ns", json_number(r->latency99_ns), "beyond_twice_seen",
                     r->beyond_seen, "beyond_80_percent", r->beyond_full);
}

static json_t *scenarios_of(const struct report *report)
{
    unsigned wanted = report->scenarios ? report->scenarios->count : 0, count;
    _cleanup_free_ struct scenario_result *results = calloc(2 * wanted + 1, sizeof(*results));
    json_t *list = json_array();
    bool failed = !list || !results;

    count = !failed && wanted ? scenarios_run(report->scenarios, report, results) : 0;
    for (unsigned i = 0; i < count; i++)
        json_add(&failed, list, scenario_of(&results[i]));
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}

json_t *json_capacity(const struct report *report)
{
    const struct capacity *c = &report->capacity;

    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "volumes", list_of(volume_entry, c->volumes, c->volume_count),
                     "cluster", list_of(cluster_entry, c->cluster, c->cluster_count), "platform",
                     c->platform.known ? cluster_entry(&c->platform.entry) : json_null(), "profiles",
                     list_of(profile_entry, c->profiles, c->profile_count), "owners",
                     list_of(owner_entry, c->owners, c->owner_count), "required", required_of(c), "scenarios",
                     scenarios_of(report), "cost", json_cost(report));
}
