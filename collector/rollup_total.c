/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collector/rollup_private.h"
#include "lib/array_text.h"
#include "lib/order.h"

/* What each series counts for: its cluster, node, job and volume, as subjects of their own. */

enum { OF_CLUSTER, OF_NODE, OF_JOB, OF_VOLUME, KINDS };

/* Names are in an index, whose rows have a limit: what was let in when names had none is summed up under its beginning
   and a hash of all of it. Of UTF-8, 400 characters have 1,600 bytes at most. */
#define SUBJECT_NAME(name)                                                                                             \
    "case when octet_length(" name ") <= 2000 then " name " else left(" name ", 400) || '...' || md5(" name ") end"

#define INT2_OID 21
#define INT8_OID 20

struct subject {
    int64_t id, subject_id; /* of a node, job or volume, and what it is summed up under */
};

struct subjects {
    struct subject *list[KINDS]; /* by id */
    size_t count[KINDS];
};

#define TOTAL_COLUMNS                                                                              \
    "time, subject_id, op, ops, bytes, errors, latency_sum_ns, sequential, consecutive, random, "  \
    "size_buckets, size_counts, latency_buckets, latency_counts"
#define DEMAND_COLUMNS                                                                             \
    "time, subject_id, read_ops, write_ops, metadata_ops, other_ops, read_bytes, write_bytes, "    \
    "errors, data_latency_ns, metadata_latency_ns"

/* The different ids of one kind, as SQL takes them; malloc'ed. */
static char *distinct(const struct round *round, unsigned kind)
{
    _cleanup_free_ int64_t *ids = calloc(round->series.count + 1, sizeof(*ids));
    size_t kept = 0;

    if (!ids)
        return NULL;
    for (uint32_t i = 0; i < round->series.count; i++) {
        const struct rolled_key *key = &round->series.series[i].key;

        ids[i] = kind == OF_JOB ? key->job : kind == OF_VOLUME ? key->volume : round->groups[key->group].node_id;
    }
    qsort(ids, round->series.count, sizeof(*ids), order_int64);
    for (uint32_t i = 0; i < round->series.count; i++)
        if (!kept || ids[i] != ids[kept - 1])
            ids[kept++] = ids[i];
    return array_text(ids, kept);
}

static void subjects_clear(struct subjects *subjects)
{
    for (unsigned kind = 0; kind < KINDS; kind++)
        free(subjects->list[kind]);
}

/* *all is false when some have no subject yet. */
static int find_subjects(struct round *round, const struct db_args *args, struct subjects *subjects, bool *all)
{
    static const char sql[] =
        "select w.kind, w.id, s.subject_id from ("
        "select 0 as kind, node_id::bigint as id, 'cluster' as subject, cluster, '' as name from unblend.node "
        "where node_id = any($1::integer[]) union all "
        "select 1, node_id, 'node', cluster, node from unblend.node where node_id = any($1::integer[]) union all "
        "select 2, j.job_id, 'job', n.cluster, " SUBJECT_NAME("j.job") " from unblend.job as j "
        "join unblend.node as n using (node_id) "
        "where j.job_id = any($2::bigint[]) union all "
        "select 3, v.volume_id, 'volume', n.cluster, " SUBJECT_NAME("v.volume") " from unblend.volume as v "
        "join unblend.node as n using (node_id) where v.volume_id = any($3::bigint[])) as w "
        "left join unblend.subject as s using (subject, cluster, name) order by w.id";
    _cleanup_result_ PGresult *result = NULL;
    int err = db_query(round->db, sql, args, &result);

    if (err)
        return err;
    *all = true;
    for (unsigned kind = 0; kind < KINDS; kind++) {
        free(subjects->list[kind]);
        subjects->list[kind] = calloc((size_t)PQntuples(result) + 1, sizeof(**subjects->list));
        subjects->count[kind] = 0;
        if (!subjects->list[kind])
            return -ENOMEM;
    }
    for (int row = 0; row < PQntuples(result); row++) {
        unsigned kind = (unsigned)result_number(result, row, 0) % KINDS;

        subjects->list[kind][subjects->count[kind]++] =
            (struct subject){result_number(result, row, 1),
                             result_number(result, row, 2)};
        *all = *all && !PQgetisnull(result, row, 2);
    }
    return 0;
}

