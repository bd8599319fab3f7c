/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/station.h"

#include <errno.h>

const char *const layer_names[LAYERS] = {
    [LAYER_BLOCK] = "block",           [LAYER_FUSE] = "fuse",
    [LAYER_NFS_CLIENT] = "nfs-client", [LAYER_NFS_SERVER] = "nfs-server",
    [LAYER_MOUNTSTATS] = "mountstats", [LAYER_NFSD] = "nfsd",
    [LAYER_LUSTRE] = "lustre",         [LAYER_NVIDIA_FS] = "nvidia-fs",
    [LAYER_PLATFORM] = "platform",
};

const char *const request_names[REQUESTS] = {
    [REQUEST_ALL] = "all",     [REQUEST_READ] = "read",       [REQUEST_WRITE] = "write",
    [REQUEST_FLUSH] = "flush", [REQUEST_DISCARD] = "discard", [REQUEST_METADATA] = "metadata",
};

const char *const party_names[PARTIES] = {
    [PARTY_UNKNOWN] = "unknown", [PARTY_JOB] = "job",       [PARTY_WRITEBACK] = "writeback",
    [PARTY_KERNEL] = "kernel",   [PARTY_SERVER] = "server",
};

void station_clear(struct station *station)
{
    histogram_clear(&station->size);
    histogram_clear(&station->queue_ns);
    histogram_clear(&station->service_ns);
    histogram_clear(&station->depth);
}

/* What JSON and PostgreSQL can hold. */
static bool fits(uint64_t a, uint64_t b)
{
    return a <= INT64_MAX && b <= INT64_MAX - a;
}

int station_add(struct station *dst, const struct station *src)
{
    int err;

    if (!fits(dst->ops, src->ops) || !fits(dst->bytes, src->bytes) || !fits(dst->errors, src->errors) ||
        !fits(dst->merges, src->merges) || !fits(dst->queue_sum_ns, src->queue_sum_ns) ||
        !fits(dst->service_sum_ns, src->service_sum_ns))
        return -ERANGE;
    if ((err = histogram_prepare(&dst->size, &src->size)) ||
        (err = histogram_prepare(&dst->queue_ns, &src->queue_ns)) ||
        (err = histogram_prepare(&dst->service_ns, &src->service_ns)) ||
        (err = histogram_prepare(&dst->depth, &src->depth)))
        return err;
    histogram_merge_prepared(&dst->size, &src->size);
    histogram_merge_prepared(&dst->queue_ns, &src->queue_ns);
    histogram_merge_prepared(&dst->service_ns, &src->service_ns);
    histogram_merge_prepared(&dst->depth, &src->depth);
    dst->known |= src->known;
    dst->ops += src->ops;
    dst->bytes += src->bytes;
    dst->errors += src->errors;
    dst->merges += src->merges;
    dst->queue_sum_ns += src->queue_sum_ns;
    dst->service_sum_ns += src->service_sum_ns;
    dst->in_flight = src->in_flight;
    return 0;
}
