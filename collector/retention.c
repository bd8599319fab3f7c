/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/retention.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/locks.h"
#include "lib/log.h"

/* Space is made before it runs out: from so many percent of the limit on. */
#define NEARLY_FULL 95

struct piece {
    enum tier tier;
    const char *suffix, *since, *until;
};

static void undo(struct db *db)
{
    char why[sizeof(db->why)];

    if (!db->conn)
        return;
    memcpy(why, db->why, sizeof(why));
    if (db_run(db, "rollback"))
        db_close(db);
    memcpy(db->why, why, sizeof(why));
}

/* Whether rows of the piece wait for their rollup. */
static int has_pending(struct db *db, const struct piece *piece, bool *pending)
{
    _cleanup_result_ PGresult *result = NULL;
    char sql[256];
    int err;

    *pending = false;
    if (!partition_queue[piece->tier])
        return 0;
    snprintf(sql, sizeof(sql), "select exists (select from unblend.%s where time >= '%s' and time < '%s')",
             partition_queue[piece->tier], piece->since, piece->until);
    err = db_query(db, sql, NULL, &result);
    if (!err)
        *pending = *PQgetvalue(result, 0, 0) == 't';
    return err;
}

static int drop_tables(struct db *db, const struct piece *piece)
{
    char sql[512];
    int err = 0;

    for (const char *const *table = partition_tables[piece->tier]; *table && !err; table++) {
        snprintf(sql, sizeof(sql), "drop table if exists unblend.%s_%s", *table, piece->suffix);
        err = db_run(db, sql);
    }
    if (err)
        return err;
    snprintf(sql, sizeof(sql), "update unblend.tier set since = greatest(since, '%s') where tier = '%s'", piece->until,
             partition_tier[piece->tier]);
    return db_run(db, sql);
}

/* Dropping takes the tables for itself, for a moment: it does not wait long for readers, since everybody who comes
   later waits behind it. *dropped is false when it must wait. */
static int drop_piece(struct db *db, const struct piece *piece, bool *dropped)
{
    bool pending = false;
    int err = has_pending(db, piece, &pending);

    *dropped = false;
    if (err || pending)
        return err;
    err = db_run(db, "begin; set local lock_timeout = '2s'");
    for (const char *const *table = partition_tables[piece->tier]; *table && !err; table++) {
        char sql[128];

        snprintf(sql, sizeof(sql), "lock table unblend.%s in access exclusive mode", *table);
        err = db_run(db, sql);
    }
    if (!err) /* again: now nobody adds any */
        err = has_pending(db, piece, &pending);
    if (!err && !pending)
        err = drop_tables(db, piece);
    if (!err && !pending) {
        err = db_run(db, "commit");
        *dropped = !err;
    } else {
        undo(db);
    }
    return err == -EAGAIN && db->conn ? 0 : err; /* in the first case somebody has the lock */
}

/* Pieces of a tier that may go, oldest first: suffix, since, until, and whether it is too old. */
static int candidates(struct db *db, enum tier tier, uint64_t keep_ns, PGresult **out)
{
    char sql[1536];

    snprintf(sql, sizeof(sql),
             "select suffix, since, until, until <= now() - %" PRIu64 " * interval '1 s' as old from (%s) as p "
             "where until <= now() and not (%s and exists (select from unblend.kept as k "
             "where k.since < p.until and k.until > p.since)) order by since",
             keep_ns / 1000000000, partition_list(tier), tier == TIER_RAW ? "true" : "false");
    return db_query(db, sql, NULL, out);
}

static void say(const struct piece *piece, const char *why)
{
    log_info("dropped the %s rows from %s to %s: %s", partition_tier[piece->tier], piece->since, piece->until, why);
}

static struct piece piece_at(const PGresult *list, int row, enum tier tier)
{
    return (struct piece){tier, PQgetvalue(list, row, 0), PQgetvalue(list, row, 1), PQgetvalue(list, row, 2)};
}

static int drop_old(struct db *db, enum tier tier, uint64_t keep_ns, struct retention_done *done)
{
    _cleanup_result_ PGresult *list = NULL;
    int err = candidates(db, tier, keep_ns, &list);

    for (int row = 0; !err && row < PQntuples(list); row++) {
        struct piece piece = piece_at(list, row, tier);
        bool dropped;

        if (*PQgetvalue(list, row, 3) != 't')
            break;
        err = drop_piece(db, &piece, &dropped);
        if (!err && dropped)
            say(&piece, "older than they are kept");
        done->dropped += !err && dropped;
        done->waiting += !err && !dropped;
    }
    return err;
}

