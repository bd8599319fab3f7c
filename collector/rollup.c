/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/rollup.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/locks.h"
#include "collector/rollup_private.h"
#include "collector/sample_row.h"
#include "lib/log.h"

#define ROUND_BATCHES 20000 /* and some, since a node's batches stay together; bounds memory */
#define ROWS_MAX      (4u << 20)

/* A unit is over when it ended so long ago that every agent whose collector answers has sent its batches; what has
   waited for long is not waited for (a clock that is ahead). */
#define OVER "(date_trunc('%s', q.time) + interval '1 %s' + interval '20 s' <= now() " \
             "or q.received <= now() - interval '1 %s' - interval '60 s')"

static const struct rollup_tier tiers[ROLLUP_COUNT] = {
    [ROLLUP_MINUTE] = {"", "_1m", "minute", 60000, "pending_1m", "pending_1h"},
    [ROLLUP_HOUR] = {"_1m", "_1h", "hour", 3600000, "pending_1h", NULL},
};

int rollup_send_to(struct round *round, const char *table, const char *columns)
{
    char sql[1024];
    int err = copy_end(&round->rows);

    snprintf(sql, sizeof(sql), "copy unblend.%s (%s) from stdin (format binary)", table, columns);
    if (!err)
        err = db_copy(round->db, sql, round->rows.data, round->rows.size);
    copy_reset(&round->rows);
    return err;
}

int rollup_send(struct round *round, const char *table, const char *columns, bool end)
{
    char name[64];

    if (!round->rows.size || (!end && round->rows.size < ROWS_MAX))
        return 0;
    snprintf(name, sizeof(name), "%s%s", table, round->tier->to);
    return rollup_send_to(round, name, columns);
}

/* Which batches: whole nodes, in the order of their numbers. */
static int choose(struct round *round, bool all, int64_t *batches)
{
    const struct rollup_tier *tier = round->tier;
    _cleanup_result_ PGresult *result = NULL;
    char over[256] = "true", sql[1400];
    int err;

    if (!all)
        snprintf(over, sizeof(over), OVER, tier->unit, tier->unit, tier->unit);
    snprintf(sql, sizeof(sql),
             "with ready as (select q.node_id, q.batch_id, q.time from unblend.%s as q where %s), "
             "nodes as (select node_id, sum(count(*)) over (order by node_id) - count(*) as before "
             "from ready group by node_id) "
             "select count(*), max(node_id), min(node_id), min(batch_id), max(batch_id), min(time), max(time) "
             "from ready join nodes using (node_id) where before < %d",
             tier->queue, over, ROUND_BATCHES);
    err = db_query(round->db, sql, NULL, &result);
    if (err)
        return err;
    *batches = result_number(result, 0, 0);
    if (!*batches)
        return 0;
    snprintf(round->where, sizeof(round->where), "%s and q.node_id <= %" PRId64, over, result_number(result, 0, 1));
    snprintf(round->range, sizeof(round->range),
             "s.node_id between %" PRId64 " and %" PRId64 " and s.batch_id between %" PRId64 " and %" PRId64
             " and s.time between '%s' and '%s'",
             result_number(result, 0, 2), result_number(result, 0, 1), result_number(result, 0, 3),
             result_number(result, 0, 4), PQgetvalue(result, 0, 5), PQgetvalue(result, 0, 6));
    return 0;
}

static int add_row(struct round *round, const PGresult *rows, int row)
{
    const int64_t unit_us = round->tier->unit_ms * 1000;
    struct record record = {.op = OP_NONE};
    const struct rollup_group *group;
    struct sample_place place;
    struct rolled_key key;
    uint32_t position;
    int err = sample_row_read(rows, row, &place, &record);

    if (!err) {
        int64_t time_us = place.time_ns / 1000;

        time_us -= (time_us % unit_us + unit_us) % unit_us;
        group = rollup_find_group(round, place.node_id, time_us, &position);
        if (!group) /* its batch is not there: neither can be read */
            goto out;
        if (group->last_id != place.batch_id)
            record.in_flight = record.oldest_ns = record.in_flight_ns = 0;
        key = (struct rolled_key){position, place.job_id, place.volume_id, record.op};
        err = rolled_add(&round->series, &key, &record);
    } else if (err == -EBADMSG) {
        log_error("rollup: a row of batch %" PRId64 " cannot be read and is left out: restore it from a backup",
                  place.batch_id);
        err = 0;
    }
out:
    record_clear(&record);
    return err;
}

