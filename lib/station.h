/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the storage side saw of one interval: requests of one kind at one station, which is a device's queue, a file
 * system's server or client, or what a storage platform counts itself. A station's volume is the device, the mounted
 * file system, or the platform's own name. Requests are those that came to an end.
 *
 * Units: bytes, nanoseconds, counts. What is not in known was not observed, and is no 0. The struct owns its
 * histograms; server belongs to the batch.
 */
#ifndef UNBLEND_LIB_STATION_H
#define UNBLEND_LIB_STATION_H

#include <stdint.h>

#include "lib/histogram.h"

/* Who tells. Platforms are those from LAYER_MOUNTSTATS on: they have no histograms. */
enum layer {
    LAYER_BLOCK,
    LAYER_FUSE,
    LAYER_NFS_CLIENT,
    LAYER_NFS_SERVER,
    LAYER_MOUNTSTATS, /* /proc/self/mountstats */
    LAYER_NFSD,       /* /proc/net/rpc/nfsd */
    LAYER_LUSTRE,     /* llite stats */
    LAYER_NVIDIA_FS,  /* /proc/driver/nvidia-fs/stats */
    LAYER_PLATFORM,   /* --platform-metrics */
    LAYERS
};

enum request_kind {
    REQUEST_ALL, /* of any kind: carries the depth and the server only */
    REQUEST_READ,
    REQUEST_WRITE,
    REQUEST_FLUSH,
    REQUEST_DISCARD,
    REQUEST_METADATA,
    REQUESTS
};

/* For whom. */
enum party {
    PARTY_UNKNOWN, /* a process that belongs to no job we know, or nobody can tell */
    PARTY_JOB,
    PARTY_WRITEBACK, /* the kernel, writing back what was written before */
    PARTY_KERNEL,    /* the kernel, for itself: a journal, a loop device */
    PARTY_SERVER,    /* of REQUEST_ALL: the job is that of the server, whose own I/O counts once more */
    PARTIES
};

/* Their names on the wire and in reports. */
extern const char *const layer_names[LAYERS];
extern const char *const request_names[REQUESTS];
extern const char *const party_names[PARTIES];

enum station_known {
    STATION_OPS = 1,
    STATION_BYTES = 2,
    STATION_ERRORS = 4,
    STATION_MERGES = 8,
    STATION_QUEUE = 16,
    STATION_SERVICE = 32,
    STATION_IN_FLIGHT = 64,
};

struct station {
    enum layer layer;
    uint32_t volume; /* index into volumes */
    enum request_kind request;
    enum party party;
    uint32_t job; /* index into jobs; NO_INDEX unless party is PARTY_JOB or PARTY_SERVER */
    const char *server; /* of PARTY_SERVER: its command, or NULL */

    unsigned known; /* enum station_known */
    uint64_t ops, bytes, errors;
    uint64_t merges;         /* so many more were asked for, and became part of another */
    uint64_t queue_sum_ns;   /* from its making or insertion to its issue */
    uint64_t service_sum_ns; /* from its issue to its completion */
    uint64_t in_flight;      /* issued and not completed at the interval's end */
    struct histogram size, queue_ns, service_ns;
    struct histogram depth; /* of REQUEST_ALL: how many were in flight when one more was issued, with it */
};

static inline bool layer_is_platform(enum layer layer)
{
    return layer >= LAYER_MOUNTSTATS;
}

void station_clear(struct station *station);

/* Adds the counts of src, which is later, to dst (keys untouched). 0, -ENOMEM or -ERANGE; dst unchanged on failure. */
int station_add(struct station *dst, const struct station *src);

#endif
