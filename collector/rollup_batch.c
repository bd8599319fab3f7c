/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The batches of a coarser tier: one for each node and unit of time, of all that the finer tier has of it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/param.h>

#include "collector/rollup_private.h"
#include "lib/array_text.h"

static uint32_t group_hash(int64_t node_id, int64_t time_us)
{
    const int64_t key[] = {node_id, time_us};

    return lookup_hash(key, sizeof(key));
}

const struct rollup_group *rollup_find_group(const struct round *round, int64_t node_id, int64_t time_us,
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

int rollup_make_groups(struct round *round)
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

        *group = (struct rollup_group){.node_id = result_number(result, row, 0),
                                       .time_us = result_number(result, row, 1),
                                       .last_id = result_number(result, row, 2),
                                       .batch_id = result_number(result, row, 3)};
        if (lookup_reserve(&round->group_index))
            return -ENOMEM;
        lookup_insert(&round->group_index, group_hash(group->node_id, group->time_us), (uint32_t)row);
        round->group_count++;
    }
    return 0;
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

int rollup_write_batches(struct round *round)
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
    return !err && tier->next_queue ? rollup_send_to(round, tier->next_queue, "time, batch_id, node_id") : err;
}