static int read_samples(struct round *round)
{
    const struct rollup_tier *tier = round->tier;
    char sql[2048];
    int err;

    snprintf(sql, sizeof(sql),
             "declare rolled binary cursor for select " SAMPLE_COLUMNS_OF_S " from unblend.sample%s as s "
             "join unblend.%s as q using (node_id, batch_id) where %s and %s",
             tier->from, tier->queue, round->range, round->where);
    err = db_run(round->db, sql);
    while (!err) {
        _cleanup_result_ PGresult *rows = NULL;

        err = db_fetch(round->db, "fetch forward 5000 from rolled", &rows);
        if (err || !PQntuples(rows))
            break;
        for (int row = 0; row < PQntuples(rows) && !err; row++)
            err = add_row(round, rows, row);
    }
    return err;
}

static int write_samples(struct round *round)
{
    int err = 0;

    for (uint32_t i = 0; i < round->series.count && !err; i++) {
        const struct rolled_series *series = &round->series.series[i];
        struct rollup_group *group = &round->groups[series->key.group];
        const struct sample_place place = {
            .time_ns = group->time_us * 1000,
            .batch_id = group->batch_id,
            .job_id = series->key.job,
            .volume_id = series->key.volume,
            .node_id = group->node_id,
            .position = group->records++,
        };

        err = sample_row_add(&round->rows, &place, &series->record);
        if (!err)
            err = rollup_send(round, "sample", SAMPLE_COLUMNS, false);
    }
    return err ? err : rollup_send(round, "sample", SAMPLE_COLUMNS, true);
}

static int take(struct round *round)
{
    char sql[1024];

    snprintf(sql, sizeof(sql), "delete from unblend.%s as q where %s", round->tier->queue, round->where);
    return db_run(round->db, sql);
}

static int make(struct round *round, bool all, int64_t *batches)
{
    int err = choose(round, all, batches);

    if (err || !*batches)
        return err;
    err = rollup_make_groups(round);
    if (!err)
        err = read_samples(round);
    if (!err)
        err = write_samples(round);
    if (!err)
        err = rollup_totals(round);
    if (!err)
        err = rollup_write_batches(round);
    return err ? err : take(round);
}

/* Locks are of the session: taken before the transaction, so that its picture has what the collector before us has
   committed. */
static int lock(struct db *db, const char *function, enum rollup rollup, bool *mine)
{
    _cleanup_result_ PGresult *result = NULL;
    char sql[128];
    int err;

    snprintf(sql, sizeof(sql), "select %s(" LOCKS ", %d)::int", function, 16 + (int)rollup);
    err = db_query(db, sql, NULL, &result);
    if (!err)
        *mine = result_number(result, 0, 0);
    return err;
}

int rollup_round(struct db *db, enum rollup rollup, bool all, int64_t *batches)
{
    struct round round = {.db = db, .tier = &tiers[rollup]};
    int64_t count = 0;
    bool mine = false;
    int err = lock(db, "pg_try_advisory_lock", rollup, &mine);

    if (!err && !mine)
        *batches = 0;
    if (err || !mine)
        return err;
    /* One picture: what is taken is what was read. Tables of which PostgreSQL does not know yet how full they are look
       small to it: it must not look for each row of the one in all of the other, which takes minutes. */
    err = db_run(db, "begin isolation level repeatable read; set local enable_nestloop = off; "
                     "set local cursor_tuple_fraction = 1; set local jit = off");
    if (!err)
        err = make(&round, all, &count);
    if (!err)
        err = db_run(db, "commit");
    if (err && db->conn) {
        char why[sizeof(db->why)];

        memcpy(why, db->why, sizeof(why));
        if (db_run(db, "rollback"))
            db_close(db);
        if (db->conn && lock(db, "pg_advisory_unlock", rollup, &mine))
            db_close(db);
        memcpy(db->why, why, sizeof(why));
    } else if (!err) {
        err = lock(db, "pg_advisory_unlock", rollup, &mine);
    }
    free(round.groups);
    lookup_clear(&round.group_index);
    rolled_clear(&round.series);
    copy_clear(&round.rows);
    if (!err)
        *batches = count;
    return err;
}

int rollup_all(struct db *db, bool all, int64_t *batches)
{
    int64_t sum = 0;
    int err = 0;

    for (enum rollup rollup = 0; rollup < ROLLUP_COUNT && !err; rollup++) {
        int64_t count;

        do {
            err = rollup_round(db, rollup, all, &count);
            if (!err && rollup == ROLLUP_MINUTE)
                sum += count;
        } while (!err && count);
    }
    if (!err)
        *batches = sum;
    return err;
}
