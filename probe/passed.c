/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/passed.h"

#include <errno.h>
#include <stdlib.h>

#include "probe/sparse.h"

struct written {
    uint32_t process, record; /* record: of the batch */
    uint64_t bytes;
};

struct passed {
    struct tables *tables;
    struct sparse seen; /* uint64_t, by process: what of its bytes has been handed out */
    struct written *written; /* since the last passed_share(), by who had received something */
    size_t count, room;
};

int passed_new(struct tables *tables, struct passed **out)
{
    struct passed *passed = calloc(1, sizeof(*passed));

    if (!passed)
        return -ENOMEM;
    passed->tables = tables;
    if (sparse_open(&passed->seen, tables->table[ABI_TABLE_PROCESSES].entries * sizeof(uint64_t))) {
        free(passed);
        return -ENOMEM;
    }
    *out = passed;
    return 0;
}

void passed_free(struct passed *passed)
{
    if (!passed)
        return;
    sparse_close(&passed->seen);
    free(passed->written);
    free(passed);
}

void passed_tidy(struct passed *passed)
{
    sparse_tidy(&passed->seen);
}

static uint64_t *seen_of(const struct passed *passed, uint32_t process)
{
    return (uint64_t *)passed->seen.memory + process;
}

static uint64_t received_by(const struct passed *passed, uint32_t process)
{
    return __atomic_load_n(&process_at(passed->tables, process)->received_bytes, __ATOMIC_RELAXED);
}

int passed_write(struct passed *passed, uint32_t process, const struct batch *batch, const struct record *record,
                 uint64_t bytes)
{
    if (!bytes || received_by(passed, process) == *seen_of(passed, process))
        return 0;
    if (passed->count == passed->room) {
        size_t room = 2 * passed->room + 16;
        struct written *more = reallocarray(passed->written, room, sizeof(*more));

        if (!more)
            return -ENOMEM;
        passed->written = more;
        passed->room = room;
    }
    passed->written[passed->count++] = (struct written){process, (uint32_t)(record - batch->records), bytes};
    return 0;
}

static int by_process(const void *a, const void *b)
{
    const struct written *x = a, *y = b;

    return (x->process > y->process) - (x->process < y->process);
}

/* One process's: to the last record goes what rounding has left. */
static void share_out(struct passed *passed, const struct written *written, size_t count, struct batch *batch)
{
    uint64_t *seen = seen_of(passed, written->process), now = received_by(passed, written->process), left = now - *seen;
    double all = 0, received = (double)left;

    *seen = now;
    for (size_t i = 0; i < count; i++)
        all += (double)written[i].bytes;
    for (size_t i = 0; i < count; i++) {
        uint64_t part = i + 1 < count ? (uint64_t)(received * ((double)written[i].bytes / all)) : left;

        part = part < left ? part : left;
        batch->records[written[i].record].cache[CACHE_PROCESS_RECEIVED_BYTES] += part;
        left -= part;
    }
}

void passed_share(struct passed *passed, struct batch *batch)
{
    struct written *written = passed->written;
    size_t count;

    if (passed->count)
        qsort(written, passed->count, sizeof(*written), by_process);
    for (size_t at = 0; at < passed->count; at += count) {
        for (count = 1; at + count < passed->count && written[at + count].process == written[at].process; count++)
            ;
        share_out(passed, written + at, count, batch);
    }
    passed->count = 0;
}

void passed_forget(struct passed *passed, uint32_t process)
{
    *seen_of(passed, process) = 0;
}
