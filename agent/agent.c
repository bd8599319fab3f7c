/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/agent.h"

#include <curl/curl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "agent/agent_private.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/notify.h"
#include "lib/program.h"

int agent_adopt(struct agent *agent, pid_t pid, const struct job *job, uint32_t *id)
{
    return probe_adopt(agent->probe, pid, job, id);
}

void agent_job_exit(struct agent *agent, uint32_t id, int status)
{
    probe_job_exit(agent->probe, id, status, wall_clock_ns());
}

unsigned agent_job_living(struct agent *agent, uint32_t id)
{
    return probe_job_living(agent->probe, id);
}

uint64_t agent_ends(const struct agent *agent)
{
    return agent->ends;
}

bool agent_may_end(const struct agent *agent, int64_t apart_ms)
{
    return !agent->ends || monotonic_ms() - agent->ended_ms >= apart_ms;
}

int agent_flush(struct agent *agent)
{
    int err = agent_sample(agent);

    if (!err)
        err = agent_end_interval(agent);
    if (agent->push)
        push_wake(agent->push, true);
    return err;
}

unsigned agent_pending(struct agent *agent, char *why, size_t size)
{
    *why = '\0';
    if (!agent->spool)
        return 0;
    push_status(agent->push, why, size);
    if (*agent->spool_trouble)
        snprintf(why, size, "%s", agent->spool_trouble);
    return spool_pending(agent->spool);
}

bool agent_has_unspooled(const struct agent *agent)
{
    return *agent->spool_trouble != '\0';
}

/* For whoever has moved the copy away, or replaced a certificate: token and certificates are read for each
   connection. */
static void reload(struct agent *agent)
{
    notify_reloading();
    log_info("reloading");
    agent_end_interval(agent);
    if (agent->copy)
        recording_close(agent->copy);
    agent->copy = NULL;
    agent_open_copy(agent); /* logged; without it everything else goes on */
    if (agent->push)
        push_reconnect(agent->push);
    agent_say_ready(agent);
}

static void heed_signal(struct agent *agent)
{
    struct signalfd_siginfo info;

    if (read(agent->signals, &info, sizeof(info)) != sizeof(info))
        return;
    if (info.ssi_signo == SIGHUP)
        reload(agent);
    else
        agent->stopping = true;
}

static void handle(struct agent *agent)
{
    struct epoll_event events[64];
    int count = epoll_wait(agent->events, events, 64, 0);

    for (int i = 0; i < count; i++) {
        uint64_t pushed;

        if (events[i].data.fd == agent->signals) {
            heed_signal(agent);
        } else if (agent->monitor && monitor_event(agent->monitor, events[i].data.fd)) {
            continue;
        } else if (agent->push && events[i].data.fd == push_event_fd(agent->push)) {
            if (read(events[i].data.fd, &pushed, sizeof(pushed)) > 0)
                serve_progress(agent->serve);
        } else {
            serve_event(agent->serve, events[i].data.fd, events[i].events);
        }
    }
}

int agent_run(const struct agent_options *options)
{
    struct agent agent = {.options = options, .events = -1, .signals = -1};
    const bool sends = options->collector || options->otlp;
    int err;

    program_stay_small();
    if (sends) /* it takes megabytes */
        curl_global_init(CURL_GLOBAL_DEFAULT);
    err = agent_start(&agent);
    program_give_back();
    while (!err && !agent.stopping) {
        int ended;

        agent_heed_wish(&agent);
        ended = sampler_wait(agent.sampler, agent.events);
        if (ended > 0)
            agent_tick(&agent);
        else
            handle(&agent);
        serve_progress(agent.serve);
    }
    agent_finish(&agent);
    if (sends)
        curl_global_cleanup();
    return err ? 1 : 0;
}
