/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>

#include "analyzer/view/json.h"
#include "analyzer/wait.h"

static json_t *gpu_hours(const struct job_total *job)
{
    struct gpu_loss loss;

    if (!gpu_loss_of(&job->gpu, &loss))
        return json_null();
    return json_pack("{s:o,s:o,s:f,s:f,s:f,s:o}", "low", json_number(loss.low_h), "high", json_number(loss.high_h),
                     "watched", loss.watched_h, "calm", loss.calm_h, "idle", loss.idle, "usual_idle",
                     json_number(loss.usual));
}

json_t *json_wait(const struct job_total *job)
{
    struct wait wait;
    json_t *exposed;

    wait_of(job, &wait);
    exposed = isnan(wait.exposed)
                  ? json_null()
                  : json_pack("{s:f,s:f,s:f}", "share", wait.exposed, "seconds", (double)job->exposed_ns / 1e9,
                              "watched_s", (double)job->watched_ns / 1e9);
    return json_pack("{s:{s:f,s:f,s:f,s:f,s:f},s:o,s:o}", "thread_seconds", "all", wait.all_s,
                     "metadata", wait.metadata_s, "small_reads", wait.small_reads_s, "bandwidth", wait.bandwidth_s,
                     "fsync", wait.fsync_s, "exposed", exposed, "gpu_hours", gpu_hours(job));
}