static int get_subjects(struct round *round, struct subjects *subjects)
{
    static const char add[] =
        "insert into unblend.subject (subject, cluster, name) "
        "select 'cluster', cluster, '' from unblend.node where node_id = any($1::integer[]) union "
        "select 'node', cluster, node from unblend.node where node_id = any($1::integer[]) union "
        "select 'job', n.cluster, " SUBJECT_NAME("j.job") " from unblend.job as j "
        "join unblend.node as n using (node_id) "
        "where j.job_id = any($2::bigint[]) union "
        "select 'volume', n.cluster, " SUBJECT_NAME("v.volume") " from unblend.volume as v "
        "join unblend.node as n using (node_id) "
        "where v.volume_id = any($3::bigint[]) except select subject, cluster, name from unblend.subject "
        "on conflict do nothing";
    _cleanup_free_ char *nodes = distinct(round, OF_NODE), *jobs = distinct(round, OF_JOB);
    _cleanup_free_ char *volumes = distinct(round, OF_VOLUME);
    struct db_args args = {.count = 0};
    bool all;
    int err;

    if (!nodes || !jobs || !volumes)
        return -ENOMEM;
    db_text(&args, nodes);
    db_text(&args, jobs);
    db_text(&args, volumes);
    err = find_subjects(round, &args, subjects, &all);
    if (err || all)
        return err;
    err = db_query(round->db, add, &args, NULL);
    if (!err)
        err = find_subjects(round, &args, subjects, &all);
    return !err && !all ? -EDEADLK : err; /* somebody else adds it at this moment: once more */
}

/* What is not there any more counts for nothing. */
static int64_t subject_of(const struct subjects *subjects, unsigned kind, int64_t id)
{
    const struct subject *found =
        bsearch(&id, subjects->list[kind], subjects->count[kind], sizeof(**subjects->list), order_int64);

    return found ? found->subject_id : 0;
}

static int sum_up(const struct round *round, const struct subjects *subjects, struct rolled *totals)
{
    for (uint32_t i = 0; i < round->series.count; i++) {
        const struct rolled_series *series = &round->series.series[i];
        const struct rollup_group *group = &round->groups[series->key.group];
        const int64_t ids[KINDS] = {group->node_id, group->node_id, series->key.job, series->key.volume};

        for (unsigned kind = 0; kind < KINDS; kind++) {
            const struct rolled_key key = {group->time_us, subject_of(subjects, kind, ids[kind]), 0, series->key.op};
            int err = key.job ? rolled_add(totals, &key, &series->record) : 0;

            if (err)
                return err;
        }
    }
    return 0;
}

static char *put4(char *to, uint32_t value)
{
    value = htobe32(value);
    memcpy(to, &value, sizeof(value));
    return to + sizeof(value);
}

/* A histogram as smallint[] of buckets and bigint[] of counts. */
static int add_arrays(struct copy *rows, const struct histogram *h)
{
    _cleanup_free_ char *buffer = malloc(20 + 12 * (size_t)h->length);

    if (!buffer)
        return -ENOMEM;
    for (unsigned counts = 0; counts < 2; counts++) {
        char *at = put4(buffer, h->length > 0); /* dimensions; then: no nulls, type, length, first index */

        at = put4(put4(at, 0), counts ? INT8_OID : INT2_OID);
        if (h->length)
            at = put4(put4(at, h->length), 1);
        for (unsigned i = 0; i < h->length; i++) {
            uint64_t count = htobe64(h->cells[i].count);
            uint16_t bucket = htobe16(h->cells[i].bucket);

            at = put4(at, counts ? sizeof(count) : sizeof(bucket));
            memcpy(at, counts ? (void *)&count : (void *)&bucket, counts ? sizeof(count) : sizeof(bucket));
            at += counts ? sizeof(count) : sizeof(bucket);
        }
        copy_bytes(rows, buffer, (size_t)(at - buffer));
    }
    return 0;
}

