/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/source.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "analyzer/agent_client.h"
#include "lib/cleanup.h"
#include "lib/log.h"

struct watched {
    struct source source;
    struct agent_client *client;
    _Atomic uint64_t interval_ns;
    _Atomic bool threads, changed;
};

static struct agent_pace pace_of(const struct watched *watched)
{
    return (struct agent_pace){.interval_ns = watched->interval_ns, .threads = watched->threads};
}

/* The agent samples each second, or as often as anybody wants; a longer interval is so many samples together. */
static int watched_next(struct source *source, struct batch **out)
{
    struct watched *watched = (struct watched *)source;
    _cleanup_(batch_freep) struct batch *sum = NULL;

    for (;;) {
        _cleanup_(batch_freep) struct batch *batch = NULL;
        uint64_t took_ns;
        int err = atomic_exchange(&watched->changed, false) ? agent_repace(watched->client, pace_of(watched)) : 0, got;

        if (err)
            return err;
        got = agent_next(watched->client, -1, -1, &batch);
        if (got == 0)
            return -EINTR; /* a signal: the caller knows which */
        if (got < 0)
            return got;
        took_ns = batch->duration_ns;
        if (!sum)
            sum = take_pointer(batch);
        else if (batch_merge(sum, batch, GRAIN_THREADS))
            return -ENOMEM;
        if (sum->duration_ns + took_ns / 2 >= watched->interval_ns) {
            *out = take_pointer(sum);
            return 1;
        }
    }
}

static void watched_pace(struct source *source, uint64_t interval_ns)
{
    struct watched *watched = (struct watched *)source;

    watched->interval_ns = interval_ns;
    watched->changed = true;
}

static void watched_by_thread(struct source *source, bool threads)
{
    struct watched *watched = (struct watched *)source;

    watched->threads = threads;
    watched->changed = true;
}

static void watched_free(struct source *source)
{
    struct watched *watched = (struct watched *)source;

    agent_close(watched->client);
    free(watched);
}

int source_agent(const char *socket_path, uint64_t interval_ns, struct source **out)
{
    struct watched *watched = calloc(1, sizeof(*watched));
    int err;

    if (!watched)
        return -ENOMEM;
    watched->source = (struct source){.next = watched_next, .free = watched_free, .pace = watched_pace,
                                       .by_thread = watched_by_thread};
    watched->interval_ns = interval_ns;
    err = agent_connect(socket_path, &watched->client);
    if (err)
        log_error("agent %s: %s: is unblend-agent running?", socket_path, log_errno(err));
    else
        err = agent_watch(watched->client, pace_of(watched));
    if (err) {
        watched_free(&watched->source);
        return err;
    }
    *out = &watched->source;
    return 0;
}
