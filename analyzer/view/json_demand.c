/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/view/json.h"

#include <errno.h>

#include "analyzer/capacity.h"

static json_t *windows(const double values[BURST_WINDOWS])
{
    return json_pack("[o,o,o]", json_number(values[0]), json_number(values[1]),
                     json_number(values[2]));
}

/* Demand over time, and over which span. */
struct burst_source {
    const struct series *series, *span;
    const struct windows *windows, *windows_span;
};

static json_t *figures(const struct burst_source *source, enum measure measure)
{
    struct burst burst;

    if (burst_within(source->series, measure_demands[measure], source->span, &burst))
        return NULL;
    if (windows_complete(source->windows, source->series))
        windows_burst(source->windows, source->windows_span, measure, &burst);
    return json_pack("{s:[i,i,i],s:o,s:o,s:o,s:o,s:o}", "window_ms", (int)burst_window_ms[0],
                     (int)burst_window_ms[1], (int)burst_window_ms[2], "peak_to_mean",
                     windows(burst.peak_to_mean), "cv", windows(burst.cv), "fano",
                     windows(burst.fano), "idle", windows(burst.idle), "period_s",
                     json_number(burst.period_s));
}

static void put_latencies(bool *failed, json_t *object, const struct windows *windows, enum flow_kind kind)
{
    const struct histogram *burst = &windows->burst[kind], *steady = &windows->steady[kind];

    json_put(failed, object, "in_burst_latency_ns", burst->length ? json_latency(burst) : json_null());
    json_put(failed, object, "steady_latency_ns", steady->length ? json_latency(steady) : json_null());
}

json_t *json_burst(const struct series *series, const struct windows *windows, const struct series *span,
                   const struct windows *windows_span)
{
    static const char *const names[MEASURE_COUNT] = {
        [MEASURE_READ_BYTES] = "read_bytes",
        [MEASURE_WRITE_BYTES] = "write_bytes",
        [MEASURE_DATA_OPS] = "data_ops",
        [MEASURE_METADATA_OPS] = "metadata_ops",
    };
    const struct burst_source source = {series, span, windows, windows_span};
    json_t *object = figures(&source, MEASURE_BYTES), *by = json_object();
    bool failed = !object || !by;

    for (enum measure m = MEASURE_READ_BYTES; !failed && m < MEASURE_COUNT; m++)
        json_put(&failed, by, names[m], figures(&source, m));
    if (!failed)
        put_latencies(&failed, json_object_get(by, names[MEASURE_METADATA_OPS]), windows, FLOW_METADATA);
    json_put(&failed, object, "by", by);
    put_latencies(&failed, object, windows, FLOW_DATA);
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}
