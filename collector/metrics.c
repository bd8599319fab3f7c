/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/metrics.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct metrics metrics;

static const unsigned statuses[] = {200, 400, 401, 403, 405, 408, 409, 413, 415, 429, 500, 503};
#define STATUSES (sizeof(statuses) / sizeof(*statuses))

static atomic_uint_fast64_t answers[STATUSES];

/* Upper bounds of the commit latency's buckets, in us; the last one has none. */
static const unsigned bounds[] = {500,   1000,   2500,   5000,    10000,  25000,
                                  50000, 100000, 250000, 1000000, 5000000};
#define BOUNDS (sizeof(bounds) / sizeof(*bounds))

static atomic_uint_fast64_t commits[BOUNDS + 1];
static atomic_uint_fast64_t commit_ns;

void metrics_answer(unsigned status)
{
    for (unsigned i = 0; i < STATUSES; i++)
        if (statuses[i] == status)
            atomic_fetch_add(&answers[i], 1);
}

void metrics_commit(uint64_t ns)
{
    unsigned i = 0;

    while (i < BOUNDS && ns > (uint64_t)bounds[i] * 1000)
        i++;
    atomic_fetch_add(&commits[i], 1);
    atomic_fetch_add(&commit_ns, ns);
}

static void counter(FILE *out, const char *name, const char *help, uint64_t value)
{
    fprintf(out, "# TYPE %s counter\n# HELP %s %s\n%s_total %" PRIu64 "\n", name, name, help, name,
            value);
}

static void latency(FILE *out)
{
    static const char name[] = "unblend_collector_commit_seconds";
    uint64_t count = 0;

    fprintf(out, "# TYPE %s histogram\n# UNIT %s seconds\n", name, name);
    fprintf(out, "# HELP %s Time from the begin of a transaction until its commit.\n", name);
    for (unsigned i = 0; i <= BOUNDS; i++) {
        count += atomic_load(&commits[i]);
        if (i < BOUNDS)
            fprintf(out, "%s_bucket{le=\"%g\"} %" PRIu64 "\n", name, bounds[i] / 1e6, count);
        else
            fprintf(out, "%s_bucket{le=\"+Inf\"} %" PRIu64 "\n", name, count);
    }
    fprintf(out, "%s_count %" PRIu64 "\n%s_sum %.9f\n", name, count, name,
            (double)atomic_load(&commit_ns) / 1e9);
}

int metrics_text(char **text, size_t *size)
{
    char *buffer = NULL;
    FILE *out = open_memstream(&buffer, size);

    if (!out)
        return -ENOMEM;
    counter(out, "unblend_collector_batches", "Batches committed.", atomic_load(&metrics.batches));
    counter(out, "unblend_collector_duplicates", "Batches that were there already.",
            atomic_load(&metrics.duplicates));
    counter(out, "unblend_collector_records", "Records committed.", atomic_load(&metrics.records));
    counter(out, "unblend_collector_body_bytes", "Bytes of request bodies as received.",
            atomic_load(&metrics.bytes));
    counter(out, "unblend_collector_batches_ahead", "Batches committed that begin more than a minute in the future.",
            atomic_load(&metrics.ahead));
    fprintf(out, "# TYPE unblend_collector_answers counter\n"
                 "# HELP unblend_collector_answers Answers to POST /v1/batches by status.\n");
    for (unsigned i = 0; i < STATUSES; i++)
        fprintf(out, "unblend_collector_answers_total{status=\"%u\"} %" PRIu64 "\n", statuses[i],
                atomic_load(&answers[i]));
    latency(out);
    fprintf(out,
            "# TYPE unblend_collector_database_up gauge\n"
            "# HELP unblend_collector_database_up Whether PostgreSQL answers.\n"
            "unblend_collector_database_up %d\n# EOF\n",
            atomic_load(&metrics.database_up));
    if (fclose(out)) {
        free(buffer);
        return -ENOMEM;
    }
    *text = buffer;
    return 0;
}
