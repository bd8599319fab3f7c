/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a probe is made of, for those who keep what probe/probe.h promises: probe_start.c, which makes the parts and has
 * the programs attached; probe_coverage.c, how much is watched and what is not; probe.c, the rest.
 */
#ifndef UNBLEND_PROBE_PROBE_PARTS_H
#define UNBLEND_PROBE_PROBE_PARTS_H

#include "probe/drain.h"
#include "probe/load.h"
#include "probe/platform.h"
#include "probe/pressure.h"
#include "probe/probe.h"
#include "probe/stations.h"
#include "probe/tables.h"

struct probe {
    struct loaded *loaded;
    uint64_t missed; /* so many events the kernel has skipped up to the last drain */
    struct tables tables;
    struct volumes *volumes;
    struct origin *origin;
    struct finder *finder;
    struct drain *drain;
    struct stations *stations;
    struct trees *trees; /* NULL: not asked for */
    struct platform *platform;
    const char *root; /* the caller's */
    struct pressure pressure; /* at the last drain */
    int mount_fd;
    enum probe_step step;
    enum grain grain; /* that is asked for */
};

/* The process and its descendants are watched from now on; where they are already, only the job (0: none) is new. 0 or
   -errno. */
int probe_watch(struct probe *probe, pid_t pid, uint32_t job);

/* Events that no program has seen, since the start. */
uint64_t probe_missed(const struct probe *probe);

/* Adds to a batch what is watched, what is not, and why; and what was lost since the last time. 0 or -ENOMEM. */
int probe_cover(struct probe *probe, struct batch *batch);

#endif
