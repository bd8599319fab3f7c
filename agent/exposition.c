/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/exposition.h"

#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/*
 * Bounds of the histograms are the last values below powers of two: an "le" is inclusive, and so what the buckets of
 * lib/bucket.h hold falls on one side of it or the other, exactly.
 */
#define TIME_FIRST 10 /* powers of two: 1 us */
#define TIME_LAST  34 /* 17 s */
#define SIZE_FIRST 9  /* 512 bytes */
#define SIZE_LAST  27 /* 128 MiB */
#define STEP       2  /* powers of two between bounds */

static void head(FILE *out, const char *name, const char *type, const char *unit, const char *help)
{
    fprintf(out, "# TYPE %s %s\n", name, type);
    if (unit)
        fprintf(out, "# UNIT %s %s\n", name, unit);
    fprintf(out, "# HELP %s %s\n", name, help);
}

/* A label's value. Names are UTF-8 by now (lib/record.h). */
static void put_value(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\n') {
            fputs("\\n", out);
            continue;
        }
        if (*text == '"' || *text == '\\')
            putc('\\', out);
        putc(*text, out);
    }
}

static void put_label(FILE *out, char before, const char *name, const char *value)
{
    fprintf(out, "%c%s=\"", before, name);
    put_value(out, value);
    putc('"', out);
}

static void put_labels(FILE *out, const struct total *total)
{
    char before = '{';

    if (*total->job) {
        put_label(out, before, "job_name", total->job);
        before = ',';
    }
    put_label(out, before, "volume", total->volume);
    fprintf(out, ",operation=\"%s\"", operation_info(total->op)->name);
}

static void counters(FILE *out, const struct total_set *set)
{
    head(out, "unblend_operations", "counter", NULL, "Operations that have returned, failed ones too.");
    for (uint32_t i = 0; i < set->count; i++) {
        fputs("unblend_operations_total", out);
        put_labels(out, &set->rows[i]);
        fprintf(out, "} %" PRIu64 "\n", set->rows[i].ops);
    }
    head(out, "unblend_transferred_bytes", "counter", "bytes", "Bytes really transferred.");
    for (uint32_t i = 0; i < set->count; i++) {
        if (!operation_info(set->rows[i].op)->has_size)
            continue;
        fputs("unblend_transferred_bytes_total", out);
        put_labels(out, &set->rows[i]);
        fprintf(out, "} %" PRIu64 "\n", set->rows[i].bytes);
    }
    head(out, "unblend_errors", "counter", NULL, "Operations that have failed.");
    for (uint32_t i = 0; i < set->count; i++) {
        fputs("unblend_errors_total", out);
        put_labels(out, &set->rows[i]);
        fprintf(out, "} %" PRIu64 "\n", set->rows[i].errors);
    }
    head(out, "unblend_waited_seconds", "counter", "seconds", "Time spent in operations, of all threads together.");
    for (uint32_t i = 0; i < set->count; i++) {
        fputs("unblend_waited_seconds_total", out);
        put_labels(out, &set->rows[i]);
        fprintf(out, "} %.9f\n", (double)set->rows[i].latency_sum_ns / 1e9);
    }
}

/* scale: of a value, to the unit. */
static void histogram(FILE *out, const char *name, const struct total *total, const struct histogram *h, unsigned first,
                      unsigned last, double scale, uint64_t sum)
{
    uint64_t count = 0;
    unsigned cell = 0;

    for (unsigned power = first; power <= last; power += STEP) {
        uint64_t bound = UINT64_C(1) << power;

        while (cell < h->length && bucket_lower(h->cells[cell].bucket) < bound)
            count += h->cells[cell++].count;
        fprintf(out, "%s_bucket", name);
        put_labels(out, total);
        fprintf(out, ",le=\"%.12g\"} %" PRIu64 "\n", (double)(bound - 1) * scale, count);
    }
    while (cell < h->length)
        count += h->cells[cell++].count;
    fprintf(out, "%s_bucket", name);
    put_labels(out, total);
    fprintf(out, ",le=\"+Inf\"} %" PRIu64 "\n", count);
    fprintf(out, "%s_count", name);
    put_labels(out, total);
    fprintf(out, "} %" PRIu64 "\n", count);
    fprintf(out, "%s_sum", name);
    put_labels(out, total);
    fprintf(out, "} %.12g\n", (double)sum * scale);
}

