/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The daemon's parts: how it begins and ends, what it does each second, and what it does when something happens. */
#ifndef UNBLEND_AGENT_AGENT_PRIVATE_H
#define UNBLEND_AGENT_AGENT_PRIVATE_H

#include "agent/agent.h"
#include "agent/monitor.h"
#include "agent/push.h"
#include "agent/serve.h"
#include "agent/space.h"
#include "agent/spool.h"
#include "lib/privilege.h"
#include "lib/recording.h"
#include "probe/sampler.h"

struct agent {
    const struct agent_options *options;
    struct probe *probe;
    struct sampler *sampler;
    struct space_watch *space;
    struct outward outward;
    struct privilege_choice choice;
    struct spool *spool; /* NULL without a collector */
    struct push *push;
    struct serve *serve;
    struct recording_writer *copy;
    struct monitor *monitor; /* NULL: no monitoring system wants anything */
    int64_t told;            /* the number of the interval that it was told last */
    struct batch *interval; /* what the current interval has so far; NULL for nothing */
    uint64_t ends;    /* of intervals, so far */
    int64_t ended_ms; /* monotonic, the last one */
    char spool_trouble[160];
    int events; /* epoll */
    int signals;
    bool stopping;
};

/* Opens and starts all there is, as far as options want it; gives up root. 0 or -errno (logged). agent_finish() follows
   in any case. */
int agent_start(struct agent *agent);

/* The last interval goes out, if there is time. */
void agent_finish(struct agent *agent);

/* The recording that gets every batch; again, after it was closed. 0 or -errno (logged). */
int agent_open_copy(struct agent *agent);
void agent_say_ready(const struct agent *agent);

/* What is drained from now on is as fine, and the interval as short, as somebody who watches wants it. */
void agent_heed_wish(struct agent *agent);

/* Adds a sample to the interval; one that does not follow it begins the next. 0 or -errno. */
int agent_gather(struct agent *agent, struct batch *sample);

/* Takes a sample, shows it to the watchers and adds it to the interval. 0 or -errno. */
int agent_sample(struct agent *agent);

/* Sends what the interval has gathered on its way. 0, or -errno when it could not be made safe yet. */
int agent_end_interval(struct agent *agent);

/* Each second, or more often where somebody who watches wants it. */
void agent_tick(struct agent *agent);

#endif
