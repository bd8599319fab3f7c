/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/otlp_text.h"

#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/bucket.h"

#define CUMULATIVE 2 /* AGGREGATION_TEMPORALITY_CUMULATIVE */

/* Within an octave: the index that the smallest values of our eight buckets belong to, 16 * log2(1 + i / 8) rounded up,
   less 1. */
static const int steps[BUCKET_SUB] = {-1, 2, 5, 7, 9, 11, 12, 14};

int otlp_index(unsigned bucket)
{
    uint64_t lower = bucket_lower(bucket);
    unsigned octave = bucket_msb(lower);
    uint64_t eighths = octave >= BUCKET_SUB_BITS ? lower >> (octave - BUCKET_SUB_BITS)
                                                 : lower << (BUCKET_SUB_BITS - octave);

    return (int)(octave << OTLP_SCALE) + steps[eighths - BUCKET_SUB];
}

/* Names are UTF-8 by now (lib/record.h). */
static void put_string(FILE *out, const char *text)
{
    putc('"', out);
    for (; *text; text++) {
        if ((unsigned char)*text < ' ') {
            fprintf(out, "\\u%04x", *text);
            continue;
        }
        if (*text == '"' || *text == '\\')
            putc('\\', out);
        putc(*text, out);
    }
    putc('"', out);
}

static void put_attribute(FILE *out, const char *key, const char *value)
{
    fprintf(out, "{\"key\":\"%s\",\"value\":{\"stringValue\":", key);
    put_string(out, value);
    fputs("}}", out);
}

/* What every point begins with. */
static void begin_point(FILE *out, int64_t start_ns, int64_t end_ns)
{
    fprintf(out, "\"startTimeUnixNano\":\"%" PRId64 "\",\"timeUnixNano\":\"%" PRId64 "\",\"attributes\":[",
            start_ns, end_ns);
}

static void begin_series(FILE *out, const struct total *total, int64_t end_ns)
{
    begin_point(out, total->start_ns, end_ns);
    if (*total->job) {
        put_attribute(out, "unblend.job", total->job);
        putc(',', out);
    }
    put_attribute(out, "unblend.volume", total->volume);
    putc(',', out);
    put_attribute(out, "unblend.operation", operation_info(total->op)->name);
    putc(']', out);
}

static void begin_metric(FILE *out, const char *name, const char *unit, const char *help)
{
    fprintf(out, ",{\"name\":\"unblend.%s\",\"unit\":\"%s\",\"description\":\"%s\",", name, unit, help);
}

struct figure {
    const char *name, *unit, *help;
    uint64_t (*value)(const struct total *total);
    bool sized; /* only of operations that have a size */
};

static uint64_t ops_of(const struct total *total)
{
    return total->ops;
}

static uint64_t bytes_of(const struct total *total)
{
    return total->bytes;
}

static uint64_t errors_of(const struct total *total)
{
    return total->errors;
}

static uint64_t time_of(const struct total *total)
{
    return total->latency_sum_ns;
}

static const struct figure figures[] = {
    {"operations", "{operation}", "Operations that have returned, failed ones too.", ops_of, false},
    {"errors", "{operation}", "Operations that have failed.", errors_of, false},
    {"transferred", "By", "Bytes really transferred.", bytes_of, true},
    {"waited", "ns", "Time spent in operations, of all threads together.", time_of, false},
};

static void sums(FILE *out, const struct totals *totals, const struct figure *figure)
{
    const struct total_set *set = &totals->jobs;
    const char *before = "";

    begin_metric(out, figure->name, figure->unit, figure->help);
    fprintf(out, "\"sum\":{\"aggregationTemporality\":%d,\"isMonotonic\":true,\"dataPoints\":[", CUMULATIVE);
    for (uint32_t i = 0; i < set->count; i++) {
        if (figure->sized && !operation_info(set->rows[i].op)->has_size)
            continue;
        fprintf(out, "%s{", before);
        begin_series(out, &set->rows[i], totals->end_ns);
        fprintf(out, ",\"asInt\":\"%" PRIu64 "\"}", figure->value(&set->rows[i]));
        before = ",";
    }
    fputs("]}}", out);
}

