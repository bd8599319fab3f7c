/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/together.h"

#include <errno.h>
#include <stdatomic.h>

#include "collector/metrics.h"
#include "lib/cleanup.h"
#include "lib/clock.h"

#define BODY_SMALL  (64u << 10) /* larger ones are a transaction's worth by themselves */
#define PLAIN_SMALL (2u << 20)

/* Only bodies of one line: those of many would have to be undone as a whole when one line is refused. */
static bool only_line(const char *text, size_t size, const char **line, size_t *line_size)
{
    size_t at = 0;

    return ingest_line(text, size, &at, line, line_size) && *line_size && at >= size;
}

/* Into the open transaction, or a new one. *taken is false for what has to go by itself. */
static int put(struct store *store, const struct parcel *parcel, bool *begun, bool *taken)
{
    _cleanup_free_ void *plain = NULL;
    const char *line;
    size_t size, line_size;

    *taken = parcel->size <= BODY_SMALL &&
             decompress(parcel->encoding, parcel->body, parcel->size, PLAIN_SMALL, &plain, &size) == 0 &&
             only_line(plain, size, &line, &line_size);
    if (!*taken)
        return 0;
    *parcel->answer = (struct answer){.status = 200, .line = 1};
    return ingest_put(store, parcel->who, line, line_size, begun, parcel->answer);
}

static void count(const struct parcel *parcel, int64_t start)
{
    struct answer *answer = parcel->answer;

    if (answer->status != 200)
        return;
    answer->line = 0;
    metrics_commit((uint64_t)(monotonic_ns() - start));
    atomic_fetch_add(&metrics.batches, answer->batches);
    atomic_fetch_add(&metrics.duplicates, answer->duplicates);
    atomic_fetch_add(&metrics.records, answer->records);
}

/* One transaction for all that fits into it; taken tells which. 0, or what the store says: then nothing of it is
   known to be stored. */
static int put_all(struct store *store, const struct parcel *parcels, unsigned count_, bool *taken)
{
    bool begun = false;
    int err = 0;

    for (unsigned i = 0; i < count_ && !err; i++)
        err = put(store, &parcels[i], &begun, &taken[i]);
    if (!err && begun)
        err = store_commit(store);
    if (err && begun)
        store_rollback(store);
    return err;
}

void ingest_together(struct store *store, const struct parcel *parcels, unsigned count_)
{
    bool taken[TOGETHER_MAX] = {false};
    int64_t start = monotonic_ns();
    int err = count_ > 1 ? put_all(store, parcels, count_, taken) : -EDEADLK;
    bool away = err == -EAGAIN || err == -ENOENT;

    for (unsigned i = 0; i < count_; i++) {
        const struct parcel *parcel = &parcels[i];

        if (away)
            ingest_refuse(store, err, parcel->answer);
        else if (err || !taken[i])
            ingest(store, parcel->who, parcel->encoding, parcel->body, parcel->size, parcel->answer);
        else
            count(parcel, start);
    }
}
