/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests to the servers of file systems, FUSE's and NFS's, and of clients at one: on their way, and at their end. */
#ifndef UNBLEND_PROBE_REMOTE_H
#define UNBLEND_PROBE_REMOTE_H

#include "probe/bpf/station.bpf.h"

/* A place where another was before: that one has ended, and no program was told. */
static __always_inline void forget_unseen(__u64 key)
{
    struct abi_remote *unseen = bpf_map_lookup_elem(&remote_requests, &key);

    if (!unseen)
        return;
    count(ABI_COUNTER_UNSTATIONED, 1);
    if (unseen->volume != ABI_VOLUME_NONE)
        leave_queue(unseen->volume, unseen->layer);
}

static __always_inline void begin_remote(__u64 key, const struct abi_remote *entry)
{
    forget_unseen(key);
    if (bpf_map_update_elem(&remote_requests, &key, entry, BPF_ANY))
        count(ABI_COUNTER_UNSTATIONED, 1);
    else if (entry->volume != ABI_VOLUME_NONE)
        begin_request(entry->volume, entry->layer);
}

/* Where it counts; how long it took, and of how many bytes it was, is the caller's to say. */
static __always_inline struct ended ended_remote(const struct abi_remote *entry)
{
    bool moves = entry->request == ABI_REQUEST_READ || entry->request == ABI_REQUEST_WRITE;

    return (struct ended){.key = {.volume = entry->volume,
                                  .party = entry->party,
                                  .layer = entry->layer,
                                  .request = entry->request},
                          .failed = entry->failed,
                          .sized = moves && !entry->failed};
}

#endif