static void histograms(FILE *out, const struct total_set *set)
{
    head(out, "unblend_operation_seconds", "histogram", "seconds", "How long operations took.");
    for (uint32_t i = 0; i < set->count; i++)
        histogram(out, "unblend_operation_seconds", &set->rows[i], &set->rows[i].latency_ns, TIME_FIRST,
                  TIME_LAST, 1e-9, set->rows[i].latency_sum_ns);
    head(out, "unblend_operation_bytes", "histogram", "bytes", "How much single operations transferred.");
    for (uint32_t i = 0; i < set->count; i++)
        if (operation_info(set->rows[i].op)->has_size)
            histogram(out, "unblend_operation_bytes", &set->rows[i], &set->rows[i].size, SIZE_FIRST, SIZE_LAST, 1,
                      set->rows[i].bytes);
}

static void counter(FILE *out, const char *name, const char *help, uint64_t value)
{
    head(out, name, "counter", NULL, help);
    fprintf(out, "%s_total %" PRIu64 "\n", name, value);
}

/* More than one program may use a hook: it is attached if all of them are, and is told once, where it stands first. */
static void hook(FILE *out, const struct coverage *c, uint32_t place)
{
    const char *name = c->hooks[place].name;
    bool attached = true;

    for (uint32_t i = 0; i < c->hook_count; i++) {
        if (strcmp(c->hooks[i].name, name) != 0)
            continue;
        if (i < place)
            return;
        attached &= c->hooks[i].attached;
    }
    fputs("unblend_hook_attached", out);
    put_label(out, '{', "hook", name);
    fprintf(out, "} %d\n", attached);
}

static void coverage(FILE *out, const struct totals *totals)
{
    const struct coverage *c = &totals->last->coverage;

    counter(out, "unblend_lost_operations", "Operations that were missed.", totals->lost);
    counter(out, "unblend_killed_operations", "Operations whose thread ended inside them.", totals->killed);
    counter(out, "unblend_unattributed_operations", "Operations without a job or a volume.", totals->unattributed);
    counter(out, "unblend_overflow_operations", "Operations counted under a coarser key.", totals->overflow);
    head(out, "unblend_shed_seconds", "counter", "seconds", "For how long less was watched.");
    for (unsigned i = 0; i < SHED_COUNT; i++)
        fprintf(out, "unblend_shed_seconds_total{step=\"%s\"} %.3f\n", shed_names[i], (double)totals->shed_ms[i] / 1e3);
    head(out, "unblend_in_flight_operations", "gauge", NULL, "Operations running now.");
    fprintf(out, "unblend_in_flight_operations %" PRIu64 "\n", c->in_flight);
    head(out, "unblend_hook_attached", "gauge", NULL, "Whether a hook is attached.");
    for (uint32_t i = 0; i < c->hook_count; i++)
        hook(out, c, i);
    head(out, "unblend_bypasses", "gauge", NULL, "Ways around the kernel that were found.");
    fprintf(out, "unblend_bypasses %" PRIu32 "\n", c->bypass_count);
}

static void itself(FILE *out, const struct totals *totals, const struct exposition_state *state)
{
    const struct batch *last = totals->last;
    struct rusage usage = {0};

    head(out, "unblend_agent", "info", NULL, "The agent.");
    fprintf(out, "unblend_agent_info{version=\"" PACKAGE_VERSION "\"");
    put_label(out, ',', "cluster", last->cluster);
    put_label(out, ',', "node", last->node);
    put_label(out, ',', "role", last->role);
    fputs("} 1\n", out);
    getrusage(RUSAGE_SELF, &usage);
    head(out, "unblend_agent_cpu_seconds", "counter", "seconds", "Processor time of the agent.");
    fprintf(out, "unblend_agent_cpu_seconds_total %.6f\n",
            (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
    head(out, "unblend_agent_peak_memory_bytes", "gauge", "bytes", "The most memory that the agent has had resident.");
    fprintf(out, "unblend_agent_peak_memory_bytes %ld\n", usage.ru_maxrss * 1024);
    if (!state->pushes)
        return;
    head(out, "unblend_agent_waiting_batches", "gauge", NULL, "Batches that the collector has not acknowledged.");
    fprintf(out, "unblend_agent_waiting_batches %u\n", state->waiting);
    head(out, "unblend_agent_pushing", "gauge", NULL, "Whether the last attempt to send has worked.");
    fprintf(out, "unblend_agent_pushing %d\n", state->is_well);
}

int exposition_text(const struct totals *totals, const struct exposition_state *state, char **text, size_t *size)
{
    char *buffer = NULL;
    FILE *out = open_memstream(&buffer, size);
    int err;

    if (!out)
        return -ENOMEM;
    if (totals->last) {
        itself(out, totals, state);
        coverage(out, totals);
        counters(out, &totals->jobs);
        histograms(out, &totals->volumes);
    }
    fputs("# EOF\n", out);
    err = ferror(out);
    if (fclose(out) || err) {
        free(buffer);
        return -ENOMEM;
    }
    *text = buffer;
    return 0;
}