/* Until when rows of the default partitions may go, as text, and which batches b of them are not kept. */
static int late_bounds(struct db *db, enum tier tier, char until[64], char *unkept, size_t size)
{
    _cleanup_result_ PGresult *result = NULL;
    char sql[512];
    int err;

    snprintf(sql, sizeof(sql),
             "select (select since from unblend.tier where tier = '%s'), coalesce((select string_agg("
             "format('not (b.time >= %%L and b.time < %%L)', since, until), ' and ') from unblend.kept), 'true')",
             partition_tier[tier]);
    err = db_query(db, sql, NULL, &result);
    if (err)
        return err;
    snprintf(until, 64, "%s", PQgetvalue(result, 0, 0));
    /* more pins than there is room for: then nothing goes */
    if ((size_t)snprintf(unkept, size, "%s", tier == TIER_RAW ? PQgetvalue(result, 0, 1) : "true") >= size)
        snprintf(unkept, size, "false");
    return 0;
}

/* Rows in the default partitions whose time is over: came late for it, and were kept since then for as long. Joins go
   by node_id, and what is looked up elsewhere stands as text, so that this works on distributed tables, too. */
static int drop_late(struct db *db, enum tier tier, uint64_t keep_ns)
{
    const char *batches = partition_tables[tier][0];
    char until[64], unkept[2048], late[3072], sql[4096];
    int err = late_bounds(db, tier, until, unkept, sizeof(unkept));

    if (err)
        return err;
    snprintf(late, sizeof(late),
             "b.time < '%s' and b.received < now() - %" PRIu64 " * interval '1 s' and %s%s", until,
             keep_ns / 1000000000, unkept,
             tier == TIER_RAW ? " and not exists (select from unblend.pending_1m as q "
                                "where q.node_id = b.node_id and q.batch_id = b.batch_id)"
                              : "");
    for (const char *const *table = partition_tables[tier] + 1; *table && !err; table++) {
        if (strncmp(*table, "sample", 6) == 0 || strcmp(*table, "flow") == 0)
            snprintf(sql, sizeof(sql),
                     "delete from unblend.%s_default as s using unblend.%s_default as b "
                     "where s.node_id = b.node_id and s.batch_id = b.batch_id and %s",
                     *table, batches, late);
        else
            snprintf(sql, sizeof(sql), "delete from unblend.%s_default where time < '%s'", *table, until);
        err = db_run(db, sql);
    }
    if (err)
        return err;
    snprintf(sql, sizeof(sql), "delete from unblend.%s_default as b where %s", batches, late);
    return db_run(db, sql);
}

static int measure(struct db *db, uint64_t *bytes)
{
    _cleanup_result_ PGresult *result = NULL;
    int err = db_query(db, "select pg_database_size(current_database())", NULL, &result);

    if (!err)
        *bytes = (uint64_t)result_number(result, 0, 0);
    return err;
}

/* The oldest raw piece that may go, then the oldest minutes; again until there is room. */
static int make_room(struct db *db, const struct retention *retention, struct retention_done *done)
{
    const uint64_t limit = retention->max_bytes / 100 * NEARLY_FULL;
    int err = measure(db, &done->bytes);

    for (enum tier tier = TIER_RAW; tier <= TIER_MINUTE && !err && done->bytes > limit; tier++) {
        _cleanup_result_ PGresult *list = NULL;

        err = candidates(db, tier, 0, &list);
        for (int row = 0; !err && done->bytes > limit && row < PQntuples(list); row++) {
            struct piece piece = piece_at(list, row, tier);
            bool dropped;

            err = drop_piece(db, &piece, &dropped);
            done->dropped += !err && dropped;
            done->waiting += !err && !dropped;
            if (err || !dropped)
                continue;
            log_warning("dropped the %s rows from %s to %s: the database had %" PRIu64 " MiB of --max-db-size %" PRIu64
                        " MiB",
                        partition_tier[tier], piece.since, piece.until, done->bytes >> 20, retention->max_bytes >> 20);
            err = measure(db, &done->bytes);
        }
    }
    done->full = !err && done->bytes > limit;
    return err;
}

static int apply(struct db *db, const struct retention *retention, struct retention_done *done)
{
    int err = 0;

    for (enum tier tier = 0; tier < TIER_COUNT && !err; tier++) {
        err = drop_old(db, tier, retention->keep_ns[tier], done);
        if (!err)
            err = drop_late(db, tier, retention->keep_ns[tier]);
    }
    if (!err && retention->max_bytes)
        err = make_room(db, retention, done);
    else if (!err)
        err = measure(db, &done->bytes);
    return err;
}

int retention_apply(struct db *db, const struct retention *retention, struct retention_done *done)
{
    _cleanup_result_ PGresult *mine = NULL;
    int err = db_query(db, "select pg_try_advisory_lock(" LOCK_DROPPED ")", NULL, &mine);

    *done = (struct retention_done){.dropped = 0};
    if (err || *PQgetvalue(mine, 0, 0) != 't')
        return err;
    err = apply(db, retention, done);
    if (!err)
        err = db_run(db, "select pg_advisory_unlock(" LOCK_DROPPED ")");
    if (err && db->conn)
        db_close(db); /* and with it the lock */
    return err;
}
