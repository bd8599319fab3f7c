/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/view/json.h"

#include <math.h>

#include "analyzer/figure.h"
#include "analyzer/human.h"

void json_put(bool *failed, json_t *to, const char *key, json_t *value)
{
    if (json_object_set_new(to, key, value))
        *failed = true;
}

void json_add(bool *failed, json_t *to, json_t *value)
{
    if (json_array_append_new(to, value))
        *failed = true;
}

json_t *json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *json_text(const char *text)
{
    return text ? json_string(text) : json_null();
}

json_t *json_time(int64_t ns)
{
    char text[HUMAN_SIZE];

    return json_string(human_time(text, ns));
}

/* JSON integers end at 2^63 - 1, the last bucket does not. */
static json_int_t bound(uint64_t value)
{
    return value > INT64_MAX ? INT64_MAX : (json_int_t)value;
}

json_t *json_histogram(const struct histogram *h)
{
    json_t *list = json_array();
    bool failed = !list;

    for (unsigned i = 0; i < h->length; i++) {
        unsigned bucket = h->cells[i].bucket;
        uint64_t last = bucket_last(bucket);

        json_add(&failed, list,
                 json_pack("[I,I,I]", bound(bucket_lower(bucket)),
                           bound(last == UINT64_MAX ? last : last + 1),
                           (json_int_t)h->cells[i].count));
    }
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *quantile(const struct histogram *h, double q, bool skip_zeros)
{
    uint64_t value;

    return histogram_quantile(h, q, skip_zeros, &value) ? json_integer(bound(value)) : json_null();
}

static json_t *maximum(const struct histogram *h)
{
    uint64_t value;

    return histogram_max(h, &value) ? json_integer(bound(value)) : json_null();
}

json_t *json_latency(const struct histogram *h)
{
    return json_pack("{s:o,s:o,s:o,s:o,s:o}", "p50", quantile(h, 0.5, false), "p95",
                     quantile(h, 0.95, false), "p99", quantile(h, 0.99, false), "max", maximum(h),
                     "histogram", json_histogram(h));
}

json_t *json_size(const struct histogram *h)
{
    return json_pack("{s:I,s:o,s:o,s:o,s:o,s:o,s:o}", "zero", (json_int_t)histogram_zeros(h), "p1",
                     quantile(h, 0.01, true), "p50", quantile(h, 0.5, true), "p95",
                     quantile(h, 0.95, true), "p99", quantile(h, 0.99, true), "max", maximum(h),
                     "histogram", json_histogram(h));
}

static json_t *size_of(const struct record *record)
{
    return operation_info(record->op)->has_size ? json_size(&record->size) : json_null();
}

/* Sizes of transfers that jump; null where it is not known. */
static json_t *jumped_of(const struct record *record)
{
    struct histogram jumped;
    int known = figure_jumped(record, &jumped);
    json_t *json = known < 0 ? NULL : known ? json_size(&jumped) : json_null();

    histogram_clear(&jumped);
    return json;
}

json_t *json_file_size(const struct tally *tally)
{
    struct histogram sizes = {0};
    json_t *json = NULL;

    if (!histogram_merge(&sizes, &tally->op[OP_OPEN].size) &&
        !histogram_merge(&sizes, &tally->op[OP_CREATE].size))
        json = sizes.length ? json_pack("{s:o,s:o,s:o,s:o}", "p50", quantile(&sizes, 0.5, false),
                                        "p95", quantile(&sizes, 0.95, false), "max",
                                        maximum(&sizes), "histogram", json_histogram(&sizes))
                            : json_null();
    histogram_clear(&sizes);
    return json;
}

json_t *json_operations(const struct tally *tally, const struct aggregate *totals, const struct job_total *job)
{
    json_t *object = json_object();
    bool failed = !object;

    for (enum operation op = OP_FIRST; op < OP_COUNT; op++) {
        struct record record = tally->op[op];
        uint64_t ops = record_ops(&record);

        record.op = op;
        if (!ops)
            continue;
        json_put(&failed, object, operation_info(op)->name,
                 json_pack("{s:I,s:I,s:I,s:o,s:o,s:o}", "ops", (json_int_t)ops, "bytes", (json_int_t)record.bytes,
                           "errors", (json_int_t)record.errors, "error_codes", json_error_codes(&record), "size",
                           size_of(&record), "latency_ns", json_latency(&record.latency_ns)));
        if ((op == OP_READ || op == OP_WRITE) && !failed)
            json_put(&failed, json_object_get(object, operation_info(op)->name), "jumped", jumped_of(&record));
        if (op == OP_READ && !failed)
            json_put(&failed, json_object_get(object, "read"), "cached", json_cached(&record));
        if (op == OP_WRITE && !failed)
            failed = json_object_update_new(json_object_get(object, "write"), json_received(&record, totals, job)) != 0;
        if ((op == OP_READ || op == OP_STAT || operation_tells_file_size(op)) && !failed)
            json_put(&failed, json_object_get(object, operation_info(op)->name), "of", json_of(&record));
    }
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

json_t *json_ratios(const struct tally *tally)
{
    struct ratios r;

    ratios_of(tally, &r);
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "read_ops",
                     json_number(r.read_ops), "read_bytes", json_number(r.read_bytes),
                     "metadata_ops", json_number(r.metadata_ops), "metadata_ops_no_close",
                     json_number(r.metadata_ops_no_close), "metadata_ops_with_seek",
                     json_number(r.metadata_ops_with_seek), "open_ops", json_number(r.open_ops),
                     "opens_per_read", json_number(r.opens_per_read), "opens_per_mib",
                     json_number(r.opens_per_mib), "sequential",
                     json_number(r.order[ORDER_SEQUENTIAL]), "consecutive",
                     json_number(r.order[ORDER_CONSECUTIVE]), "random",
                     json_number(r.order[ORDER_RANDOM]));
}
