/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/recorder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/agent_client.h"
#include "analyzer/source.h"
#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/log.h"

/* The agent samples each second, so the last batch comes with the flush or soon after. */
#define LAST_BATCH_MS 5000

struct remote {
    struct recorder recorder;
    struct agent_client *control, *watch;
    bool all;
    uint64_t interval_ns;
    char job_glob[600]; /* the job's name, escaped */
    json_int_t job;
    struct batch *gathered; /* the samples of an interval longer than the agent's */
    bool ended, finished;
    int64_t until_ms; /* monotonic, once it has ended */
};

/* fnmatch() must take the name for nothing but itself. */
static void escape(const char *name, char *glob, size_t size)
{
    size_t n = 0;

    for (; *name && n + 2 < size; name++) {
        if (strchr("*?[]\\", *name))
            glob[n++] = '\\';
        glob[n++] = *name;
    }
    glob[n] = '\0';
}

static int adopt(struct recorder *recorder, pid_t pid, const struct job *job)
{
    struct remote *remote = (struct remote *)recorder;
    json_t *answer = NULL;
    int err = agent_request(remote->control,
                            json_pack("{s:s, s:s, s:I, s:s, s:s?}", "request", "job", "job",
                                      job->name, "pid", (json_int_t)pid, "command", job->command,
                                      "user", job->user),
                            &answer);

    if (err)
        return err;
    remote->job = json_integer_value(json_object_get(answer, "id"));
    json_decref(answer);
    escape(job->name, remote->job_glob, sizeof(remote->job_glob));
    return 0;
}

static bool has_ended(const struct batch *batch)
{
    for (uint32_t i = 0; i < batch->job_count; i++)
        if (batch->jobs[i].end_ns)
            return true;
    return false;
}

/* Hands a batch out, with the job alone unless all was asked for; nothing can be added to it after that. 1 or
   -ENOMEM, logged. */
static int hand_out(const struct remote *remote, struct batch *batch, struct batch **out)
{
    const struct source_window window = {
        .since_ns = INT64_MIN, .until_ns = INT64_MAX, .job = remote->job_glob};

    if (!remote->all && source_filter(&window, batch) < 0) {
        log_error("cannot record: %s", log_why(-ENOMEM));
        batch_free(batch);
        return -ENOMEM;
    }
    *out = batch;
    return 1;
}

/* Adds samples up until they make an interval. */
static int next(struct recorder *recorder, int fd, struct batch **out)
{
    struct remote *remote = (struct remote *)recorder;

    for (;;) {
        _cleanup_(batch_freep) struct batch *batch = NULL;
        int got = agent_next(remote->watch, fd, -1, &batch);

        if (got <= 0)
            return got;
        if (remote->gathered && !batch_follows(batch, remote->gathered)) {
            struct batch *whole = take_pointer(remote->gathered);

            remote->gathered = take_pointer(batch);
            whole->interval_ms = (uint32_t)(remote->interval_ns / 1000000);
            return hand_out(remote, whole, out);
        }
        if (remote->gathered) {
            int err = batch_merge(remote->gathered, batch, GRAIN_PROCESSES);

            if (err) {
                log_error("cannot record: %s", log_why(err));
                return err;
            }
        } else {
            remote->gathered = take_pointer(batch);
        }
        if (remote->gathered->duration_ns + 500000000 >= remote->interval_ns) {
            remote->gathered->interval_ms = (uint32_t)(remote->interval_ns / 1000000);
            return hand_out(remote, take_pointer(remote->gathered), out);
        }
    }
}

static bool living(struct recorder *recorder)
{
    struct remote *remote = (struct remote *)recorder;
    json_t *answer = NULL;
    bool alive;

    if (!remote->job || agent_request(remote->control,
                                      json_pack("{s:s, s:I}", "request", "living", "id", remote->job),
                                      &answer))
        return false;
    alive = json_integer_value(json_object_get(answer, "living")) > 0;
    json_decref(answer);
    return alive;
}

/* Tells the agent that the job is over and waits until all of it is with the collector. */
static int end_job(struct remote *remote, int status)
{
    int err = 0;

    if (remote->job)
        err = agent_request(remote->control,
                            json_pack("{s:s, s:I, s:i}", "request", "exit", "id", remote->job,
                                      "status", status),
                            NULL);
    if (!err)
        err = agent_request(remote->control, json_pack("{s:s}", "request", "flush"), NULL);
    return err;
}

static int finish(struct recorder *recorder, int status, struct batch **out)
{
    struct remote *remote = (struct remote *)recorder;
    struct batch *batch = NULL;
    int64_t left_ms;
    int got, err;

    if (remote->gathered)
        return hand_out(remote, take_pointer(remote->gathered), out);
    if (remote->finished)
        return 0;
    if (!remote->ended) {
        remote->ended = true;
        err = end_job(remote, status);
        if (err)
            return err;
        remote->until_ms = monotonic_ms() + LAST_BATCH_MS;
    }
    left_ms = remote->until_ms - monotonic_ms();
    got = agent_next(remote->watch, -1, left_ms > 0 ? (int)left_ms : 0, &batch);
    if (got <= 0 || left_ms <= 0 || !remote->job || has_ended(batch))
        remote->finished = true;
    return got == 1 ? hand_out(remote, batch, out) : got;
}

static void remote_free(struct recorder *recorder)
{
    struct remote *remote = (struct remote *)recorder;

    agent_close(remote->control);
    agent_close(remote->watch);
    batch_free(remote->gathered);
    free(remote);
}

int recorder_agent(const char *socket, const struct recorder_options *options, struct recorder **out)
{
    struct remote *remote = calloc(1, sizeof(*remote));
    int err;

    if (!remote)
        return -ENOMEM;
    remote->recorder = (struct recorder){
        .adopt = adopt, .next = next, .living = living, .finish = finish, .free = remote_free};
    remote->all = options->all;
    remote->interval_ns = options->interval_ns;
    err = agent_connect(socket, &remote->control);
    if (!err)
        err = agent_connect(socket, &remote->watch);
    if (err)
        log_error("agent %s: %s: start unblend-agent, or record as root without --agent", socket,
                  log_errno(err));
    else
        err = agent_watch(remote->watch, (struct agent_pace){0});
    if (err) {
        remote_free(&remote->recorder);
        return err;
    }
    *out = &remote->recorder;
    return 0;
}
