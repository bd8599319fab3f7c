/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/pending.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>

#include "lib/cleanup.h"
#include "probe/bpf/asyncabi.h"

#define AT_ONCE 256 /* requests a system call reads */

struct chunk {
    struct abi_async_key keys[AT_ONCE];
    struct abi_async entries[AT_ONCE];
};

static int add(const struct abi_async *entry, int64_t now_ns, pending_series series, void *context,
               struct batch *batch)
{
    uint64_t volume = entry->volume ? entry->volume : entry->volume2;
    struct record *record;
    int err;

    /* One without a process in the table has no series of its own; nor one whose file is not open yet. */
    if (!volume || !entry->process || entry->taken || !entry->op || entry->op >= OP_FILE_END)
        return 0;
    err = series(context, entry->process, volume, entry->op, batch, &record);
    if (err)
        return err;
    record->in_flight++;
    if (now_ns > (int64_t)entry->start_ns && (uint64_t)now_ns - entry->start_ns > record->oldest_ns)
        record->oldest_ns = (uint64_t)now_ns - entry->start_ns;
    batch->coverage.in_flight++;
    return 0;
}

int pending_drain(int async_map, uint64_t since_ns, int64_t now_ns, pending_series series, void *context,
                  struct batch *batch)
{
    _cleanup_free_ struct chunk *chunk = malloc(sizeof(*chunk));
    uint32_t place, *from = NULL;
    int err = chunk ? 0 : -ENOMEM;
    bool more = true;

    while (!err && more) {
        uint32_t count = AT_ONCE;
        uint32_t next;

        /* -ENOENT comes with the last of them. */
        err = bpf_map_lookup_batch(async_map, from, &next, chunk->keys, chunk->entries, &count, NULL);
        more = !err;
        if (err && err != -ENOENT)
            break;
        err = 0;
        place = next;
        from = &place;
        for (uint32_t i = 0; !err && i < count; i++)
            if (chunk->entries[i].start_ns >= since_ns)
                err = add(&chunk->entries[i], now_ns, series, context, batch);
    }
    return err;
}
