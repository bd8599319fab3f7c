/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/export/plan.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "analyzer/export/opening.h"
#include "analyzer/figure.h"
#include "lib/vector.h"

#define FILE_PARTS  16     /* the longest transfer fits so often into a file at least */
#define SECTOR      512
#define PAGE        4096
#define PAUSE_SHARE 0.05   /* shorter pauses than that of the span are left out */
#define PAUSE_MIN   2000.0 /* us; timers are not that exact */
#define DIRECT_MIN  0.9    /* of reads: a section's are all of one kind */
#define IDLE_MIN    0.3    /* of the tenths of a second: it comes in bursts */
#define RANDOM_MAX  50     /* per cent: fio reads files to their end, one after the other, only if it does not jump */

struct section *plan_add(struct plan *plan, enum step step, uint64_t ops)
{
    struct section *section;

    if (vector_reserve((void **)&plan->sections, &plan->capacity, plan->count, sizeof(*section)))
        return NULL;
    section = &plan->sections[plan->count++];
    *section = (struct section){.step = step, .ops = ops, .loops = 1};
    return section;
}

static double mean_latency_s(const struct record *record)
{
    uint64_t ops = record_ops(record);

    return ops ? (double)record->latency_sum_ns / 1e9 / (double)ops : 0;
}

/* The section's operations, spread over the span as the recorded ones were. */
static void pace(struct section *section, const struct record *record, double span_s, const struct burst *burst)
{
    double ops = (double)section->ops * (double)section->loops, pause_s = span_s - ops * mean_latency_s(record), every;

    if (!(pause_s >= PAUSE_SHARE * span_s))
        return;
    if (burst->idle[0] >= IDLE_MIN) {
        double period_s = isnan(burst->period_s) ? 1 : burst->period_s;

        every = ceil(ops * fmin(period_s / span_s, 1));
        pause_s = fmin(pause_s, burst->idle[0] * span_s);
    } else {
        every = ceil(PAUSE_MIN / (1e6 * pause_s / ops));
    }
    every = fmin(fmax(every, 1), ops);
    section->pause_every = (uint64_t)every;
    section->pause_us = (uint64_t)(1e6 * pause_s * every / ops);
}

/* Of all sizes together. */
static double random_share(const struct record *record)
{
    double all = figure_ordered(record);

    return all > 0 ? 1 - (double)record->order[ORDER_CONSECUTIVE] / all : 0;
}

/* Of the sizes in a mixture; jumped: those that jump, NULL where that is not known. */
static unsigned random_percent(const struct record *record, const struct size_mix *mix, const struct histogram *jumped)
{
    double share = 0;

    if (!jumped)
        return (unsigned)(100 * random_share(record) + 0.5);
    for (unsigned i = 0; i < mix->count; i++) {
        unsigned bucket = bucket_of(mix->shares[i].bytes);
        double all = (double)histogram_at(&record->size, bucket);

        share += mix->shares[i].percent / 100.0 *
                 (all > 0 ? (double)histogram_at(jumped, bucket) / all : random_share(record));
    }
    return (unsigned)(100 * share + 0.5);
}

/* Nearly all reads went past the page cache, where that can be told. */
static bool is_direct(const struct volume_total *volume)
{
    return figure_direct(volume->fstype, &volume->tally.op[OP_READ]) > DIRECT_MIN;
}

static uint64_t round_up(uint64_t value, uint64_t to)
{
    return (value + to - 1) / to * to;
}

/* The mean size of the files opened. */
static uint64_t file_bytes(const struct tally *tally)
{
    const struct histogram *sizes = &tally->op[OP_OPEN].size;
    double sum = 0, count = (double)histogram_filled(sizes);

    for (unsigned i = 0; i < sizes->length; i++)
        sum += (double)sizes->cells[i].count * (double)bucket_lower(sizes->cells[i].bucket);
    return count > 0 ? (uint64_t)(sum / count) : 0;
}

/* The section's part of the syncs, when so many writes are in sections before it. */
static void sync_after(struct plan *plan, struct section *section, uint64_t before, uint64_t writes)
{
    double each = fmin((double)plan->fsyncs / (double)writes, 1);
    uint64_t syncs = (uint64_t)(each * (double)(before + section->ops) + 0.5) - (uint64_t)(each * (double)before + 0.5);

    if (!syncs)
        return;
    section->sync_every = MAX(section->ops / syncs, 1);
    if (section->ops == section->sync_every && section->ops > 2)
        section->sync_every--; /* after the last one there is none */
    plan->synced += section->ops / section->sync_every;
}

