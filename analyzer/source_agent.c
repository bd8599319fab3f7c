/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/source.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/agent_client.h"
#include "lib/cleanup.h"
#include "lib/log.h"

struct watched {
    struct source source;
    struct agent_client *client;
    _Atomic uint64_t interval_ns;
};

#define AGENT_SAMPLE_NS 1000000000ull

/* The agent samples each second; a longer interval is so many samples together. */
static int watched_next(struct source *source, struct batch **out)
{
    struct watched *watched = (struct watched *)source;
    _cleanup_(batch_freep) struct batch *sum = NULL;

    do {
        _cleanup_(batch_freep) struct batch *batch = NULL;
        int got = agent_next(watched->client, -1, -1, &batch);

        if (got == 0)
            return -EINTR; /* a signal: the caller knows which */
        if (got < 0)
            return got;
        if (!sum)
            sum = take_pointer(batch);
        else if (batch_merge(sum, batch, true))
            return -ENOMEM;
    } while (sum->duration_ns + 500000000 < watched->interval_ns);
    *out = take_pointer(sum);
    return 1;
}

static void watched_pace(struct source *source, uint64_t interval_ns)
{
    ((struct watched *)source)->interval_ns = interval_ns;
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
                                       .shortest_ns = AGENT_SAMPLE_NS};
    watched->interval_ns = interval_ns;
    err = agent_connect(socket_path, &watched->client);
    if (err)
        log_error("agent %s: %s: is unblend-agent running?", socket_path, log_errno(err));
    else
        err = agent_watch(watched->client);
    if (err) {
        watched_free(&watched->source);
        return err;
    }
    *out = &watched->source;
    return 0;
}
