/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/together.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "collector/group.h"
#include "collector/metrics.h"
#include "lib/cleanup.h"
#include "lib/clock.h"

#define PLAIN_SMALL (2u << 20)
#define LINES_MAX   1024 /* in a transaction, and the rest of a body: nobody waits long for an answer */

/*
 * All of a body's lines, or none. *lines stays 0 for what has to go by itself: what is large, and bodies of many lines
 * of which one is refused, as they are undone as a whole.
 */
static int read_lines(struct group *group, const struct parcel *parcel, const char *text, size_t size, unsigned *lines)
{
    const unsigned before = group->count;
    struct answer *answer = parcel->answer;
    unsigned number = 0, filled = 0;
    bool room = true;
    const char *line;
    size_t at = 0, line_size;
    int err = 0;

    *answer = (struct answer){.status = 200};
    while (!err && room && answer->status == 200 && ingest_line(text, size, &at, &line, &line_size)) {
        number++;
        if (!line_size)
            continue;
        filled++;
        answer->line = number;
        room = !group_is_full(group);
        if (room)
            err = group_read(group, parcel->who, line, line_size, answer);
    }
    if (!err && room && (answer->status == 200 || (number == 1 && at >= size)))
        *lines = filled;
    else
        group_cut(group, before);
    return err;
}

static int read_one(struct store *store, struct group *group, const struct parcel *parcel, unsigned *lines)
{
    _cleanup_free_ void *plain = NULL;
    size_t size;
    int err;

    if (parcel->size > TOGETHER_SIZE ||
        decompress(parcel->encoding, parcel->body, parcel->size, PLAIN_SMALL, &plain, &size))
        return 0;
    err = read_lines(group, parcel, plain, size, lines);
    if (err || *lines || !group->count)
        return err;
    err = group_put(store, group); /* perhaps there was no room left for it */
    return err ? err : read_lines(group, parcel, plain, size, lines);
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

/* Whether a body of many lines has one that the store refuses. */
static bool has_halves(const struct parcel *parcels, unsigned count_, const unsigned *lines)
{
    for (unsigned i = 0; i < count_; i++)
        if (lines[i] > 1 && parcels[i].answer->status != 200)
            return true;
    return false;
}

/* One transaction for the first of them; lines tells how many are in it of each, *done how many were looked at. 0, or
   what the store says: then nothing of it is known to be stored. */
static int put_all(struct store *store, const struct parcel *parcels, unsigned count_, unsigned *lines, unsigned *done)
{
    _cleanup_free_ struct group *group = calloc(1, sizeof(*group));
    int err = group ? 0 : -ENOMEM;

    for (*done = 0; *done < count_ && !err && group->lines_put + group->count < LINES_MAX; ++*done)
        err = read_one(store, group, &parcels[*done], &lines[*done]);
    if (!err)
        err = group_put(store, group);
    if (!err && has_halves(parcels, *done, lines))
        err = -EDEADLK;
    if (!err && group->begun)
        err = store_commit(store);
    if (err && group && group->begun)
        store_rollback(store);
    if (group)
        group_clear(group);
    return err;
}

static unsigned put_some(struct store *store, const struct parcel *parcels, unsigned count_)
{
    unsigned lines[TOGETHER_MAX] = {0};
    int64_t start = monotonic_ns();
    unsigned done = 1;
    int err = count_ > 1 ? put_all(store, parcels, count_, lines, &done) : -EDEADLK;
    bool away = err == -EAGAIN || err == -ENOENT;

    if (away || !done)
        done = count_;
    for (unsigned i = 0; i < done; i++) {
        const struct parcel *parcel = &parcels[i];

        if (away)
            ingest_refuse(store, err, parcel->answer);
        else if (err || !lines[i])
            ingest(store, parcel->who, parcel->encoding, parcel->body, parcel->size, parcel->answer);
        else
            count(parcel, start);
    }
    return done;
}

void ingest_together(struct store *store, const struct parcel *parcels, unsigned count_)
{
    while (count_) {
        unsigned done = put_some(store, parcels, count_);

        parcels += done;
        count_ -= done;
    }
}
