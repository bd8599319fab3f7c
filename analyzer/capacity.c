/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/capacity.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"

const struct metric metrics[METRIC_COUNT] = {
    {"read_bytes_s", DEMAND_READ_BYTES}, {"write_bytes_s", DEMAND_WRITE_BYTES},     {"read_iops", DEMAND_READ_OPS},
    {"write_iops", DEMAND_WRITE_OPS},    {"metadata_ops_s", DEMAND_METADATA_OPS}, {"in_flight", DEMAND_COUNT},
};

const char *const metric_words[METRIC_COUNT] = {
    [METRIC_READ_BYTES] = "Read",
    [METRIC_WRITE_BYTES] = "Written",
    [METRIC_READ_OPS] = "Reads",
    [METRIC_WRITE_OPS] = "Writes",
    [METRIC_METADATA_OPS] = "Metadata",
    [METRIC_IN_FLIGHT] = "In flight",
};

#define LOOSE_MS 1000 /* windows up to here count at the span's ends, too */

const uint32_t capacity_window_ms[CAPACITY_WINDOWS] = {100, 1000, 60000, 3600000};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double rank(const double *sorted, size_t count, double q)
{
    size_t place = (size_t)ceil(q * (double)count);

    return sorted[place ? place - 1 : 0];
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static int describe(double *x, size_t count, uint32_t window_ms, int64_t from, struct capacity_demand *out)
{
    _cleanup_free_ double *sorted = malloc(count * sizeof(*sorted));
    size_t run = 0, longest = 0, most = 0;
    double sum = 0;

    if (!sorted)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        sum += x[i];
        most = x[i] > x[most] ? i : most;
    }
    memcpy(sorted, x, count * sizeof(*sorted));
    qsort(sorted, count, sizeof(*sorted), by_value);
    *out = (struct capacity_demand){
        .known = true,
        .mean = sum / (double)count,
        .p50 = rank(sorted, count, 0.5),
        .p95 = rank(sorted, count, 0.95),
        .p99 = rank(sorted, count, 0.99),
        .max = sorted[count - 1],
        .max_ms = (floor_div(from, window_ms) + (int64_t)most) * window_ms,
    };
    for (size_t i = 0; i < count; i++) {
        run = x[i] > out->p95 ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    out->longest_above_p95_s = (double)longest * window_ms / 1e3;
    return 0;
}

/* From slots of 100 ms, where the recorded intervals are too long. */
static int from_slots(const struct load *load, enum metric_id metric, uint32_t window_ms, int64_t from, int64_t last,
                      struct capacity_demand *out)
{
    const struct spread_demand *s = NULL;
    double each = 1e3 / window_ms;
    int64_t first, end;

    if (metric == METRIC_IN_FLIGHT || !load->windows || !load->windows->spreads ||
        !windows_complete(load->windows, load->series))
        return -ENODATA;
    if (load->windows->spreads->err)
        return load->windows->spreads->err;
    for (unsigned w = 0; w < SPREAD_WINDOWS; w++)
        if (spread_window_ms[w] == window_ms)
            s = &load->windows->spreads->of[w][metrics[metric].demand];
    if (!s)
        return -ENODATA;
    first = floor_div(from, window_ms);
    end = floor_div(last, window_ms);
    if (s->used && s->first < first)
        first = s->first;
    if (s->used && s->last > end)
        end = s->last;
    *out = (struct capacity_demand){
        .known = true,
        .mean = (double)(s->sum / (double)(end - first + 1)) * each,
        .p50 = (double)spread_quantile(s, 0.5, first, end) * each,
        .p95 = (double)spread_quantile(s, 0.95, first, end) * each,
        .p99 = (double)spread_quantile(s, 0.99, first, end) * each,
        .max = (double)s->max * each,
    };
    out->longest_above_p95_s =
        (double)spread_longest_above(s, spread_quantile(s, 0.95, first, end)) * window_ms / 1e3;
    return 0;
}

int capacity_of(const struct load *load, enum metric_id metric, uint32_t window_ms, int64_t from, int64_t last,
                struct capacity_demand *out)
{
    bool flight = metric == METRIC_IN_FLIGHT;
    const struct series *series = flight ? load->busy : load->series;
    unsigned demands = flight ? BUSY_TIMES : DEMAND_BIT(metrics[metric].demand);
    double unit = window_ms / 1e3 * (flight ? 1e9 : 1);
    _cleanup_free_ double *x = NULL;
    size_t count;
    int err = series_windows(series, demands, window_ms, from, last, &x, &count);

    if (err == -ENODATA)
        return from_slots(load, metric, window_ms, from, last, out);
    if (err)
        return err;
    for (size_t i = 0; i < count; i++)
        x[i] /= unit;
    return describe(x, count, window_ms, from, out);
}

bool capacity_span(const struct series *span, uint32_t window_ms, int64_t *from, int64_t *last)
{
    int64_t start = series_from(span), end = series_last(span) + span->slot_ms;

    if (window_ms <= LOOSE_MS) {
        *from = start;
        *last = end - 1;
        return true;
    }
    *from = floor_div(start + window_ms - 1, window_ms) * window_ms;
    *last = floor_div(end, window_ms) * window_ms - 1;
    return *from < *last;
}

static int fill(const struct load *load, const struct offer *offer, const struct aggregate *totals,
                struct capacity_entry *entry)
{
    for (unsigned m = 0; m < METRIC_COUNT; m++)
        for (unsigned w = 0; w < CAPACITY_WINDOWS; w++) {
            int64_t from, last;
            int err;

            if (!capacity_span(&totals->series, capacity_window_ms[w], &from, &last))
                continue;
            err = capacity_of(load, m, capacity_window_ms[w], from, last, &entry->demand[m][w]);
            if (err && err != -ENODATA)
                return err;
        }
    return capacity_limit(load, offer, &totals->series, entry);
}

static int add_entry(struct capacity_entry **list, uint32_t *count, const struct load *load, const struct offer *offer,
                     const struct aggregate *totals, struct capacity_entry entry)
{
    struct capacity_entry *grown;
    int err;

    if (!load->series->length)
        return 0;
    grown = reallocarray(*list, *count + 1u, sizeof(**list));
    if (!grown)
        return -ENOMEM;
    *list = grown;
    err = fill(load, offer, totals, &entry);
    if (!err)
        grown[(*count)++] = entry;
    return err;
}

/* A volume, or all shared ones, at both layers. */
static int add_volume(struct capacity_entry **list, uint32_t *count, const struct volume_total *volume,
                      const char *name, const struct offer *offer, const struct aggregate *totals)
{
    const struct load asked = {&volume->series, &volume->busy, &volume->windows};
    const struct load reached = {&volume->reached, &volume->reached_busy, NULL};
    const struct capacity_entry entry = {.name = name, .volume = name ? volume : NULL};
    struct capacity_entry below = entry;
    int err = add_entry(list, count, &asked, offer, totals, entry);

    below.reached = true;
    return err ? err : add_entry(list, count, &reached, offer, totals, below);
}

/* Demand of a profile or an owner on shared volumes, being added up. */
struct portion {
    const char *name;
    struct series series, busy;
};

static struct portion *find_portion(struct portion **list, uint32_t *count, const char *name)
{
    struct portion *grown;

    for (uint32_t i = 0; i < *count; i++)
        if (strcmp((*list)[i].name, name) == 0)
            return &(*list)[i];
    grown = reallocarray(*list, *count + 1u, sizeof(*grown));
    if (!grown)
        return NULL;
    *list = grown;
    grown[*count] = (struct portion){.name = name};
    return &grown[(*count)++];
}

static int add_portion(struct portion *portion, const struct job_total *job, double bytes, double ops)
{
    const double weight[DEMAND_COUNT] = {
        [DEMAND_READ_BYTES] = bytes, [DEMAND_WRITE_BYTES] = bytes, [DEMAND_READ_OPS] = ops,
        [DEMAND_WRITE_OPS] = ops,    [DEMAND_METADATA_OPS] = ops,
    };
    const double time[DEMAND_COUNT] = {ops, ops, ops, ops, ops};
    int err = 0;

    for (uint32_t v = 0; !err && v < job->volume_count; v++) {
        if (job->volumes[v].scope != SCOPE_SHARED)
            continue;
        err = series_merge(&portion->series, &job->volumes[v].series, weight);
        if (!err)
            err = series_merge(&portion->busy, &job->volumes[v].busy, time);
    }
    return err;
}

static int add_profiles(struct portion **list, uint32_t *count, const struct aggregate *totals,
                        const struct profile_list *profiles)
{
    for (uint32_t i = 0; i < totals->job_count; i++)
        for (uint32_t p = 0; p < profiles[i].count; p++) {
            const struct profile_share *share = &profiles[i].shares[p];
            struct portion *portion;
            int err;

            if (share->pipeline || !(share->share_ops > 0))
                continue;
            portion = find_portion(list, count, share->profile);
            err = portion ? add_portion(portion, &totals->jobs[i],
                                        isnan(share->share_bytes) ? share->share_ops : share->share_bytes,
                                        share->share_ops)
                          : -ENOMEM;
            if (err)
                return err;
        }
    return 0;
}

static int add_owners(struct portion **list, uint32_t *count, const struct aggregate *totals)
{
    for (uint32_t i = 0; i < totals->job_count; i++) {
        const char *user = totals->jobs[i].user;
        struct portion *portion = find_portion(list, count, user ? user : "?");
        int err = portion ? add_portion(portion, &totals->jobs[i], 1, 1) : -ENOMEM;

        if (err)
            return err;
    }
    return 0;
}

static int by_mean(const void *a, const void *b)
{
    const struct capacity_entry *x = a, *y = b;
    double p = x->demand[METRIC_IN_FLIGHT][CAPACITY_SECOND].mean, q = y->demand[METRIC_IN_FLIGHT][CAPACITY_SECOND].mean;

    return p != q ? (p < q) - (p > q) : strcmp(x->name, y->name);
}

/* The portions as entries, and the portions' end. */
static int take_portions(struct portion *list, uint32_t count, const struct offer *offer,
                         const struct aggregate *totals, struct capacity_entry **entries, uint32_t *entry_count)
{
    int err = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct load load = {&list[i].series, &list[i].busy, NULL};

        if (!err)
            err = add_entry(entries, entry_count, &load, offer, totals, (struct capacity_entry){.name = list[i].name});
        series_clear(&list[i].series);
        series_clear(&list[i].busy);
    }
    free(list);
    if (!err && *entry_count)
        qsort(*entries, *entry_count, sizeof(**entries), by_mean);
    return err;
}