static int add_total(struct copy *rows, const struct rolled_series *total)
{
    const struct record *record = &total->record;
    const char *op = operation_info(record->op)->name;

    copy_row(rows, 14);
    copy_time(rows, total->key.group * 1000);
    copy_int8(rows, total->key.job);
    copy_bytes(rows, op, strlen(op));
    copy_int8(rows, (int64_t)record_ops(record));
    copy_int8(rows, (int64_t)record->bytes);
    copy_int8(rows, (int64_t)record->errors);
    copy_int8(rows, (int64_t)record->latency_sum_ns);
    for (unsigned i = 0; i < ORDER_COUNT; i++)
        copy_int8(rows, (int64_t)record->order[i]);
    return add_arrays(rows, &record->size) || add_arrays(rows, &record->latency_ns) ? -ENOMEM : 0;
}

/* In the order of the columns behind subject_id. */
struct demand_row {
    uint64_t read_ops, write_ops, metadata_ops, other_ops, read_bytes, write_bytes, errors, data_ns, metadata_ns;
};

static void add(uint64_t *sum, uint64_t more)
{
    *sum = more > INT64_MAX - *sum ? INT64_MAX : *sum + more;
}

/* The file layer only: block requests are made for what is counted there. */
static void add_demand(struct demand_row *row, const struct record *record)
{
    uint64_t ops = record_ops(record);

    switch (operation_info(record->op)->class) {
    case OP_CLASS_DATA:
        add(record->op == OP_READ ? &row->read_ops : &row->write_ops, ops);
        add(record->op == OP_READ ? &row->read_bytes : &row->write_bytes, record->bytes);
        add(&row->data_ns, record->latency_sum_ns);
        break;
    case OP_CLASS_METADATA:
        add(&row->metadata_ops, ops);
        add(&row->metadata_ns, record->latency_sum_ns);
        break;
    case OP_CLASS_BLOCK:
        return;
    default:
        add(&row->other_ops, ops);
        break;
    }
    add(&row->errors, record->errors);
}

static int write_totals(struct round *round, const struct rolled *totals)
{
    int err = 0;

    for (uint32_t i = 0; i < totals->count && !err; i++) {
        err = add_total(&round->rows, &totals->series[i]);
        if (!err)
            err = rollup_send(round, "total", TOTAL_COLUMNS, false);
    }
    return err ? err : rollup_send(round, "total", TOTAL_COLUMNS, true);
}

static int write_demand(struct round *round, const struct rolled *totals)
{
    int err = 0;

    for (uint32_t i = 0; i < totals->count && !err;) {
        const struct rolled_key *key = &totals->series[i].key;
        struct demand_row row = {0};
        const uint64_t *numbers = (const uint64_t *)&row;

        for (; i < totals->count && totals->series[i].key.group == key->group &&
             totals->series[i].key.job == key->job; i++)
            add_demand(&row, &totals->series[i].record);
        copy_row(&round->rows, 11);
        copy_time(&round->rows, key->group * 1000);
        copy_int8(&round->rows, key->job);
        for (size_t j = 0; j < sizeof(row) / sizeof(*numbers); j++)
            copy_int8(&round->rows, (int64_t)numbers[j]);
        err = rollup_send(round, "demand", DEMAND_COLUMNS, false);
    }
    return err ? err : rollup_send(round, "demand", DEMAND_COLUMNS, true);
}

static int compare_totals(const void *a, const void *b)
{
    const struct rolled_key *x = &((const struct rolled_series *)a)->key, *y = &((const struct rolled_series *)b)->key;

    return ORDER(x->group, y->group) ?: ORDER(x->job, y->job) ?: ORDER(x->op, y->op);
}

int rollup_totals(struct round *round)
{
    _cleanup_(subjects_clear) struct subjects subjects = {0};
    struct rolled totals = {.series = NULL};
    int err;

    if (!round->series.count)
        return 0;
    err = get_subjects(round, &subjects);
    if (!err)
        err = sum_up(round, &subjects, &totals);
    if (!err && totals.count) /* the index is of no more use */
        qsort(totals.series, totals.count, sizeof(*totals.series), compare_totals);
    if (!err)
        err = write_totals(round, &totals);
    if (!err)
        err = write_demand(round, &totals);
    rolled_clear(&totals);
    return err;
}