static int add_transfers(struct plan *plan, const struct tally *tally, enum operation op, double span_s,
                         const struct burst *burst)
{
    const struct record *record = &tally->op[op];
    struct histogram jumped;
    struct size_mixes mixes = {0};
    uint64_t before = 0;
    int known = figure_jumped(record, &jumped);
    int err = known < 0 ? known : sizes_of(&record->size, record->bytes, plan->direct ? SECTOR : 1, &mixes);

    for (uint32_t i = 0; !err && i < mixes.count; i++) {
        struct section *section = plan_add(plan, op == OP_READ ? STEP_READ : STEP_WRITE, mixes.list[i].ops);
        uint64_t largest = size_mix_max(&mixes.list[i]);

        if (!section) {
            err = -ENOMEM;
            break;
        }
        section->mix = mixes.list[i];
        section->random = random_percent(record, &section->mix, known ? &jumped : NULL);
        plan->shared_bytes = MAX(plan->shared_bytes, round_up(MAX(file_bytes(tally), FILE_PARTS * largest), PAGE));
        if (op == OP_WRITE)
            sync_after(plan, section, before, record_ops(record));
        before += section->ops;
        pace(section, record, span_s, burst);
    }
    histogram_clear(&jumped);
    sizes_clear(&mixes);
    return err;
}

/* Of those that read one size from front to back the one with most operations. */
static struct section *largest_stream(struct plan *plan)
{
    struct section *best = NULL;

    for (uint32_t i = 0; i < plan->count; i++) {
        struct section *s = &plan->sections[i];

        if (s->step == STEP_READ && s->mix.count == 1 && s->random < RANDOM_MAX && (!best || s->ops > best->ops))
            best = s;
    }
    return best;
}

uint64_t plan_files(const struct plan *plan, uint64_t opens)
{
    uint64_t files = MIN(plan->stats ? plan->stats / (20 * LOOKS) : opens, MIN(opens, FILES_MAX));

    return MAX(plan->creates ? MIN(files, plan->creates / 2) : files, 1);
}

/* Opens go to that section: once a loop each of its files is opened, and read to its end. */
static int add_opens(struct plan *plan)
{
    struct section *section = largest_stream(plan), *more;
    uint64_t opens, rest, each;
    struct section like;

    if (!section || plan->opens <= plan->count)
        return 0;
    opens = MIN(plan->opens, section->ops);
    like = *section; /* plan_add() may move it */
    section->files = plan_files(plan, opens);
    section->loops = MAX(opens / section->files, 1);
    each = section->ops / (section->files * section->loops);
    rest = section->ops - each * section->files * section->loops;
    section->ops = each * section->files;
    section->file_bytes = each * size_mix_max(&section->mix);
    if (!rest)
        return 0;
    more = plan_add(plan, like.step, rest);
    if (!more)
        return -ENOMEM;
    *more = like;
    more->ops = rest;
    return 0;
}

static void count_own(struct plan *plan)
{
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct section *s = &plan->sections[i];
        uint64_t files = MAX(s->files, 1);

        plan->looked += LOOKS * files + LOOKS_MORE + (s->files ? LOOKS * files + LOOKS_MORE : 0);
        plan->made += s->files;
        plan->opened += files * s->loops;
    }
    plan->made += plan->shared_bytes > 0;
    plan->looked += plan->shared_bytes ? LOOKS + LOOKS_MORE : 0;
}

static int add_metadata(struct plan *plan)
{
    uint64_t creates = plan->creates > plan->made ? plan->creates - plan->made : 0, pairs = MIN(creates, plan->deletes);
    struct section *section;

    for (uint32_t i = 0; i < plan->count; i++)
        if (plan->sections[i].files && pairs + plan->sections[i].files <= plan->deletes) {
            plan->sections[i].unlink = true;
            plan->deleted += plan->sections[i].files;
        }
    if (pairs) {
        uint64_t files = MAX(MIN(pairs / 100, 16), 1);

        section = plan_add(plan, STEP_PAIRS, files);
        if (!section)
            return -ENOMEM;
        section->files = files;
        section->loops = pairs / files;
        plan->made += files * section->loops;
        plan->deleted += files * section->loops + files; /* once in vain */
        plan->looked += files + LOOKS_MORE;
        creates -= files * section->loops;
    }
    if (creates) {
        section = plan_add(plan, STEP_CREATE, creates);
        if (!section)
            return -ENOMEM;
        section->files = creates;
        plan->made += creates;
        plan->looked += creates + LOOKS_MORE;
    }
    return 0;
}