static void put_histogram(FILE *out, const struct histogram *h, uint64_t sum)
{
    uint64_t zeros = histogram_zeros(h);
    uint16_t first = zeros ? 1 : 0; /* bucket 0 holds the zeros */
    int next = h->length > first ? otlp_index(h->cells[first].bucket) : 0;

    fprintf(out, ",\"count\":\"%" PRIu64 "\",\"sum\":%" PRIu64 ",\"scale\":%d,\"zeroCount\":\"%" PRIu64
                 "\",\"positive\":{\"offset\":%d,\"bucketCounts\":[", histogram_count(h), sum, OTLP_SCALE, zeros, next);
    for (uint16_t i = first; i < h->length; i++) {
        for (int index = otlp_index(h->cells[i].bucket); next < index; next++)
            fputs("\"0\",", out);
        fprintf(out, "\"%" PRIu64 "\"%s", h->cells[i].count, i + 1 < h->length ? "," : "");
        next++;
    }
    fputs("]}}", out);
}

/* sizes: else of times */
static void histograms(FILE *out, const struct totals *totals, bool sizes)
{
    const struct total_set *set = &totals->volumes;
    const char *before = "";

    if (sizes)
        begin_metric(out, "operation.size", "By", "How much single operations transferred.");
    else
        begin_metric(out, "operation.duration", "ns", "How long operations took.");
    fprintf(out, "\"exponentialHistogram\":{\"aggregationTemporality\":%d,\"dataPoints\":[", CUMULATIVE);
    for (uint32_t i = 0; i < set->count; i++) {
        const struct total *total = &set->rows[i];

        if (sizes && !operation_info(total->op)->has_size)
            continue;
        fprintf(out, "%s{", before);
        begin_series(out, total, totals->end_ns);
        put_histogram(out, sizes ? &total->size : &total->latency_ns, sizes ? total->bytes : total->latency_sum_ns);
        before = ",";
    }
    fputs("]}}", out);
}

static void coverage(FILE *out, const struct totals *totals)
{
    const struct {
        const char *name, *help;
        uint64_t value;
    } counters[] = {
        {"lost", "Operations that were missed.", totals->lost},
        {"killed", "Operations whose thread ended inside them.", totals->killed},
        {"unattributed", "Operations without a job or a volume.", totals->unattributed},
        {"overflow", "Operations counted under a coarser key.", totals->overflow},
    };

    for (unsigned i = 0; i < sizeof(counters) / sizeof(*counters); i++) {
        begin_metric(out, counters[i].name, "{operation}", counters[i].help);
        fprintf(out, "\"sum\":{\"aggregationTemporality\":%d,\"isMonotonic\":true,\"dataPoints\":[{", CUMULATIVE);
        begin_point(out, totals->start_ns, totals->end_ns);
        fprintf(out, "],\"asInt\":\"%" PRIu64 "\"}]}}", counters[i].value);
    }
}

/* The first metric, with which there is none before a comma. */
static void in_flight(FILE *out, const struct totals *totals)
{
    fprintf(out, "{\"name\":\"unblend.in_flight\",\"unit\":\"{operation}\",\"description\":\"Operations running now.\","
                 "\"gauge\":{\"dataPoints\":[{\"timeUnixNano\":\"%" PRId64 "\",\"asInt\":\"%" PRIu64 "\"}]}}",
            totals->end_ns, totals->last->coverage.in_flight);
}

static void put_request(FILE *out, const struct totals *totals)
{
    const struct batch *last = totals->last;

    fputs("{\"resourceMetrics\":[{\"resource\":{\"attributes\":[", out);
    put_attribute(out, "service.name", "unblend-agent");
    putc(',', out);
    put_attribute(out, "service.version", PACKAGE_VERSION);
    putc(',', out);
    put_attribute(out, "host.name", last->node);
    putc(',', out);
    put_attribute(out, "unblend.cluster", last->cluster);
    putc(',', out);
    put_attribute(out, "unblend.role", last->role);
    fputs("]},\"scopeMetrics\":[{\"scope\":{\"name\":\"unblend\",\"version\":\"" PACKAGE_VERSION "\"},"
          "\"metrics\":[", out);
    in_flight(out, totals);
    coverage(out, totals);
    for (unsigned i = 0; i < sizeof(figures) / sizeof(*figures); i++)
        sums(out, totals, &figures[i]);
    histograms(out, totals, false);
    histograms(out, totals, true);
    fputs("]}]}]}", out);
}

int otlp_text(const struct totals *totals, char **text, size_t *size)
{
    char *buffer = NULL;
    FILE *out = open_memstream(&buffer, size);
    int err;

    if (!out)
        return -ENOMEM;
    put_request(out, totals);
    err = ferror(out);
    if (fclose(out) || err) {
        free(buffer);
        return -ENOMEM;
    }
    *text = buffer;
    return 0;
}
