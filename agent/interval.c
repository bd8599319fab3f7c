/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/agent_private.h"

#include <stdio.h>

#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/notify.h"
#include "lib/program.h"

static int64_t interval_number(const struct agent *agent, int64_t wall_ns)
{
    return wall_ns / (int64_t)agent->options->interval_ns;
}

/* The disk is full: what the interval has gathered stays, and the next one joins it. */
static int keep_in_memory(struct agent *agent, int err)
{
    if (!*agent->spool_trouble)
        log_warning("state %s: cannot spool: %s; keeping the counts in memory and trying again",
                    agent->options->state, log_errno(err));
    snprintf(agent->spool_trouble, sizeof(agent->spool_trouble), "cannot spool: %s", log_errno(err));
    return err;
}

static bool is_veiled(const struct agent *agent)
{
    return agent->options->outward.pseudonyms || agent->options->outward.fields;
}

/* What may leave the node of it. 0 or -errno. */
static int copy_outward(const struct agent *agent, const struct batch *batch, struct batch **out)
{
    _cleanup_(batch_freep) struct batch *copy = NULL;
    int err = batch_new(&copy);

    if (!err)
        err = batch_merge(copy, batch, GRAIN_JOBS);
    if (!err && is_veiled(agent))
        err = outward_apply(&agent->outward, copy);
    if (!err)
        *out = take_pointer(copy);
    return err;
}

/* The interval keeps its names: when it cannot be spooled, the next one joins it. */
static int spool_outward(struct agent *agent)
{
    _cleanup_(batch_freep) struct batch *copy = NULL;
    int err = copy_outward(agent, agent->interval, &copy);

    if (!err)
        err = spool_append(agent->spool, copy);
    if (err)
        return err;
    agent->interval->seq = copy->seq;
    return batch_set(agent->interval, &agent->interval->stream, copy->stream);
}

static int spool(struct agent *agent)
{
    int err = is_veiled(agent) ? spool_outward(agent) : spool_append(agent->spool, agent->interval);

    if (err)
        return keep_in_memory(agent, err);
    if (*agent->spool_trouble)
        log_info("state %s: spooling again", agent->options->state);
    *agent->spool_trouble = '\0';
    push_wake(agent->push, false);
    return 0;
}

int agent_end_interval(struct agent *agent)
{
    int err;

    agent->ends++;
    agent->ended_ms = monotonic_ms();
    if (!agent->interval)
        return 0;
    agent->interval->interval_ms = (uint32_t)(agent->options->interval_ns / 1000000);
    err = agent->spool ? spool(agent) : 0;
    if (err)
        return err;
    if (agent->copy) {
        agent->interval->coverage.dropped_count = 0; /* of what never arrived: the copy has it */
        err = recording_write(agent->copy, agent->interval);
        if (err)
            log_warning("copy %s: %s: this batch is missing in it", agent->options->copy,
                        log_errno(err));
    }
    batch_free(agent->interval);
    agent->interval = NULL;
    program_give_back(); /* what a large batch took, in pieces that others lie between */
    return 0;
}

/* Says once when less is watched, and when it is more again. */
static void tell_step(enum probe_step before, enum probe_step now)
{
    static const char *const names[] = {"everything", "job keys", "metadata only", "nothing (detached)"};

    if (now > before)
        log_warning("watching cost more than --max-cost allows: now %s", names[now]);
    else if (now < before)
        log_info("watching costs less: now %s", names[now]);
}

static int sum_up(struct agent *agent, const struct batch *batch)
{
    struct batch *copy;
    int err = copy_outward(agent, batch, &copy);

    return err ? err : monitor_add(agent->monitor, copy);
}

void agent_heed_wish(struct agent *agent)
{
    struct serve_wish wish = serve_wish(agent->serve);

    probe_set_grain(agent->probe, wish.grain);
    sampler_set_interval(agent->sampler, wish.interval_ns);
}

/* After the clock was set, or the machine slept, the two in one would last for longer than anybody watched, and be
   refused beyond a week. What cannot be spooled now stays one: then the time is wrong rather than its length. */
int agent_gather(struct agent *agent, struct batch *sample)
{
    if (agent->interval && !batch_follows(sample, agent->interval) && agent_end_interval(agent))
        sample->start_ns = agent->interval->start_ns + (int64_t)agent->interval->duration_ns;
    if (!agent->interval) {
        int err = batch_new(&agent->interval);

        if (err)
            return err;
    }
    return batch_merge(agent->interval, sample, GRAIN_JOBS);
}

int agent_sample(struct agent *agent)
{
    _cleanup_(batch_freep) struct batch *batch = NULL;
    enum probe_step before = sampler_step(agent->sampler);
    int err;

    agent_heed_wish(agent);
    err = sampler_take(agent->sampler, &batch);
    if (err)
        return err;
    tell_step(before, sampler_step(agent->sampler));
    if (space_watch_run(agent->space, batch, monotonic_ns()))
        log_warning("no memory: how full volumes are is not asked");
    if (serve_batch(agent->serve, batch))
        log_warning("no memory: a sample is not shown to everybody");
    if (agent->monitor && sum_up(agent, batch))
        log_warning("metrics: no memory: some counts are missing in them");
    if (!agent->spool && !agent->copy)
        return 0;
    if (!agent->options->trees)
        batch_forget_trees(batch); /* those who watch here have seen them */
    return agent_gather(agent, batch);
}

void agent_tick(struct agent *agent)
{
    int err = agent_sample(agent);
    int64_t number = interval_number(agent, wall_clock_ns());

    notify_alive();
    if (agent->monitor)
        monitor_run(agent->monitor);
    if (err)
        log_warning("a sample failed: %s; its counts come with the next one", log_errno(err));
    if (agent->interval && interval_number(agent, agent->interval->start_ns) != number)
        agent_end_interval(agent);
    if (agent->monitor && agent->told != number)
        monitor_tell(agent->monitor);
    agent->told = number;
}
