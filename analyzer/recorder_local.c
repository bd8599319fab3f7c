/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/recorder.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/clock.h"
#include "lib/log.h"
#include "probe/sampler.h"

struct local {
    struct recorder recorder;
    struct probe *probe;
    struct sampler *sampler;
    uint32_t job;
    bool finished;
};

static int adopt(struct recorder *recorder, pid_t pid, const struct job *job)
{
    struct local *local = (struct local *)recorder;
    int err = probe_adopt(local->probe, pid, job, &local->job);

    if (err)
        log_error("cannot watch process %d: %s", (int)pid, log_why(err));
    return err;
}

static int take(struct local *local, struct batch **out)
{
    int err = sampler_take(local->sampler, out);

    if (err)
        log_error("cannot read the counters: %s", log_why(err));
    return err ? err : 1;
}

static int next(struct recorder *recorder, int fd, struct batch **out)
{
    struct local *local = (struct local *)recorder;
    int ended = sampler_wait(local->sampler, fd);

    return ended > 0 ? take(local, out) : ended;
}

static bool living(struct recorder *recorder)
{
    struct local *local = (struct local *)recorder;

    return local->job && probe_job_living(local->probe, local->job) > 0;
}

static int finish(struct recorder *recorder, int status, struct batch **out)
{
    struct local *local = (struct local *)recorder;

    if (local->finished)
        return 0;
    local->finished = true;
    if (local->job && status != RECORDER_RUNNING)
        probe_job_exit(local->probe, local->job, status, wall_clock_ns());
    return take(local, out);
}

static void local_free(struct recorder *recorder)
{
    struct local *local = (struct local *)recorder;

    sampler_free(local->sampler);
    probe_free(local->probe);
    free(local);
}

int recorder_local(const struct recorder_options *options, struct recorder **out)
{
    const struct probe_options probe = {
        .all = options->all,
        .pseudo = options->pseudo,
        .memory = options->kernel_memory,
        .flavours = options->flavours,
        .platform_metrics = options->platform_metrics,
        .tree_depth = options->tree_depth,
        .burst_factor = options->burst_factor,
        .root = options->root,
        .job_env = options->job_env,
        .pod_labels = options->pod_labels,
        .own_job = options->own_job,
        .instead = ", or start unblend-agent, through which everybody may record",
    };
    const struct sampler_options sampler = {.interval_ns = options->interval_ns,
                                            .stalls = STALLS_ALL,
                                            .max_cost = options->max_cost};
    struct local *local = calloc(1, sizeof(*local));
    int err;

    if (!local)
        return -ENOMEM;
    local->recorder = (struct recorder){
        .adopt = adopt, .next = next, .living = living, .finish = finish, .free = local_free};
    err = probe_new(&probe, &local->probe);
    if (!err)
        err = sampler_new(local->probe, &sampler, &local->sampler);
    if (err) {
        local_free(&local->recorder);
        return err;
    }
    *out = &local->recorder;
    return 0;
}
