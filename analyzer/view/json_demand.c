/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/view/json.h"

#include <errno.h>

#include "analyzer/capacity.h"

static json_t *windows(const double values[BURST_WINDOWS])
{
    return json_pack("[o,o,o]", json_number(values[0]), json_number(values[1]),
                     json_number(values[2]));
}

static json_t *figures(const struct series *series, unsigned demands, int64_t from, int64_t last)
{
    struct burst burst;

    if (burst_of(series, demands, from, last, &burst))
        return NULL;
    return json_pack("{s:[i,i,i],s:o,s:o,s:o,s:o,s:o}", "window_ms", (int)burst_window_ms[0],
                     (int)burst_window_ms[1], (int)burst_window_ms[2], "peak_to_mean",
                     windows(burst.peak_to_mean), "cv", windows(burst.cv), "fano",
                     windows(burst.fano), "idle", windows(burst.idle), "period_s",
                     json_number(burst.period_s));
}

static json_t *latency(const struct histogram *h)
{
    return h && h->length ? json_latency(h) : json_null();
}

json_t *json_burst(const struct series *series, int64_t from, int64_t last,
                   const struct histogram *burst, const struct histogram *steady)
{
    static const struct {
        const char *name;
        unsigned demands;
    } kinds[] = {
        {"read_bytes", DEMAND_BIT(DEMAND_READ_BYTES)},
        {"write_bytes", DEMAND_BIT(DEMAND_WRITE_BYTES)},
        {"data_ops", DEMAND_DATA_OPS},
        {"metadata_ops", DEMAND_BIT(DEMAND_METADATA_OPS)},
    };
    json_t *object = figures(series, DEMAND_BYTES, from, last), *by = json_object();
    bool failed = !object || !by;

    for (size_t i = 0; !failed && i < sizeof(kinds) / sizeof(*kinds); i++)
        json_put(&failed, by, kinds[i].name, figures(series, kinds[i].demands, from, last));
    json_put(&failed, object, "by", by);
    json_put(&failed, object, "in_burst_latency_ns", latency(burst));
    json_put(&failed, object, "steady_latency_ns", latency(steady));
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *volume_metrics(const struct series *series, const struct report *report)
{
    json_t *list = json_array();
    bool failed = !list;
    int64_t from = series_from(&report->totals.series), last = series_last(&report->totals.series);

    for (unsigned m = 0; m < METRIC_COUNT; m++)
        for (unsigned w = 1; w < BURST_WINDOWS; w++) {
            struct capacity_demand d;
            int err = capacity_of(series, metrics[m].demand, burst_window_ms[w], from, last, &d);

            if (err == -ENODATA)
                continue;
            json_add(&failed, list,
                     err ? NULL
                         : json_pack("{s:s,s:i,s:f,s:f,s:f,s:f,s:f,s:f}", "metric", metrics[m].name,
                                     "window_ms", (int)burst_window_ms[w], "mean", d.mean, "p50",
                                     d.p50, "p95", d.p95, "p99", d.p99, "max", d.max,
                                     "longest_above_p95_s", d.longest_above_p95_s));
        }
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *volume_demand(const struct volume_total *volume, const struct series *series,
                             const char *layer, const struct report *report)
{
    return json_pack("{s:s,s:s,s:o,s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:n}", "volume", volume->name,
                     "layer", layer, "demand", volume_metrics(series, report), "limit", "limit_source",
                     "utilization", "used_bytes", "total_bytes", "used_files", "total_files",
                     "growth_bytes_day", "full_at");
}

json_t *json_capacity(const struct report *report)
{
    json_t *volumes = json_array();
    bool failed = !volumes;

    for (uint32_t i = 0; i < report->totals.volume_count; i++) {
        const struct volume_total *volume = &report->totals.volumes[i];

        if (volume->series.length)
            json_add(&failed, volumes, volume_demand(volume, &volume->series, "asked", report));
        if (volume->reached.length)
            json_add(&failed, volumes, volume_demand(volume, &volume->reached, "reached", report));
    }
    if (failed) {
        json_decref(volumes);
        return NULL;
    }
    return json_pack("{s:o,s:[],s:[]}", "volumes", volumes, "required", "scenarios");
}
