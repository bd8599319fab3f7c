/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a cgroup's path says of those in it: schedulers and container runtimes name their cgroups after what they run.
 * Pure functions of text; any bytes are fine.
 */
#ifndef UNBLEND_PROBE_CGROUP_H
#define UNBLEND_PROBE_CGROUP_H

#include <stddef.h>

/* What says more comes later. */
enum cgroup_kind {
    CGROUP_OTHER,     /* sessions, slices, and what nobody knows */
    CGROUP_UNIT,      /* a systemd service, or a scope that is one's own */
    CGROUP_CONTAINER, /* of Docker, Podman, containerd, CRI-O or LXC */
    CGROUP_POD,       /* of Kubernetes */
    CGROUP_SLURM,
};

#define CGROUP_ID_MAX 256

struct cgroup_owner {
    enum cgroup_kind kind;
    char id[CGROUP_ID_MAX];     /* the job's number, the pod's UID, the container's id, the unit's name */
    char container[CGROUP_ID_MAX]; /* in a pod: the container's id; "" for the pod itself */
    const char *runtime;        /* of a container: docker, podman, containerd, cri-o, lxc; NULL where not told */
};

/* A path in a cgroup hierarchy, "/system.slice/x.service". Always fills *owner. */
void cgroup_parse(const char *path, struct cgroup_owner *owner);

/* The lines of /proc/PID/cgroup: of all hierarchies the one that says most. text is changed. */
void cgroup_parse_lines(char *text, struct cgroup_owner *owner);

#endif