static int divide(const struct aggregate *totals, const struct profile_list *profiles, const struct offer *offer,
                  struct capacity *out)
{
    struct portion *list = NULL;
    uint32_t count = 0;
    int err = profiles ? add_profiles(&list, &count, totals, profiles) : 0, end;

    end = take_portions(list, count, offer, totals, &out->profiles, &out->profile_count);
    if (err || end)
        return err ? err : end;
    list = NULL;
    count = 0;
    err = totals->grouping == GROUP_JOB || totals->grouping == GROUP_USER ? add_owners(&list, &count, totals) : 0;
    end = take_portions(list, count, offer, totals, &out->owners, &out->owner_count);
    return err ? err : end;
}

static double looked_at(const struct aggregate *totals)
{
    double sum = 0;

    for (uint32_t i = 0; i < totals->volume_count; i++) {
        struct in_flight flight;

        volume_in_flight(&totals->volumes[i], totals, OP_NONE, &flight);
        sum += totals->volumes[i].scope == SCOPE_SHARED && flight.known ? (double)flight.max : 0;
    }
    return sum;
}

int capacity_build(const struct aggregate *totals, const struct profile_list *profiles, const struct offer *offer,
                   struct capacity *out)
{
    int err = 0;

    *out = (struct capacity){.looked = looked_at(totals)};
    if (!totals->series.length)
        return 0;
    for (uint32_t i = 0; !err && i < totals->volume_count; i++) {
        const struct volume_total *volume = &totals->volumes[i];

        err = add_volume(&out->volumes, &out->volume_count, volume, volume->name,
                         offer && volume->scope == SCOPE_SHARED && offer_holds(offer, volume->name) ? offer : NULL,
                         totals);
    }
    if (!err)
        err = add_volume(&out->cluster, &out->cluster_count, &totals->shared, NULL, offer, totals);
    if (!err)
        err = divide(totals, profiles, offer, out);
    if (!err)
        err = capacity_require(totals, offer, out);
    if (err)
        capacity_clear(out);
    return err;
}

void capacity_clear(struct capacity *capacity)
{
    free(capacity->volumes);
    free(capacity->cluster);
    free(capacity->profiles);
    free(capacity->owners);
    *capacity = (struct capacity){0};
}
