/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/upkeep.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collector/rollup.h"
#include "collector/schema.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/thread.h"

#define LOOK_S       5
#define PARTITIONS_S 600
#define RETENTION_S  60
#define REPEAT_S     3600 /* what goes on is said again */

struct upkeep {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ending_now;
    bool ending;
    const char *conninfo;
    struct retention retention;
    struct db db;
    int64_t partitions_at, retention_at, said_at, full_said_at; /* monotonic ms; 0: at once */
};

static bool ended(struct upkeep *upkeep, unsigned seconds)
{
    struct timespec until;
    bool ending;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += seconds;
    pthread_mutex_lock(&upkeep->lock);
    while (!upkeep->ending &&
           (!seconds || pthread_cond_timedwait(&upkeep->ending_now, &upkeep->lock, &until) != ETIMEDOUT))
        if (!seconds)
            break;
    ending = upkeep->ending;
    pthread_mutex_unlock(&upkeep->lock);
    return ending;
}

/* Rounds until nothing is ready, or the collector ends. */
static int roll_up(struct upkeep *upkeep)
{
    int err = 0;

    for (enum rollup rollup = 0; rollup < ROLLUP_COUNT && !err; rollup++) {
        int64_t batches;

        do
            err = rollup_round(&upkeep->db, rollup, false, &batches);
        while (!err && batches && !ended(upkeep, 0));
    }
    return err == -EDEADLK ? 0 : err; /* lost against another collector: next time */
}

static void note_full(struct upkeep *upkeep, const struct retention_done *done, int64_t now)
{
    if (!done->full) {
        upkeep->full_said_at = 0;
        return;
    }
    if (upkeep->full_said_at && now - upkeep->full_said_at < REPEAT_S * 1000)
        return;
    upkeep->full_said_at = now;
    log_warning("the database has %llu MiB of --max-db-size %llu MiB, and nothing may be dropped but what is new, kept "
                "or read: give it more, or release what keep has pinned",
                (unsigned long long)(done->bytes >> 20), (unsigned long long)(upkeep->retention.max_bytes >> 20));
}

static int look(struct upkeep *upkeep)
{
    int64_t now = monotonic_ms();
    struct retention_done done;
    int err = db_connect(&upkeep->db, upkeep->conninfo);

    if (!err)
        err = schema_check(&upkeep->db);
    if (err)
        return err == -ENOENT ? -EAGAIN : err; /* said by whoever serves */
    /* Rollups first: a role that may write need not own the tables. */
    err = roll_up(upkeep);
    if (!err && now >= upkeep->partitions_at) {
        err = partition_make(&upkeep->db, upkeep->retention.keep_ns, false);
        if (!err)
            upkeep->partitions_at = now + PARTITIONS_S * 1000;
    }
    if (!err && now >= upkeep->retention_at) {
        err = retention_apply(&upkeep->db, &upkeep->retention, &done);
        if (!err) {
            upkeep->retention_at = now + RETENTION_S * 1000;
            note_full(upkeep, &done, now);
        }
    }
    return err;
}

static void *work(void *context)
{
    struct upkeep *upkeep = context;

    do {
        int err = look(upkeep);
        int64_t now = monotonic_ms();

        if (err && err != -EAGAIN && (!upkeep->said_at || now - upkeep->said_at > REPEAT_S * 1000)) {
            log_warning("cannot look after the database: %s: %s", err == -ENOMEM ? log_errno(err) : upkeep->db.why,
                        err == -EACCES ? "run unblend-collector prune now and then as its owner"
                                       : "until that is mended nothing is summed up or dropped");
            upkeep->said_at = now;
        } else if (!err) {
            upkeep->said_at = 0;
        }
    } while (!ended(upkeep, LOOK_S));
    db_close(&upkeep->db);
    return NULL;
}

int upkeep_start(const char *conninfo, const struct retention *retention, struct upkeep **out)
{
    struct upkeep *upkeep = calloc(1, sizeof(*upkeep));
    int err;

    if (!upkeep)
        return -ENOMEM;
    upkeep->conninfo = conninfo;
    upkeep->retention = *retention;
    pthread_mutex_init(&upkeep->lock, NULL);
    thread_condition(&upkeep->ending_now);
    err = thread_start(&upkeep->thread, work, upkeep);
    if (err) {
        free(upkeep);
        return err;
    }
    *out = upkeep;
    return 0;
}

void upkeep_stop(struct upkeep *upkeep)
{
    if (!upkeep)
        return;
    pthread_mutex_lock(&upkeep->lock);
    upkeep->ending = true;
    pthread_cond_signal(&upkeep->ending_now);
    pthread_mutex_unlock(&upkeep->lock);
    pthread_join(upkeep->thread, NULL);
    pthread_cond_destroy(&upkeep->ending_now);
    pthread_mutex_destroy(&upkeep->lock);
    free(upkeep);
}

int upkeep_once(struct db *db, const struct retention *retention, int64_t *batches, struct retention_done *done)
{
    int err = partition_make(db, retention->keep_ns, false);

    if (!err)
        err = rollup_all(db, false, batches);
    return err ? err : retention_apply(db, retention, done);
}
