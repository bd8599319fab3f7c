/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/totals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/vector.h"

#define SECOND      INT64_C(1000000000)
#define FORGET_EACH (60 * SECOND)

static uint32_t hash_of(const char *job, const char *volume, enum operation op)
{
    const uint32_t parts[] = {lookup_hash(job, strlen(job)), lookup_hash(volume, strlen(volume)), (uint32_t)op};

    return lookup_hash(parts, sizeof(parts));
}

static struct total *find(const struct total_set *set, const char *job, const char *volume, enum operation op)
{
    uint32_t hash = hash_of(job, volume, op), cursor = hash, at;

    while (lookup_next(&set->index, hash, &cursor, &at)) {
        struct total *total = &set->rows[at];

        if (total->op == op && strcmp(total->job, job) == 0 && strcmp(total->volume, volume) == 0)
            return total;
    }
    return NULL;
}

static void total_clear(struct total *total)
{
    free(total->job);
    free(total->volume);
    histogram_clear(&total->size);
    histogram_clear(&total->latency_ns);
}

static int append(struct total_set *set, const char *job, const char *volume, enum operation op, struct total **out)
{
    struct total total = {.job = strdup(job), .volume = strdup(volume), .op = op};

    if (!total.job || !total.volume || lookup_reserve(&set->index) ||
        vector_reserve((void **)&set->rows, &set->capacity, set->count, sizeof(*set->rows))) {
        total_clear(&total);
        return -ENOMEM;
    }
    lookup_insert(&set->index, hash_of(job, volume, op), set->count);
    set->rows[set->count] = total;
    *out = &set->rows[set->count++];
    return 0;
}

/* The series, or where there are too many the one that takes the others. */
static int find_or_add(struct total_set *set, const char *job, const char *volume, enum operation op,
                       struct total **out)
{
    struct total *total = find(set, job, volume, op);

    if (!total && set->count >= TOTALS_MAX) {
        job = *job ? TOTALS_OTHERS : "";
        volume = TOTALS_OTHERS;
        total = find(set, job, volume, op);
    }
    if (!total)
        return append(set, job, volume, op, out);
    *out = total;
    return 0;
}

static int add(struct total_set *set, const char *job, const char *volume, const struct record *record,
               const struct batch *batch, int64_t watched_ns)
{
    struct total *total;
    int err = find_or_add(set, job, volume, record->op, &total);

    if (err)
        return err;
    if (!total->ops)
        total->start_ns = batch->start_ns;
    total->seen_ns = watched_ns;
    total->ops += record_ops(record);
    total->bytes += record->bytes;
    total->errors += record->errors;
    total->latency_sum_ns += record->latency_sum_ns;
    if (*job)
        return 0;
    err = histogram_merge(&total->latency_ns, &record->latency_ns);
    return err ? err : histogram_merge(&total->size, &record->size);
}

/* Leaves out what was silent for long. Whatever can fail comes first. */
static int forget(struct total_set *set, int64_t before_ns)
{
    struct lookup index = {0};
    uint32_t kept = 0;

    for (uint32_t i = 0; i < set->count; i++) {
        const struct total *total = &set->rows[i];

        if (total->seen_ns < before_ns)
            continue;
        if (lookup_reserve(&index)) {
            lookup_clear(&index);
            return -ENOMEM;
        }
        lookup_insert(&index, hash_of(total->job, total->volume, total->op), kept++);
    }
    lookup_clear(&set->index);
    set->index = index;
    kept = 0;
    for (uint32_t i = 0; i < set->count; i++)
        if (set->rows[i].seen_ns < before_ns)
            total_clear(&set->rows[i]);
        else
            set->rows[kept++] = set->rows[i];
    set->count = kept;
    return 0;
}

static void add_coverage(struct totals *totals, const struct coverage *coverage)
{
    totals->lost += coverage->lost;
    totals->killed += coverage->killed;
    totals->unattributed += coverage->unattributed;
    totals->overflow += coverage->overflow;
    for (unsigned i = 0; i < SHED_COUNT; i++)
        totals->shed_ms[i] += coverage->shed_ms[i];
}

int totals_add(struct totals *totals, struct batch *batch)
{
    int err = 0;

    add_coverage(totals, &batch->coverage);
    for (uint32_t i = 0; !err && i < batch->record_count; i++) {
        const struct record *record = &batch->records[i];
        const char *volume = batch->volumes[record->volume].name;

        if (!record_ops(record))
            continue; /* in flight, and counted when it is done */
        err = add(&totals->jobs, batch->jobs[record->job].name, volume, record, batch, totals->watched_ns);
        if (!err)
            err = add(&totals->volumes, "", volume, record, batch, totals->watched_ns);
    }
    if (!totals->start_ns)
        totals->start_ns = batch->start_ns;
    totals->end_ns = batch->start_ns + (int64_t)batch->duration_ns;
    totals->watched_ns += (int64_t)batch->duration_ns;
    if (!err && totals->watched_ns - totals->forgot_ns > FORGET_EACH) {
        err = forget(&totals->jobs, totals->watched_ns - TOTALS_IDLE_S * SECOND);
        if (!err)
            err = forget(&totals->volumes, totals->watched_ns - TOTALS_IDLE_S * SECOND);
        totals->forgot_ns = totals->watched_ns;
    }
    batch_free(totals->last);
    totals->last = batch;
    return err;
}

static void set_clear(struct total_set *set)
{
    for (uint32_t i = 0; i < set->count; i++)
        total_clear(&set->rows[i]);
    free(set->rows);
    lookup_clear(&set->index);
}

void totals_clear(struct totals *totals)
{
    set_clear(&totals->jobs);
    set_clear(&totals->volumes);
    batch_free(totals->last);
    *totals = (struct totals){.last = NULL};
}
