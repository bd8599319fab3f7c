/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>

#include "analyzer/view/json.h"
#include "analyzer/wait.h"

json_t *json_wait(const struct job_total *job)
{
    struct wait wait;
    json_t *exposed;

    wait_of(job, &wait);
    exposed = isnan(wait.exposed)
                  ? json_null()
                  : json_pack("{s:f,s:f,s:f}", "share", wait.exposed, "seconds", (double)job->exposed_ns / 1e9,
                              "watched_s", (double)job->watched_ns / 1e9);
    return json_pack("{s:{s:f,s:f,s:f,s:f,s:f},s:o,s:n}", "thread_seconds", "all", wait.all_s,
                     "metadata", wait.metadata_s, "small_reads", wait.small_reads_s, "bandwidth", wait.bandwidth_s,
                     "fsync", wait.fsync_s, "exposed", exposed, "gpu_hours");
}
