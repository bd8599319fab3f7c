/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/rollup.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "collector/rollup_private.h"
#include "collector/sample_row.h"
#include "lib/array_text.h"
#include "lib/log.h"

#define ROUND_BATCHES 20000 /* and some, since a node's batches stay together; bounds memory */
#define ROWS_MAX      (4u << 20)
#define LOCK          1970168428 /* as in schema.c */

/* A unit is over when it ended so long ago that every agent whose collector answers has sent its batches; what has
   waited for long is not waited for (a clock that is ahead). */
#define OVER "(date_trunc('%s', q.time) + interval '1 %s' + interval '20 s' <= now() " \
             "or q.received <= now() - interval '1 %s' - interval '60 s')"

static const struct rollup_tier tiers[ROLLUP_COUNT] = {
    [ROLLUP_MINUTE] = {"", "_1m", "minute", 60000, "pending_1m", "pending_1h"},
    [ROLLUP_HOUR] = {"_1m", "_1h", "hour", 3600000, "pending_1h", NULL},
};

static int send_to(struct round *round, const char *table, const char *columns)
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
    return send_to(round, name, columns);
}

static int64_t number(const PGresult *result, int row, int column)
{
    return strtoll(PQgetvalue(result, row, column), NULL, 10);
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
    *batches = number(result, 0, 0);
    if (!*batches)
        return 0;
    snprintf(round->where, sizeof(round->where), "%s and q.node_id <= %" PRId64, over, number(result, 0, 1));
    snprintf(round->range, sizeof(round->range),
             "s.node_id between %" PRId64 " and %" PRId64 " and s.batch_id between %" PRId64 " and %" PRId64
             " and s.time between '%s' and '%s'",
             number(result, 0, 2), number(result, 0, 1), number(result, 0, 3), number(result, 0, 4),
             PQgetvalue(result, 0, 5), PQgetvalue(result, 0, 6));
    return 0;
}

static uint32_t group_hash(int64_t node_id, int64_t time_us)
{
    const int64_t key[] = {node_id, time_us};

    return lookup_hash(key, sizeof(key));
}

static const struct rollup_group *find_group(const struct round *round, int64_t node_id, int64_t time_us,
                                             uint32_t *position)
{
    uint32_t hash = group_hash(node_id, time_us), cursor = hash;

    while (lookup_next(&round->group_index, hash, &cursor, position)) {
        const struct rollup_group *group = &round->groups[*position];

        if (group->node_id == node_id && group->time_us == time_us)
            return group;
    }
    return NULL;
}

