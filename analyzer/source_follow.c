/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/source.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/log.h"

#define HISTORY_NS INT64_C(60000000000) /* how far back the first sample may lie */
#define GRACE_NS                                                                                   \
    INT64_C(10000000000) /* how long the nodes' batches of an interval are waited for */

struct follower {
    struct source source; /* first: it is what the caller holds */
    const char *conninfo;
    uint64_t interval_ns; /* between looks at the database */
    int64_t after_ns;     /* intervals up to here have been handed out */
};

/* The earliest interval in the window, all nodes added up. 1, 0 when there is none, -errno
 * (logged). */
static int read_interval(struct source *source, struct batch **out)
{
    _cleanup_(batch_freep) struct batch *sum = NULL;

    for (;;) {
        _cleanup_(batch_freep) struct batch *batch = NULL;
        int got = source->next(source, &batch);

        if (got < 0)
            return got;
        /* clocks differ a little: half an interval later is another one */
        if (got == 0 || (sum && batch->start_ns - sum->start_ns > batch->interval_ms * 500000LL))
            break;
        if ((!sum && (batch_new(&sum) || batch_set(sum, &sum->node, "*"))) ||
            batch_merge(sum, batch, false)) {
            log_error("cannot add up the nodes: %s", log_errno(-ENOMEM));
            return -ENOMEM;
        }
        sum->interval_ms = batch->interval_ms;
    }
    *out = take_pointer(sum);
    return *out != NULL;
}

static int follower_next(struct source *source, struct batch **out)
{
    struct follower *follower = (struct follower *)source;

    for (;;) {
        const struct source_window window = {.since_ns = follower->after_ns,
                                             .until_ns = wall_clock_ns() - GRACE_NS};
        const struct timespec pause = {(time_t)(follower->interval_ns / 1000000000),
                                       (long)(follower->interval_ns % 1000000000)};
        _cleanup_(source_freep) struct source *database = NULL;
        int got = source_database(follower->conninfo, &window, &database);

        if (!got)
            got = read_interval(database, out);
        if (got == 1)
            follower->after_ns = (*out)->start_ns + (*out)->interval_ms * INT64_C(500000) + 1;
        if (got)
            return got;
        if (nanosleep(&pause, NULL))
            return -EINTR;
    }
}

static void follower_free(struct source *source)
{
    free(source);
}

int source_follow(const char *conninfo, uint64_t interval_ns, struct source **out)
{
    struct follower *follower = calloc(1, sizeof(*follower));

    if (!follower) {
        log_error("cannot follow the database: %s", log_errno(-ENOMEM));
        return -ENOMEM;
    }
    *follower = (struct follower){
        {follower_next, follower_free}, conninfo, interval_ns, wall_clock_ns() - HISTORY_NS - GRACE_NS};
    *out = &follower->source;
    return 0;
}
