/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two at once: volumes that a job copies between, and jobs that meet on a volume. */
#include "analyzer/finding/rule.h"

#include <math.h>

static double seconds(const struct volume_total *volume, enum operation op)
{
    return (double)volume->tally.op[op].latency_sum_ns / 1e9;
}

/* The volume that a job reads most from, or writes most to. */
static const struct volume_total *busiest(const struct job_total *job, enum operation op)
{
    const struct volume_total *best = NULL;

    for (uint32_t v = 0; v < job->volume_count; v++) {
        uint64_t bytes = job->volumes[v].tally.op[op].bytes;

        if (bytes && (!best || bytes > best->tally.op[op].bytes))
            best = &job->volumes[v];
    }
    return best;
}

int subjects_copy(const struct finding_matter *matter, subject_take take, void *to)
{
    for (uint32_t j = 0; j < matter->totals->job_count; j++) {
        const struct job_total *job = &matter->totals->jobs[j];
        const struct volume_total *from = busiest(job, OP_READ), *into = busiest(job, OP_WRITE);
        struct subject subject;
        double read, written;
        int err;

        if (!from || !into || from == into)
            continue;
        if (subject_in_memory(from) || subject_in_memory(into))
            continue; /* what a job puts there, or saves from there, nobody stores twice */
        read = (double)from->tally.op[OP_READ].bytes;
        written = (double)into->tally.op[OP_WRITE].bytes;
        subject_init(&subject, SUBJECT_COPY, job, into);
        subject.values[TRAIT_COPIED] = fmin(read, written);
        subject.values[TRAIT_COPY_LIKENESS] = fmin(read, written) / fmax(read, written);
        subject.values[TRAIT_COPY_LOW] = seconds(into, OP_WRITE) + seconds(into, OP_FSYNC);
        subject.values[TRAIT_COPY_TIME] = subject.values[TRAIT_COPY_LOW] + seconds(from, OP_READ);
        err = subject_note(&subject, "from %s to %s", from->name, into->name);
        if (!err)
            err = subject_give(&subject, take, to);
        if (err)
            return err;
    }
    return 0;
}

int subjects_meeting(const struct finding_matter *matter, subject_take take, void *to)
{
    for (uint32_t i = 0; i < matter->blend->meeting_count; i++) {
        const struct meeting *m = &matter->blend->meetings[i];
        struct subject subject;
        int err;

        subject_init(&subject, SUBJECT_MEETING, &matter->totals->jobs[m->victim], m->volume);
        subject.values[TRAIT_SLOWDOWN] = m->together_ns / m->alone_ns;
        subject.values[TRAIT_SECONDS] = m->seconds * m->compared_slots / m->slots;
        subject.values[TRAIT_MET_SLOTS] = m->compared_slots;
        subject.values[TRAIT_TOGETHER_HIGH] = m->cost_s;
        subject.values[TRAIT_TOGETHER_LOW] = meeting_cost_least(m);
        err = subject_note(&subject, "the neighbour is %s", matter->totals->jobs[m->other].name);
        if (!err)
            err = subject_give(&subject, take, to);
        if (err)
            return err;
    }
    return 0;
}
