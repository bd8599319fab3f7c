/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/remedy.h"

#include <math.h>

#define PACK_BYTES    (1ull << 30) /* of a file of many samples */
#define PACK_OPENS    1000         /* fewer are not worth the work */
#define PACK_AN_OPEN  (4u << 20)   /* more bytes read at an open are large files already */
#define LARGE_READ    (1u << 20)
#define SMALL_READ    (64u << 10)
#define WORTH         1e-3 /* of all time in operations */

static double seconds_of(const struct record *record)
{
    return (double)record->latency_sum_ns / 1e9;
}

static void take(struct remedy *best, struct remedy candidate)
{
    if (candidate.seconds > best->seconds)
        *best = candidate;
}

/* The opens and closes of small files that are read; what reading itself would gain is not counted. */
static void pack(const struct job_total *job, const struct volume_total *volume, struct remedy *best)
{
    const struct tally *tally = &volume->tally;
    double opens = (double)tally_succeeded(tally, OP_OPEN), bytes = (double)tally->op[OP_READ].bytes, saved;

    if (opens < PACK_OPENS || !(bytes > 0) || bytes / opens > PACK_AN_OPEN)
        return;
    saved = opens - ceil(bytes / (double)PACK_BYTES);
    take(best, (struct remedy){REMEDY_PACK, job, NULL, volume, saved,
                               (seconds_of(&tally->op[OP_OPEN]) + seconds_of(&tally->op[OP_CLOSE])) * saved / opens, false});
}

/* What each call costs at least is what the fastest ones take. */
static void enlarge(const struct job_total *job, const struct volume_total *volume, struct remedy *best)
{
    const struct record *read = &volume->tally.op[OP_READ];
    uint64_t known = read->order[ORDER_SEQUENTIAL] + read->order[ORDER_CONSECUTIVE] + read->order[ORDER_RANDOM],
        fastest;
    double ops = (double)record_ops(read), saved = ops - ceil((double)read->bytes / LARGE_READ);

    if (!(saved > 0) || !read->bytes || (double)read->bytes / ops > SMALL_READ ||
        2 * read->order[ORDER_CONSECUTIVE] < known || !known ||
        !histogram_quantile(&read->latency_ns, 0.01, false, &fastest))
        return;
    take(best, (struct remedy){REMEDY_ENLARGE, job, NULL, volume, saved, saved * (double)fastest / 1e9, false});
}

static void look(const struct job_total *job, const struct volume_total *volume, struct remedy *best)
{
    double ops = 0, seconds = 0;

    for (enum operation op = OP_FIRST; op < OP_FILE_END; op++) {
        const struct record *record = &volume->tally.op[op];

        if ((op != OP_OPEN && op != OP_STAT) || !record->errors)
            continue;
        ops += (double)record->errors;
        seconds += seconds_of(record) * (double)record->errors / (double)record_ops(record);
    }
    take(best, (struct remedy){REMEDY_LOOK, job, NULL, volume, ops, seconds, false});
}

bool remedy_best(const struct report *report, struct remedy *out)
{
    const struct aggregate *totals = &report->totals;
    struct remedy best = {0};
    double all = 0;

    for (enum operation op = OP_FIRST; op < OP_FILE_END; op++)
        all += seconds_of(&totals->tally.op[op]);
    for (uint32_t i = 0; i < totals->job_count; i++)
        for (uint32_t v = 0; v < totals->jobs[i].volume_count; v++) {
            pack(&totals->jobs[i], &totals->jobs[i].volumes[v], &best);
            enlarge(&totals->jobs[i], &totals->jobs[i].volumes[v], &best);
            look(&totals->jobs[i], &totals->jobs[i].volumes[v], &best);
        }
    for (uint32_t i = 0; i < report->blend.meeting_count; i++) {
        const struct meeting *m = &report->blend.meetings[i];

        if (m->cost_s > 0)
            take(&best, (struct remedy){REMEDY_APART, &totals->jobs[m->victim], &totals->jobs[m->other], m->volume, 0,
                                        m->cost_s, !(meeting_cost_least(m) > 0)});
    }
    if (!(best.seconds > WORTH * all))
        return false;
    *out = best;
    return true;
}
