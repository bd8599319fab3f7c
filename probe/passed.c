/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/passed.h"

#include <stdlib.h>

#include "lib/order.h"
#include "lib/vector.h"

struct passed_write {
    struct abi_process *process;
    uint32_t record; /* of the batch */
    uint64_t bytes;
};

void passed_clear(struct passed *passed)
{
    free(passed->writes);
    *passed = (struct passed){0};
}

int passed_add(struct passed *passed, struct abi_process *process, const struct batch *batch,
               const struct record *record, uint64_t bytes)
{
    int err;

    if (!bytes || !__atomic_load_n(&process->received_bytes, __ATOMIC_RELAXED))
        return 0;
    err = vector_grow((void **)&passed->writes, &passed->capacity, passed->count, sizeof(*passed->writes));
    if (!err)
        passed->writes[passed->count++] = (struct passed_write){process, (uint32_t)(record - batch->records), bytes};
    return err;
}

static int by_process(const void *a, const void *b)
{
    const struct passed_write *x = a, *y = b;

    return ORDER(x->process, y->process);
}

/* One process's: to the last record goes what rounding has left. */
static void share_out(const struct passed_write *writes, uint32_t count, struct batch *batch)
{
    uint64_t left = __atomic_exchange_n(&writes->process->received_bytes, 0, __ATOMIC_RELAXED);
    double all = 0, received = (double)left;

    for (uint32_t i = 0; i < count; i++)
        all += (double)writes[i].bytes;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t part = i + 1 < count ? (uint64_t)(received * ((double)writes[i].bytes / all)) : left;

        part = part < left ? part : left;
        batch->records[writes[i].record].cache[CACHE_PROCESS_RECEIVED_BYTES] += part;
        left -= part;
    }
}

void passed_share(struct passed *passed, struct batch *batch)
{
    const struct passed_write *writes = passed->writes;
    uint32_t count;

    if (passed->count)
        qsort(passed->writes, passed->count, sizeof(*writes), by_process);
    for (uint32_t at = 0; at < passed->count; at += count) {
        for (count = 1; at + count < passed->count && writes[at + count].process == writes[at].process; count++)
            ;
        share_out(writes + at, count, batch);
    }
    passed->count = 0;
}
