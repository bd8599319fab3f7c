/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/agent_private.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "agent/unprivileged.h"
#include "lib/log.h"
#include "lib/notify.h"

#define SAMPLE_NS   1000000000ull
#define FAREWELL_MS 5000

static int watch(const struct agent *agent, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

    return epoll_ctl(agent->events, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static int open_signals(struct agent *agent)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file size limit is an error of write(), not an end */
    agent->events = epoll_create1(EPOLL_CLOEXEC);
    agent->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (agent->events < 0 || agent->signals < 0)
        return -errno;
    return watch(agent, agent->signals);
}

int agent_open_copy(struct agent *agent)
{
    uint64_t cut = 0;
    int err;

    if (!agent->options->copy)
        return 0;
    err = recording_append(agent->options->copy, &agent->copy, &cut);
    if (err)
        log_error("copy %s: %s", agent->options->copy,
                  err == -EBADMSG ? "it is there and is no recording; give another name"
                                  : log_errno(err));
    return err;
}

static int start_push(struct agent *agent)
{
    const struct push_options push = {
        .url = agent->options->collector,
        .token_file = agent->options->token_file,
        .ca_file = agent->options->ca_file,
        .interval_ms = (unsigned)(agent->options->interval_ns / 1000000),
        .cert = agent->options->tls_cert,
        .key = agent->options->tls_key,
        .join_file = agent->options->join_file,
        .node = agent->options->node,
        .cluster = agent->options->cluster,
    };
    int err = agent->spool ? push_start(&push, agent->spool, &agent->push) : 0;

    return err || !agent->spool ? err : watch(agent, push_event_fd(agent->push));
}

/* All that takes root; then no more root, unless it is asked for. */
static int start_as_root(struct agent *agent)
{
    const struct agent_options *options = agent->options;
    const char *user;
    int err = outward_new(&options->outward, &agent->outward);

    agent->outward.plain |= OUTWARD_TOKEN; /* the token is for that node */
    if (!err)
        err = privilege_choose(options->user, &agent->choice);
    user = agent->choice.user;
    if (!err && user && options->collector)
        err = unprivileged_check(user, options);
    if (!err && options->collector)
        err = spool_open(options->state, options->spool_max, &agent->spool);
    return err || !user ? err : unprivileged_become(user, options, agent->spool);
}

static int start_probe(struct agent *agent)
{
    const struct probe_options probe = {
        .all = true,
        .pseudo = agent->options->pseudo,
        .memory = agent->options->kernel_memory,
        .burst_factor = agent->options->burst_factor,
        .flavours = agent->options->flavours,
        .node = agent->options->node,
        .root = agent->options->root,
        .job_env = agent->options->job_env,
        .pod_labels = agent->options->pod_labels,
        .platform_metrics = agent->options->platform_metrics,
        .tree_depth = (unsigned)agent->options->tree_depth,
    };
    const struct sampler_options sampler = {
        .interval_ns = SAMPLE_NS,
        .cluster = agent->options->cluster,
        .node = agent->options->node,
        .role = agent->options->role,
        .stalls = STALLS_MARKED,
        .max_cost = agent->options->max_cost,
    };
    int err = probe_new(&probe, &agent->probe);

    if (!err)
        err = space_watch_new(&agent->space);
    return err ? err : sampler_new(agent->probe, &sampler, &agent->sampler);
}

void agent_say_ready(const struct agent *agent)
{
    const struct agent_options *options = agent->options;
    char status[256];

    snprintf(status, sizeof(status), "watching; socket %s%s%s", options->socket,
             options->collector ? ", collector " : "", options->collector ? options->collector : "");
    notify_ready(status);
}

static void tell_state(void *context, struct exposition_state *state)
{
    struct agent *agent = context;
    char why[256];

    state->pushes = agent->spool;
    state->waiting = agent_pending(agent, why, sizeof(why));
    state->is_well = !*why;
}

int agent_start(struct agent *agent)
{
    const struct agent_options *options = agent->options;
    int err = start_as_root(agent);

    if (!err)
        err = open_signals(agent);
    /* A probe takes seconds to load: first what may be in use. */
    if (!err)
        err = serve_check(options->socket);
    if (!err)
        err = monitor_new(options, agent->events, tell_state, agent, &agent->monitor);
    if (!err)
        err = agent_open_copy(agent);
    if (!err)
        err = start_push(agent);
    if (!err)
        err = start_probe(agent);
    if (!err)
        err = serve_new(options->socket, agent, agent->events, &agent->serve);
    if (err)
        return err;
    agent_say_ready(agent);
    log_info("watching; socket %s%s%s%s", options->socket, options->collector ? ", collector " : "",
             options->collector ? options->collector : "", agent->choice.note);
    return 0;
}

void agent_finish(struct agent *agent)
{
    notify_stopping();
    monitor_close(agent->monitor);
    if (agent->probe && agent->sampler && agent->serve && agent_sample(agent) == 0)
        agent_end_interval(agent);
    serve_free(agent->serve);
    push_stop(agent->push, FAREWELL_MS);
    monitor_free(agent->monitor);
    batch_free(agent->interval);
    space_watch_free(agent->space);
    sampler_free(agent->sampler);
    probe_free(agent->probe);
    spool_close(agent->spool);
    if (agent->copy)
        recording_close(agent->copy);
    if (agent->signals >= 0)
        close(agent->signals);
    if (agent->events >= 0)
        close(agent->events);
}
