/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/together.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "collector/metrics.h"
#include "lib/cleanup.h"
#include "lib/clock.h"

#define PLAIN_SMALL (2u << 20)
#define READ_MAX    (2u << 20) /* of text: decoded, it takes ten times as much */

/* Only bodies of one line: those of many would have to be undone as a whole when one line is refused. */
static bool only_line(const char *text, size_t size, const char **line, size_t *line_size)
{
    size_t at = 0;

    return ingest_line(text, size, &at, line, line_size) && *line_size && at >= size;
}

/* Bodies that were read and not yet put. */
struct group {
    struct store_item items[TOGETHER_MAX];
    struct answer *answers[TOGETHER_MAX];
    unsigned count;
    size_t bytes; /* of their texts */
    bool begun;
};

/* *taken is false for what has to go by itself. */
static int read_one(struct group *group, const struct parcel *parcel, bool *taken)
{
    _cleanup_free_ void *plain = NULL;
    const char *line;
    size_t size, line_size;
    int err;

    *taken = parcel->size <= TOGETHER_SIZE &&
             decompress(parcel->encoding, parcel->body, parcel->size, PLAIN_SMALL, &plain, &size) == 0 &&
             only_line(plain, size, &line, &line_size);
    if (!*taken)
        return 0;
    *parcel->answer = (struct answer){.status = 200, .line = 1};
    group->items[group->count] = (struct store_item){.batch = NULL};
    err = ingest_read(parcel->who, line, line_size, &group->items[group->count], parcel->answer);
    if (!err && group->items[group->count].batch) {
        group->answers[group->count++] = parcel->answer;
        group->bytes += size;
    }
    return err;
}

static void forget(struct group *group)
{
    for (unsigned i = 0; i < group->count; i++)
        store_item_clear(&group->items[i]);
    group->count = 0;
    group->bytes = 0;
}

/* Into the open transaction, or a new one. */
static int put(struct store *store, struct group *group)
{
    int err = 0;

    if (group->count && !group->begun) {
        err = store_begin(store);
        group->begun = !err;
    }
    if (!err && group->count)
        err = store_put(store, group->items, group->count);
    for (unsigned i = 0; i < group->count && !err; i++)
        err = ingest_note(store, &group->items[i], group->answers[i]);
    forget(group);
    return err;
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
    _cleanup_free_ struct group *group = calloc(1, sizeof(*group));
    int err = group ? 0 : -ENOMEM;

    for (unsigned i = 0; i < count_ && !err; i++) {
        err = read_one(group, &parcels[i], &taken[i]);
        if (!err && group->bytes > READ_MAX)
            err = put(store, group);
    }
    if (!err)
        err = put(store, group);
    if (!err && group->begun)
        err = store_commit(store);
    if (err && group && group->begun)
        store_rollback(store);
    if (group)
        forget(group);
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
