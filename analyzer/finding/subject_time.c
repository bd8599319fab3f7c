/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What shows in time only: calls that hang, and readers that wait while others write. */
#include "analyzer/finding/rule.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/figure.h"
#include "analyzer/part.h"
#include "lib/cleanup.h"

#define MUCH_WRITTEN 0.25    /* of the fullest slot */
#define WRITE_MIN    1048576 /* a second */
#define SLOW         2       /* as the rule of slow reads has it */

static bool is_current(const struct gauge *gauge, const struct aggregate *totals)
{
    for (uint32_t n = 0; n < totals->node_count; n++)
        if (totals->nodes[n].node == gauge->node)
            return gauge->end_ns >= totals->nodes[n].last_ns;
    return false;
}

static int name_processes(const struct volume_total *volume, const struct gauge *gauge, const struct aggregate *totals,
                          struct subject *subject)
{
    unsigned long long count = gauge->count;
    const char *op = operation_info(gauge->op)->name;
    const struct stuck *first = NULL;
    bool more = false;

    for (uint32_t i = 0; i < volume->stuck_count; i++) {
        const struct stuck *stuck = &volume->stuck[i];

        if (stuck->node != gauge->node || stuck->op != gauge->op || !stuck_now(stuck, totals))
            continue;
        more = first != NULL;
        first = first ? first : stuck;
    }
    if (!first)
        return subject_note(subject, "%llu in %s", count, op);
    return subject_note(subject, "%llu in %s: %s (process %u)%s", count, op, first->command, first->pid,
                        more ? " and others" : "");
}

static int hang(const struct aggregate *totals, const struct job_total *job, const struct volume_total *volume,
                subject_take take, void *to)
{
    for (uint32_t g = 0; g < volume->gauge_count; g++) {
        const struct gauge *gauge = &volume->gauges[g];
        struct subject subject;
        uint64_t p99;
        int err;

        if (!is_current(gauge, totals))
            continue;
        subject_init(&subject, SUBJECT_STUCK, job, volume);
        subject.node = gauge->node;
        subject.values[TRAIT_STUCK_S] = (double)gauge->oldest_ns / 1e9;
        subject.values[TRAIT_STUCK_COST] = (double)gauge->sum_ns / 1e9;
        if (histogram_quantile(&volume->tally.op[gauge->op].latency_ns, 0.99, false, &p99))
            subject.values[TRAIT_STUCK_TIMES] = (double)gauge->oldest_ns / fmax((double)p99, 1);
        err = name_processes(volume, gauge, totals, &subject);
        if (!err)
            err = subject_give(&subject, take, to);
        if (err)
            return err;
    }
    return 0;
}

int subjects_stuck(const struct finding_matter *matter, subject_take take, void *to)
{
    const struct aggregate *totals = matter->totals;

    for (uint32_t j = 0; j < totals->job_count; j++)
        for (uint32_t v = 0; v < totals->jobs[j].volume_count; v++) {
            int err = hang(totals, &totals->jobs[j], &totals->jobs[j].volumes[v], take, to);

            if (err)
                return err;
        }
    return 0;
}

/* Slots in which a volume is written to much, and in which it is not. 0, -ENOMEM, or -ENODATA where slots cannot be
   aligned; side is malloc'ed. */
static int find_sides(const struct volume_total *whole, const struct volume_total *volume, struct sides *sides,
                      uint8_t **side)
{
    _cleanup_free_ double *written = NULL;
    double most = 0;
    int err;

    if (!whole->series.length || !volume->busy.length)
        return -ENODATA;
    sides->window_ms = whole->series.slot_ms > volume->busy.slot_ms ? whole->series.slot_ms : volume->busy.slot_ms;
    sides->from = series_from(&whole->series);
    sides->op = OP_READ;
    err = series_windows(&whole->series, DEMAND_BIT(DEMAND_WRITE_BYTES), sides->window_ms, sides->from,
                         series_last(&whole->series), &written, &sides->count);
    if (err)
        return err;
    *side = malloc(sides->count + 1);
    if (!*side)
        return -ENOMEM;
    for (size_t i = 0; i < sides->count; i++)
        most = fmax(most, written[i]);
    most = fmax(most * MUCH_WRITTEN, WRITE_MIN * sides->window_ms / 1e3);
    for (size_t i = 0; i < sides->count; i++)
        (*side)[i] = written[i] >= most ? KINDS_TOGETHER : KINDS_ALONE;
    sides->side = *side;
    return 0;
}

