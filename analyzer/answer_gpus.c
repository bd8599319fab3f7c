/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Do GPUs wait for storage, in which jobs, for how long? */
#include <math.h>

#include "analyzer/answer_private.h"
#include "analyzer/human.h"
#include "analyzer/wait.h"

#define LOW_LOSS 0.01 /* of their time: nobody would notice */

/* For how long, at most, some thread of the job was inside a read: longer than an interval it cannot be on a node. */
static double reading_s(const struct job_total *job)
{
    double sum = 0;

    for (uint32_t v = 0; v < job->volume_count; v++) {
        const struct series *busy = &job->volumes[v].busy;

        for (uint32_t i = 0; i < busy->length; i++)
            sum += fmin((double)busy->slots[i].demand[BUSY_READ] / 1e9,
                        busy->slot_ms / 1e3 * (job->node_count ? job->node_count : 1));
    }
    return sum;
}

/* What reads took is the most that it can have been. */
static void guess(const struct aggregate *totals, struct answer *a)
{
    const struct job_total *most = NULL;
    double longest = 0;
    char time[HUMAN_SIZE];

    for (uint32_t i = 0; i < totals->job_count; i++) {
        double s = reading_s(&totals->jobs[i]);

        if (s > longest) {
            longest = s;
            most = &totals->jobs[i];
        }
    }
    if (most)
        answer_add(a,
                   "It cannot have been more than the time inside reads: most of it in %s, at most %s of its nodes' "
                   "time.",
                   most->name, longest < 60 ? human_ns(time, 1e9 * longest) : human_duration(time, longest));
}

void answer_gpus(const struct report *report, struct answer *a)
{
    const struct aggregate *totals = &report->totals;
    const struct job_total *worst;
    struct gpu_loss sum, loss;
    char low[HUMAN_SIZE], high[HUMAN_SIZE], all[HUMAN_SIZE];
    bool maybe;

    if (!gpu_loss_sum(totals, &sum, &worst)) {
        answer_say(a, ANSWER_UNSURE, "Cannot tell, because no GPU was watched.");
        guess(totals, a);
        return;
    }
    human_duration(all, 3600 * sum.watched_h);
    if (!worst) {
        answer_say(a, ANSWER_UNSURE, "Cannot tell, because their jobs were never without I/O.");
        answer_add(a, "GPUs were idle for %.0f %% of %s.", 100 * sum.idle, all);
        return;
    }
    maybe = sum.low_h < LOW_LOSS * sum.watched_h;
    human_duration(low, 3600 * sum.low_h);
    human_duration(high, 3600 * sum.high_h);
    if (sum.high_h < LOW_LOSS * sum.watched_h)
        answer_say(a, ANSWER_GOOD, "No: at most %s of %s of their time.", high, all);
    else
        answer_say(a, maybe ? ANSWER_PLAIN : ANSWER_BAD, "%s: %s to %s of %s of their time.",
                   maybe ? "Maybe" : "Yes", low, high, all);
    gpu_loss_of(&worst->gpu, &loss);
    if (loss.high_h > 0)
        answer_add(a,
                   "Most of it in %s, %s to %s: its GPUs were idle for %.0f %% of the time, %.0f %% when there was no "
                   "I/O.",
                   worst->name, human_duration(low, 3600 * loss.low_h), human_duration(high, 3600 * loss.high_h),
                   100 * loss.idle, 100 * loss.usual);
}