/* The batches that will be, with ids of their own. */
static int make_groups(struct round *round)
{
    const struct rollup_tier *tier = round->tier;
    _cleanup_result_ PGresult *result = NULL;
    char sql[2048];
    int err;

    snprintf(sql, sizeof(sql),
             "select g.*, nextval('unblend.batch_id') from ("
             "select s.node_id, (extract(epoch from date_trunc('%s', s.time)) * 1000000)::bigint, "
             "(array_agg(s.batch_id order by s.start_ns desc, s.batch_id desc))[1] "
             "from unblend.batch%s as s join unblend.%s as q using (node_id, batch_id) where %s and %s "
             "group by 1, 2) as g",
             tier->unit, tier->from, tier->queue, round->range, round->where);
    err = db_query(round->db, sql, NULL, &result);
    if (err)
        return err;
    round->groups = calloc((size_t)PQntuples(result) + 1, sizeof(*round->groups));
    if (!round->groups)
        return -ENOMEM;
    for (int row = 0; row < PQntuples(result); row++) {
        struct rollup_group *group = &round->groups[row];

        *group = (struct rollup_group){.node_id = number(result, row, 0),
                                       .time_us = number(result, row, 1),
                                       .last_id = number(result, row, 2),
                                       .batch_id = number(result, row, 3)};
        if (lookup_reserve(&round->group_index))
            return -ENOMEM;
        lookup_insert(&round->group_index, group_hash(group->node_id, group->time_us), (uint32_t)row);
        round->group_count++;
    }
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
        group = find_group(round, place.node_id, time_us, &position);
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

/* A column of the groups as an array in text. */
static char *group_array(const struct round *round, int64_t (*column)(const struct rollup_group *group))
{
    _cleanup_free_ int64_t *numbers = calloc(round->group_count + 1, sizeof(*numbers));

    for (uint32_t i = 0; numbers && i < round->group_count; i++)
        numbers[i] = column(&round->groups[i]);
    return numbers ? array_text(numbers, round->group_count) : NULL;
}

static int64_t batch_id_of(const struct rollup_group *group)
{
    return group->batch_id;
}

static int64_t node_id_of(const struct rollup_group *group)
{
    return group->node_id;
}

static int64_t seconds_of(const struct rollup_group *group)
{
    return group->time_us / 1000000;
}

static int64_t records_of(const struct rollup_group *group)
{
    return group->records;
}

static int cover(const struct round *round, const char *ids)
{
    int64_t first_us = INT64_MAX, last_us = INT64_MIN;
    char since[24], until[24];

    for (uint32_t i = 0; i < round->group_count; i++) {
        first_us = MIN(first_us, round->groups[i].time_us);
        last_us = MAX(last_us, round->groups[i].time_us);
    }
    if (!round->group_count)
        return 0;
    snprintf(since, sizeof(since), "%" PRId64, first_us / 1000000);
    snprintf(until, sizeof(until), "%" PRId64, last_us / 1000000);
    return rollup_cover(round->db, ids, since, until);
}

static int write_batches(struct round *round)
{
    /* Of jobs that several batches name: how they ended, as far as one of them knows. */
    static const char sql_format[] =
        "with b as materialized (select s.*, date_trunc('%s', s.time) as unit from unblend.batch%s as s "
        "join unblend.%s as q using (node_id, batch_id) where %s and %s), "
        "j as (select node_id, unit, job_id, max(end_ns) as end_ns, max(exit) as exit, "
        "case when count(watched) > 0 then least(sum(watched), 9e18)::bigint end as watched, "
        "case when count(exposed) > 0 then least(sum(exposed), 9e18)::bigint end as exposed from b, "
        "unnest(b.job_ids, b.job_end_ns, b.job_exit, b.job_watched_ns, b.job_exposed_ns) "
        "as u (job_id, end_ns, exit, watched, exposed) "
        "where job_id is not null group by 1, 2, 3), "
        "jobs as (select node_id, unit, array_agg(job_id order by job_id) as ids, "
        "array_agg(end_ns order by job_id) as ends, array_agg(exit order by job_id) as exits, "
        "bool_or(end_ns is not null or exit is not null) as ended, "
        "array_agg(watched order by job_id) as watched, array_agg(exposed order by job_id) as exposed, "
        "bool_or(watched is not null) as looked from j group by 1, 2), "
        "volumes as (select node_id, unit, array_agg(distinct volume_id) as ids from b, "
        "unnest(b.volume_ids) as u (volume_id) group by 1, 2), "
        "g as (select * from unnest($1::bigint[], $2::integer[], $3::bigint[], $4::integer[]) "
        "as g (batch_id, node_id, seconds, records)), "
        "summed as (select node_id, unit, (array_agg(stream_id order by start_ns desc))[1] as stream_id, "
        "(array_agg(seq order by start_ns desc))[1] as seq, "
        "(array_agg(host_id order by start_ns desc))[1] as host_id, min(start_ns) as start_ns, "
        "least(sum(duration_ns), 9e18)::bigint as duration_ns, least(sum(lost), 9e18)::bigint as lost, "
        "least(sum(killed), 9e18)::bigint as killed, "
        "(array_agg(in_flight order by start_ns desc))[1] as in_flight, "
        "least(sum(unattributed), 9e18)::bigint as unattributed, "
        "least(sum(overflow), 9e18)::bigint as overflow, max(received) as received, "
        "array[least(sum(shed_ms[1]), 9e18), least(sum(shed_ms[2]), 9e18), "
        "least(sum(shed_ms[3]), 9e18)]::bigint[] as shed_ms, "
        "case when bool_and(io_some_ns is not null) then least(sum(io_some_ns), 9e18)::bigint end as io_some_ns, "
        "case when bool_and(io_full_ns is not null) then least(sum(io_full_ns), 9e18)::bigint end as io_full_ns "
        "from b group by 1, 2) "
        "insert into unblend.batch%s (time, batch_id, node_id, stream_id, seq, host_id, start_ns, "
        "duration_ns, interval_ms, lost, killed, in_flight, unattributed, overflow, records, job_ids, "
        "job_end_ns, job_exit, volume_ids, shed_ms, io_some_ns, io_full_ns, received, "
        "job_watched_ns, job_exposed_ns) "
        "select s.unit, g.batch_id, s.node_id, stream_id, seq, host_id, start_ns, duration_ns, %" PRId64
        ", lost, killed, in_flight, unattributed, overflow, g.records, coalesce(jobs.ids, '{}'), "
        "case when jobs.ended then jobs.ends end, case when jobs.ended then jobs.exits end, "
        "coalesce(volumes.ids, '{}'), shed_ms, io_some_ns, io_full_ns, s.received, "
        "case when jobs.looked then jobs.watched end, case when jobs.looked then jobs.exposed end from summed as s "
        "join g on g.node_id = s.node_id and g.seconds = extract(epoch from s.unit) "
        "left join jobs on jobs.node_id = s.node_id and jobs.unit = s.unit "
        "left join volumes on volumes.node_id = s.node_id and volumes.unit = s.unit";
    const struct rollup_tier *tier = round->tier;
    _cleanup_free_ char *ids = group_array(round, batch_id_of), *nodes = group_array(round, node_id_of);
    _cleanup_free_ char *seconds = group_array(round, seconds_of), *records = group_array(round, records_of);
    struct db_args args = {.count = 0};
    char sql[6000];
    int err;

    if (!ids || !nodes || !seconds || !records)
        return -ENOMEM;
    snprintf(sql, sizeof(sql), sql_format, tier->unit, tier->from, tier->queue, round->range, round->where, tier->to,
             tier->unit_ms);
    db_text(&args, ids);
    db_text(&args, nodes);
    db_text(&args, seconds);
    db_text(&args, records);
    err = db_query(round->db, sql, &args, NULL);
    for (uint32_t i = 0; i < round->group_count && tier->next_queue && !err; i++) {
        copy_row(&round->rows, 3);
        copy_time(&round->rows, round->groups[i].time_us * 1000);
        copy_int8(&round->rows, round->groups[i].batch_id);
        copy_int4(&round->rows, (int32_t)round->groups[i].node_id);
    }
    if (!err && !tier->next_queue)
        err = cover(round, ids);
    /* the queue's name does not end with this tier's */
    return !err && tier->next_queue ? send_to(round, tier->next_queue, "time, batch_id, node_id") : err;
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
    err = make_groups(round);
    if (!err)
        err = read_samples(round);
    if (!err)
        err = write_samples(round);
    if (!err)
        err = rollup_totals(round);
    if (!err)
        err = write_batches(round);
    return err ? err : take(round);
}

/* Locks are of the session: taken before the transaction, so that its picture has what the collector before us has
   committed. */
static int lock(struct db *db, const char *function, enum rollup rollup, bool *mine)
{
    _cleanup_result_ PGresult *result = NULL;
    char sql[128];
    int err;

    snprintf(sql, sizeof(sql), "select %s(%d, %d)::int", function, LOCK, 16 + (int)rollup);
    err = db_query(db, sql, NULL, &result);
    if (!err)
        *mine = number(result, 0, 0);
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
