/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/agent.h"

#include <curl/curl.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "agent/monitor.h"
#include "agent/push.h"
#include "agent/serve.h"
#include "agent/space.h"
#include "agent/spool.h"
#include "agent/unprivileged.h"
#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/notify.h"
#include "lib/recording.h"
#include "probe/sampler.h"

#define SAMPLE_NS         1000000000ull
#define FAREWELL_MS       5000

struct agent {
    const struct agent_options *options;
    struct probe *probe;
    struct sampler *sampler;
    struct space_watch *space;
    struct outward outward;
    struct spool *spool; /* NULL without a collector */
    struct push *push;
    struct serve *serve;
    struct recording_writer *copy;
    struct monitor *monitor; /* NULL: no monitoring system wants anything */
    int64_t told;            /* the number of the interval that it was told last */
    struct batch *interval; /* what the current interval has so far; NULL for nothing */
    char spool_trouble[160];
    int events; /* epoll */
    int signals;
    bool stopping;
};

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
        err = batch_merge(copy, batch, false);
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

/* Sends what the interval has gathered on its way. 0, or -errno when it could not be made safe yet. */
static int end_interval(struct agent *agent)
{
    int err;

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

/* Takes a sample, shows it to the watchers and adds it to the interval. */
static int sample(struct agent *agent)
{
    _cleanup_(batch_freep) struct batch *batch = NULL;
    enum probe_step before = sampler_step(agent->sampler);
    int err;

    probe_set_detail(agent->probe, serve_is_watched(agent->serve));
    err = sampler_take(agent->sampler, &batch);
    if (err)
        return err;
    tell_step(before, sampler_step(agent->sampler));
    if (space_watch_run(agent->space, batch, monotonic_ns()))
        log_warning("no memory: how full volumes are is not asked");
    serve_batch(agent->serve, batch);
    if (agent->monitor && sum_up(agent, batch))
        log_warning("metrics: no memory: some counts are missing in them");
    if (!agent->spool && !agent->copy)
        return 0;
    if (!agent->interval) {
        err = batch_new(&agent->interval);
        if (err)
            return err;
    }
    return batch_merge(agent->interval, batch, false);
}

static void tick(struct agent *agent)
{
    int err = sample(agent);
    int64_t number = interval_number(agent, wall_clock_ns());

    notify_alive();
    if (agent->monitor)
        monitor_run(agent->monitor);
    if (err)
        log_warning("a sample failed: %s; its counts come with the next one", log_errno(err));
    if (agent->interval && interval_number(agent, agent->interval->start_ns) != number)
        end_interval(agent);
    if (agent->monitor && agent->told != number)
        monitor_tell(agent->monitor);
    agent->told = number;
}

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

int agent_flush(struct agent *agent)
{
    int err = sample(agent);

    if (!err)
        err = end_interval(agent);
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

static int open_copy(struct agent *agent)
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
    int err;

    if (!agent->options->collector)
        return 0;
    err = spool_open(agent->options->state, agent->options->spool_max, &agent->spool);
    if (!err)
        err = push_start(&push, agent->spool, &agent->push);
    return err ? err : watch(agent, push_event_fd(agent->push));
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
    };
    const struct sampler_options sampler = {
        .interval_ns = SAMPLE_NS,
        .cluster = agent->options->cluster,
        .node = agent->options->node,
        .role = agent->options->role,
        .max_cost = agent->options->max_cost,
    };
    int err = probe_new(&probe, &agent->probe);

    if (!err)
        err = space_watch_new(&agent->space);
    return err ? err : sampler_new(agent->probe, &sampler, &agent->sampler);
}

static void say_ready(const struct agent *agent)
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

/* For whoever has moved the copy away, or replaced a certificate: token and certificates are read for each
   connection. */
static void reload(struct agent *agent)
{
    notify_reloading();
    log_info("reloading");
    end_interval(agent);
    if (agent->copy)
        recording_close(agent->copy);
    agent->copy = NULL;
    open_copy(agent); /* logged; without it everything else goes on */
    if (agent->push)
        push_reconnect(agent->push);
    say_ready(agent);
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

static void finish(struct agent *agent)
{
    notify_stopping();
    monitor_close(agent->monitor);
    if (agent->probe && agent->sampler && agent->serve && sample(agent) == 0)
        end_interval(agent);
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

int agent_run(const struct agent_options *options)
{
    struct agent agent = {.options = options, .events = -1, .signals = -1};
    int err;

    curl_global_init(CURL_GLOBAL_DEFAULT);
    err = outward_new(&options->outward, &agent.outward);
    agent.outward.plain |= OUTWARD_TOKEN; /* the token is for that node */
    if (!err && options->user && geteuid() == 0)
        err = unprivileged_become(options->user, options);
    if (!err)
        err = open_signals(&agent);
    if (!err)
        err = open_copy(&agent);
    if (!err)
        err = start_push(&agent);
    if (!err)
        err = start_probe(&agent);
    if (!err)
        err = serve_new(options->socket, &agent, agent.events, &agent.serve);
    if (!err)
        err = monitor_new(options, agent.events, tell_state, &agent, &agent.monitor);
    if (!err)
        say_ready(&agent);
    if (!err)
        log_info("watching; socket %s%s%s", options->socket,
                 options->collector ? ", collector " : "", options->collector ? options->collector : "");
    while (!err && !agent.stopping) {
        int ended = sampler_wait(agent.sampler, agent.events);

        if (ended > 0)
            tick(&agent);
        else
            handle(&agent);
        serve_progress(agent.serve);
    }
    finish(&agent);
    curl_global_cleanup();
    return err ? 1 : 0;
}