static void compare(const struct volume_total *volume, const struct sides *sides, struct subject *subject)
{
    struct contrast contrast;
    double together, alone;

    kinds_compare(&volume->kinds, sides, &contrast);
    if (!(contrast.ops > 0))
        return;
    together = contrast.time_ns / 1e9;
    alone = contrast.expected_ns / 1e9;
    subject->values[TRAIT_SLOWDOWN] = together / alone;
    subject->values[TRAIT_WRITE_SLOTS] = contrast.windows;
    subject->values[TRAIT_READS] = contrast.alone_ops;
    subject->values[TRAIT_TOGETHER_HIGH] = together - alone;
    subject->values[TRAIT_TOGETHER_LOW] = together - 2 * alone; /* within the rule's bound */
}

/* A job's time in writes and syncs on a volume, and what of it is of checkpoints. */
struct writing {
    double all, checkpoints;
};

static struct writing writing_of(const struct finding_matter *matter, uint32_t job, uint32_t volume)
{
    const struct profile *checkpoint = catalogue_find(matter->catalogue, "checkpoint");
    const double *times = matter->profiles[job].times;
    uint32_t profiles = matter->catalogue->count + 1;
    struct writing writing = {0};

    for (uint32_t p = 0; times && p < profiles; p++) {
        double time = times[((size_t)volume * profiles + p) * BUSY_KINDS + BUSY_WRITE];

        writing.all += time;
        writing.checkpoints += checkpoint == &matter->catalogue->profiles[p] ? time : 0;
    }
    return writing;
}

/* Of the time in which each of all volumes is written to, by whichever job, the share of checkpoints; malloc'ed. NULL
   without memory. */
static double *checkpoint_shares(const struct finding_matter *matter)
{
    const struct aggregate *totals = matter->totals;
    double *shares = calloc(totals->volume_count + 1u, sizeof(*shares));
    _cleanup_free_ double *all = calloc(totals->volume_count + 1u, sizeof(*all));

    for (uint32_t j = 0; shares && all && j < totals->job_count; j++)
        for (uint32_t v = 0; v < totals->jobs[j].volume_count; v++) {
            const char *name = totals->jobs[j].volumes[v].name;
            const struct volume_total *whole = volume_named(totals->volumes, totals->volume_count, name);
            size_t w = whole ? (size_t)(whole - totals->volumes) : totals->volume_count;
            struct writing writing = writing_of(matter, j, v);

            all[w] += writing.all;
            shares[w] += writing.checkpoints;
        }
    for (uint32_t w = 0; shares && all && w < totals->volume_count; w++)
        shares[w] = quotient(shares[w], all[w]);
    if (!all)
        free(shares);
    return all ? shares : NULL;
}

/* A job's reading of a volume, beside what is written to it, of which so much is of checkpoints, and its own
   writing. */
static int meet(const struct job_total *job, const struct volume_total *volume, const struct volume_total *whole,
                double checkpoints, const struct writing *own, subject_take take, void *to)
{
    _cleanup_free_ uint8_t *side = NULL;
    struct sides sides = {0};
    struct subject subject;
    int err = find_sides(whole, volume, &sides, &side);

    if (!err) {
        subject_init(&subject, SUBJECT_CHECKPOINT, job, volume);
        compare(volume, &sides, &subject);
        subject.values[TRAIT_CHECKPOINT_SHARE] = checkpoints;
        subject.values[TRAIT_OWN_CHECKPOINT_SHARE] = quotient(own->checkpoints, own->all);
        if (!(subject.values[TRAIT_SLOWDOWN] >= SLOW)) /* else that is told */
            err = subject_pauses(volume, &subject);
        if (!err)
            err = subject_give(&subject, take, to);
    }
    return err == -ENODATA ? 0 : err;
}

int subjects_checkpoint(const struct finding_matter *matter, subject_take take, void *to)
{
    const struct aggregate *totals = matter->totals;
    _cleanup_free_ double *shares = checkpoint_shares(matter);
    int err = shares ? 0 : -ENOMEM;

    for (uint32_t j = 0; !err && j < totals->job_count; j++)
        for (uint32_t v = 0; !err && v < totals->jobs[j].volume_count; v++) {
            const struct volume_total *volume = &totals->jobs[j].volumes[v];
            const struct volume_total *whole = volume_named(totals->volumes, totals->volume_count, volume->name);
            struct writing own = writing_of(matter, j, v);

            if (whole)
                err = meet(&totals->jobs[j], volume, whole, shares[whole - totals->volumes], &own, take, to);
        }
    return err;
}
