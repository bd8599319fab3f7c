/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a batch has of samples, flows and storage. */
#include "lib/database_private.h"

#include <errno.h>

#include "lib/cleanup.h"
#include "lib/codec_errors.h"
#include "lib/codec_flow.h"
#include "lib/codec_station.h"
#include "lib/codec_tree.h"
#include "lib/order.h"
#include "lib/saturate.h"

static json_t *json(const PGresult *result, int row, int column)
{
    return PQgetisnull(result, row, column)
               ? NULL
               : json_loads(PQgetvalue(result, row, column), JSON_DECODE_ANY, NULL);
}

int database_row_of(const PGresult *result, int64_t id)
{
    int low = 0, high = PQntuples(result);

    while (low < high) {
        int middle = low + (high - low) / 2;

        if (database_big(result, middle, 0) < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < PQntuples(result) && database_big(result, low, 0) == id ? low : -1;
}

/* A row, and what it is ordered by. */
struct rank {
    int64_t batch_id;
    int32_t position;
    int row;
};

static struct rank rank_of(const PGresult *result, int row)
{
    uint32_t position;

    memcpy(&position, PQgetvalue(result, row, PQnfields(result) - 1), sizeof(position));
    return (struct rank){database_big(result, row, 0), (int32_t)be32toh(position), row};
}

static int compare_ranks(const void *a, const void *b)
{
    const struct rank *x = a, *y = b;

    return ORDER(x->batch_id, y->batch_id) ?: ORDER(x->position, y->position);
}

static bool in_order(const PGresult *result)
{
    struct rank before, rank;

    for (int row = 0; row < PQntuples(result); row++, before = rank) {
        rank = rank_of(result, row);
        if (row && compare_ranks(&before, &rank) > 0)
            return false;
    }
    return true;
}

int database_list_order(struct database_list *list)
{
    int count = PQntuples(list->result);
    _cleanup_free_ struct rank *ranks = NULL;

    if (in_order(list->result))
        return 0;
    ranks = calloc((size_t)count, sizeof(*ranks));
    list->rows = calloc((size_t)count, sizeof(*list->rows));
    if (!ranks || !list->rows)
        return -ENOMEM;
    for (int row = 0; row < count; row++)
        ranks[row] = rank_of(list->result, row);
    qsort(ranks, (size_t)count, sizeof(*ranks), compare_ranks);
    for (int i = 0; i < count; i++)
        list->rows[i] = ranks[i].row;
    return 0;
}

static int row_at(const struct database_list *list, int i)
{
    return list->rows ? list->rows[i] : i;
}

/* The place of the first row whose batch is not below an id. */
static int first_of(const struct database_list *list, int64_t id)
{
    int low = 0, high = PQntuples(list->result);

    while (low < high) {
        int middle = low + (high - low) / 2;

        if (database_big(list->result, row_at(list, middle), 0) < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* What adds a row of samples or of flows. */
typedef int adder(struct batch *batch, const struct database_place *jobs, const struct database_place *volumes,
                  const PGresult *result, int row);

static int add_list(struct batch *batch, int64_t id, const struct database_place *jobs,
                    const struct database_place *volumes, const struct database_list *list, adder *add)
{
    int err = 0;

    for (int i = first_of(list, id); !err && i < PQntuples(list->result); i++) {
        int row = row_at(list, i);

        if (database_big(list->result, row, 0) != id)
            break;
        err = add(batch, jobs, volumes, list->result, row);
    }
    return err;
}

/* The place of an id in the batch's own table; the list ends with an id that nobody has. */
static uint32_t index_of(const struct database_place *places, int64_t id)
{
    for (; places->id; places++)
        if (places->id == id)
            return places->index;
    return NO_INDEX;
}

static int set_errors(struct record *record, const PGresult *samples, int row, int column)
{
    json_auto_t *object = json(samples, row, column);

    return PQgetisnull(samples, row, column) ? 0 : codec_errors_decode(object, &record->error_codes);
}

static int get_histogram(const PGresult *result, int row, int column, struct histogram *out)
{
    return codec_histogram_unpack(PQgetvalue(result, row, column), (size_t)PQgetlength(result, row, column), out);
}

static int get_joint(const PGresult *result, int row, int column, struct histogram *out)
{
    return codec_joint_unpack(PQgetvalue(result, row, column), (size_t)PQgetlength(result, row, column), out);
}

/* Rows of one record may be several because no single one could hold their sum. */
static void add_count(uint64_t *sum, const PGresult *samples, int row, int column)
{
    uint64_t count = database_count(samples, row, column);

    *sum = saturate(*sum, count);
}

static int add_sample(struct batch *batch, const struct database_place *jobs, const struct database_place *volumes,
                      const PGresult *samples, int row)
{
    enum operation op = operation_by_name(PQgetvalue(samples, row, 3));
    struct record *record;
    int err = batch_record(batch, index_of(jobs, database_big(samples, row, 1)),
                           index_of(volumes, database_big(samples, row, 2)), NO_INDEX, op, &record);

    if (!err) {
        add_count(&record->bytes, samples, row, 4);
        add_count(&record->errors, samples, row, 5);
        add_count(&record->latency_sum_ns, samples, row, 6);
        for (int i = 0; i < ORDER_COUNT; i++)
            add_count(&record->order[i], samples, row, 9 + i);
        add_count(&record->in_flight, samples, row, 12);
        if (database_count(samples, row, 13) > record->oldest_ns)
            record->oldest_ns = database_count(samples, row, 13);
        for (int i = 0; i < CACHE_COUNTS; i++)
            add_count(&record->cache[i], samples, row, 14 + i);
        for (int i = 0; i < FAULT_KINDS; i++)
            add_count(&record->faults[i], samples, row, 14 + CACHE_COUNTS + i);
        add_count(&record->in_flight_ns, samples, row, 15 + CACHE_COUNTS + FAULT_KINDS);
        err = get_histogram(samples, row, 7, &record->size);
    }
    if (!err)
        err = get_histogram(samples, row, 8, &record->latency_ns);
    if (!err)
        err = get_joint(samples, row, 16 + CACHE_COUNTS + FAULT_KINDS, &record->joint);
    if (!err)
        err = set_errors(record, samples, row, 14 + CACHE_COUNTS + FAULT_KINDS);
    if (err == -ERANGE) { /* together too many for a histogram: nobody is to believe the record */
        record->bytes = INT64_MAX;
        err = 0;
    }
    return err == -ENOMEM || !err ? err : -EBADMSG;
}

static int add_flow(struct batch *batch, const struct database_place *jobs, const struct database_place *volumes,
                    const PGresult *flows, int row)
{
    json_auto_t *in_flight =
        json_loadb(PQgetvalue(flows, row, 14), (size_t)PQgetlength(flows, row, 14), 0, NULL);
    uint32_t length;
    struct flow *flow;
    int err = batch_flow(batch, index_of(jobs, database_big(flows, row, 1)),
                         index_of(volumes, database_big(flows, row, 2)), &flow);

    memcpy(&length, PQgetvalue(flows, row, 4), sizeof(length));
    if (!err)
        err = codec_slots_span(flow, database_big(flows, row, 3), be32toh(length));
    for (int d = 0; d < DEMAND_COUNT && !err; d++)
        err = codec_slots_unpack(PQgetvalue(flows, row, 5 + d), (size_t)PQgetlength(flows, row, 5 + d), flow,
                                 (enum demand)d);
    for (int kind = 0; kind < FLOW_KINDS && !err; kind++) {
        err = get_histogram(flows, row, 10 + 2 * kind, &flow->burst[kind]);
        if (!err)
            err = get_histogram(flows, row, 11 + 2 * kind, &flow->steady[kind]);
    }
    if (!err && !codec_in_flight_decode(in_flight, flow))
        err = -EBADMSG;
    if (!err && !PQgetisnull(flows, row, 15))
        err = sketch_parse(PQgetvalue(flows, row, 15), &flow->files);
    return err == -ENOMEM || !err ? err : -EBADMSG;
}

static int add_stations(struct batch *batch, const PGresult *storage, int64_t batch_id)
{
    int at = database_row_of(storage, batch_id), err;
    json_auto_t *root = json_object();
    struct codec_error error;

    if (at < 0 || PQgetisnull(storage, at, 1))
        return 0;
    if (!root || json_object_set_new(root, "storage", json(storage, at, 1)))
        return -ENOMEM;
    err = codec_stations_decode(batch, &error, root);
    return err == -ENOMEM || !err ? err : -EBADMSG;
}

static int add_trees(struct batch *batch, const PGresult *storage, int64_t batch_id)
{
    int at = database_row_of(storage, batch_id), err;
    json_auto_t *root = json_object();
    struct codec_error error;

    if (at < 0 || PQgetisnull(storage, at, 3))
        return 0;
    if (!root || json_object_set_new(root, "trees", json(storage, at, 3)))
        return -ENOMEM;
    err = codec_trees_decode(batch, &error, root);
    return err == -ENOMEM || !err ? err : -EBADMSG;
}

static int add_space(struct batch *batch, const PGresult *storage, int64_t batch_id,
                     const struct database_place *volumes)
{
    int at = database_row_of(storage, batch_id);
    json_auto_t *list = at < 0 || PQgetisnull(storage, at, 2) ? NULL : json(storage, at, 2);
    json_t *told;
    size_t i;

    json_array_foreach(list, i, told) {
        json_int_t volume = -1, used, total, used_files, total_files;

        if (json_unpack(told, "[I,I,I,I,I]", &volume, &used, &total, &used_files, &total_files) || volume < 0 ||
            volume >= batch->volume_count)
            return -EBADMSG;
        batch->volumes[volumes[volume].index].has_space = true;
        batch->volumes[volumes[volume].index].space =
            (struct space){(uint64_t)used, (uint64_t)total, (uint64_t)used_files, (uint64_t)total_files};
    }
    return 0;
}

int database_add_rows(struct batch *batch, const struct database_rows *rows, int64_t id,
                      const struct database_place *jobs, const struct database_place *volumes)
{
    int err = add_list(batch, id, jobs, volumes, &rows->samples, add_sample);

    if (!err)
        err = add_list(batch, id, jobs, volumes, &rows->flows, add_flow);
    if (!err)
        err = add_stations(batch, rows->storage, id);
    if (!err)
        err = add_space(batch, rows->storage, id, volumes);
    if (!err)
        err = add_trees(batch, rows->storage, id);
    return err;
}