static int add_stats(struct plan *plan)
{
    uint64_t files = 1;
    struct section *section;
    uint32_t lent = 0;

    for (uint32_t i = 0; !lent && i < plan->count; i++)
        if (plan->sections[i].step == STEP_READ && plan->sections[i].files && !plan->sections[i].unlink) {
            files = plan->sections[i].files;
            lent = i + 1;
        }
    if (plan->stats < plan->looked + LOOKS * files + 2 * LOOKS_MORE + LOOKS + files)
        return 0;
    if (!plan->shared_bytes && !lent) {
        plan->shared_bytes = PAGE;
        plan->made++;
        plan->looked += LOOKS + LOOKS_MORE;
    }
    plan->looked += LOOKS * files + LOOKS_MORE;
    section = plan_add(plan, STEP_STAT, files);
    if (!section)
        return -ENOMEM;
    section->lent = lent;
    section->files = lent ? files : 0;
    section->loops = (plan->stats - plan->looked) / files;
    plan->looked += section->loops * files;
    return 0;
}

/* What is read and written anywhere in large files has as much room as they had, or else it is soon in the cache. */
static void spread_out(struct plan *plan, const struct working *working)
{
    struct working_set sets[WORKING_WINDOWS];
    unsigned count = working_sets(working, sets);
    uint64_t own = 0, all;

    if (!count || !plan->shared_bytes)
        return;
    for (uint32_t i = 0; i < plan->count; i++)
        own += plan->sections[i].files * plan->sections[i].file_bytes;
    all = (uint64_t)sets[count - 1].bytes.value;
    if (all > own)
        plan->shared_bytes = MAX(plan->shared_bytes, round_up(all - own, PAGE));
}

int plan_make(const struct job_total *job, const struct volume_total *volume, struct plan *out)
{
    const struct tally *tally = &volume->tally;
    double span_s = export_span_s(job);
    struct plan plan = {
        .direct = is_direct(volume),
        .creates = tally_succeeded(tally, OP_CREATE),
        .stats = tally_ops(tally, OP_STAT),
        .deletes = tally_succeeded(tally, OP_UNLINK),
        .opens = tally_succeeded(tally, OP_OPEN),
        .fsyncs = tally_ops(tally, OP_FSYNC),
    };
    struct burst burst = {.period_s = NAN};
    uint64_t empty = histogram_zeros(&tally->op[OP_READ].size);
    int err = burst_within(&volume->series, DEMAND_BYTES, &job->series, &burst);

    if (!err && windows_complete(&volume->windows, &volume->series))
        windows_burst(&volume->windows, &job->windows, MEASURE_BYTES, &burst);
    if (!err)
        err = add_transfers(&plan, tally, OP_READ, span_s, &burst);
    if (!err)
        err = add_transfers(&plan, tally, OP_WRITE, span_s, &burst);
    if (!err)
        err = add_opens(&plan);
    if (!err && empty) {
        struct section *section = plan_add(&plan, STEP_EMPTY, empty);

        err = section ? 0 : -ENOMEM;
        plan.shared_bytes = plan.shared_bytes ? plan.shared_bytes : PAGE;
        if (section)
            pace(section, &tally->op[OP_READ], span_s, &burst);
    }
    count_own(&plan);
    if (!err)
        err = opening_add(&plan, &tally->op[OP_OPEN].size);
    if (!err)
        err = add_metadata(&plan);
    spread_out(&plan, &volume->working);
    if (!err)
        err = add_stats(&plan);
    if (err) {
        plan_clear(&plan);
        return err;
    }
    *out = plan;
    return 0;
}

void plan_clear(struct plan *plan)
{
    free(plan->sections);
    *plan = (struct plan){0};
}
