/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collector/dimension.h"
#include "collector/ledger.h"
#include "collector/sample_row.h"
#include "collector/store_private.h"
#include "lib/array_text.h"
#include "lib/cleanup.h"
#include "lib/codec_flow.h"
#include "lib/codec_station.h"
#include "lib/codec_tree.h"

#define ROWS_MAX (8u << 20) /* bytes of rows gathered before they are sent */

static const char copy_samples[] = "copy unblend.sample (" SAMPLE_COLUMNS ") from stdin (format binary)";

static const char copy_flows[] = "copy unblend.flow (time, batch_id, job_id, volume_id, node_id, "
                                 "position, first_slot, slots, read_bytes, write_bytes, read_ops, "
                                 "write_ops, metadata_ops, data_burst, data_steady, metadata_burst, "
                                 "metadata_steady, in_flight_max, files) from stdin (format binary)";

static const char copy_pending[] =
    "copy unblend.pending_1m (time, batch_id, node_id) from stdin (format binary)";

/* Ends and exits of a batch's jobs; left NULL when all of them run. */
static int ends_text(const struct batch *batch, char **ends, char **exits)
{
    _cleanup_free_ int64_t *end = calloc(batch->job_count + 1, sizeof(*end));
    _cleanup_free_ int64_t *exit_status = calloc(batch->job_count + 1, sizeof(*exit_status));
    bool any = false;

    if (!end || !exit_status)
        return -ENOMEM;
    for (uint32_t i = 0; i < batch->job_count; i++) {
        end[i] = batch->jobs[i].end_ns ? batch->jobs[i].end_ns : ARRAY_NULL;
        exit_status[i] = batch->jobs[i].exit >= 0 ? batch->jobs[i].exit : ARRAY_NULL;
        any |= end[i] != ARRAY_NULL || exit_status[i] != ARRAY_NULL;
    }
    if (!any)
        return 0;
    *ends = array_text(end, batch->job_count);
    *exits = array_text(exit_status, batch->job_count);
    return *ends && *exits ? 0 : -ENOMEM;
}

/* For how long the ranks of a batch's jobs were watched, and waited; left NULL when nobody watched any. */
static int stalls_text(const struct batch *batch, char **watched, char **exposed)
{
    _cleanup_free_ int64_t *watched_ns = calloc(batch->job_count + 1, sizeof(*watched_ns));
    _cleanup_free_ int64_t *exposed_ns = calloc(batch->job_count + 1, sizeof(*exposed_ns));
    bool any = false;

    if (!watched_ns || !exposed_ns)
        return -ENOMEM;
    for (uint32_t i = 0; i < batch->job_count; i++) {
        const struct job *job = &batch->jobs[i];

        watched_ns[i] = job->watched_ns ? (int64_t)job->watched_ns : ARRAY_NULL;
        exposed_ns[i] = job->watched_ns ? (int64_t)job->exposed_ns : ARRAY_NULL;
        any |= job->watched_ns != 0;
    }
    if (!any)
        return 0;
    *watched = array_text(watched_ns, batch->job_count);
    *exposed = array_text(exposed_ns, batch->job_count);
    return *watched && *exposed ? 0 : -ENOMEM;
}

/* NULL when there is none. */
static int stations_text(const struct batch *batch, char **text)
{
    json_auto_t *list = batch->station_count ? codec_stations(batch) : NULL;

    if (!batch->station_count)
        return 0;
    *text = list ? json_dumps(list, JSON_COMPACT) : NULL;
    return *text ? 0 : -ENOMEM;
}

/* NULL when there are none. */
static int trees_text(const struct batch *batch, char **text)
{
    json_auto_t *list = batch->tree_count ? codec_trees(batch) : NULL;

    if (!batch->tree_count)
        return 0;
    *text = list ? json_dumps(list, JSON_COMPACT) : NULL;
    return *text ? 0 : -ENOMEM;
}

/* Of volumes that told; NULL when none did. */
static int space_text(const struct batch *batch, char **text)
{
    json_auto_t *list = json_array();
    bool failed = !list;

    for (uint32_t i = 0; i < batch->volume_count; i++) {
        const struct space *space = &batch->volumes[i].space;

        if (batch->volumes[i].has_space)
            failed |= json_array_append_new(list, json_pack("[I,I,I,I,I]", (json_int_t)i, (json_int_t)space->used_bytes,
                                                            (json_int_t)space->total_bytes,
                                                            (json_int_t)space->used_files,
                                                            (json_int_t)space->total_files)) != 0;
    }
    if (failed)
        return -ENOMEM;
    if (!json_array_size(list))
        return 0;
    *text = json_dumps(list, JSON_COMPACT);
    return *text ? 0 : -ENOMEM;
}

static void number_or_null(struct db_args *args, bool known, uint64_t number)
{
    if (known)
        db_number(args, (int64_t)number);
    else
        db_text(args, NULL);
}

static int insert_interval(struct store *store, const struct batch *batch,
                           const struct ledger_place *place, int64_t host_id, const int64_t *jobs,
                           const int64_t *volumes, int64_t *batch_id)
{
    _cleanup_free_ char *job_ids = array_text(jobs, batch->job_count);
    _cleanup_free_ char *volume_ids = array_text(volumes, batch->volume_count);
    _cleanup_free_ char *ends = NULL, *exits = NULL, *shed = NULL, *stations = NULL, *space = NULL, *trees = NULL;
    _cleanup_free_ char *watched = NULL, *exposed = NULL;
    int64_t shed_ms[SHED_COUNT];
    _cleanup_result_ PGresult *result = NULL;
    struct db_args args = {.count = 0};
    int err = ends_text(batch, &ends, &exits);

    for (unsigned i = 0; i < SHED_COUNT; i++)
        shed_ms[i] = (int64_t)batch->coverage.shed_ms[i];
    shed = array_text(shed_ms, SHED_COUNT);
    if (!err)
        err = stalls_text(batch, &watched, &exposed);
    if (!err)
        err = stations_text(batch, &stations);
    if (!err)
        err = space_text(batch, &space);
    if (!err)
        err = trees_text(batch, &trees);
    if (err || !job_ids || !volume_ids || !shed)
        return -ENOMEM;
    db_number(&args, place->node_id);
    db_number(&args, place->stream_id);
    db_number(&args, (int64_t)batch->seq);
    db_number(&args, host_id);
    db_number(&args, batch->start_ns);
    db_number(&args, (int64_t)batch->duration_ns);
    db_number(&args, batch->interval_ms);
    db_number(&args, (int64_t)batch->coverage.lost);
    db_number(&args, (int64_t)batch->coverage.killed);
    db_number(&args, (int64_t)batch->coverage.in_flight);
    db_number(&args, (int64_t)batch->coverage.unattributed);
    db_number(&args, (int64_t)batch->coverage.overflow);
    db_number(&args, batch->record_count);
    db_text(&args, job_ids);
    db_text(&args, ends);
    db_text(&args, exits);
    db_text(&args, volume_ids);
    db_text(&args, shed);
    db_text(&args, stations);
    db_text(&args, space);
    number_or_null(&args, batch->pressure.known, batch->pressure.some_ns);
    number_or_null(&args, batch->pressure.known, batch->pressure.full_ns);
    db_text(&args, watched);
    db_text(&args, exposed);
    db_text(&args, trees);
    err = db_query(
        &store->db,
        "insert into unblend.batch (time, node_id, stream_id, seq, host_id, start_ns, "
        "duration_ns, interval_ms, lost, killed, in_flight, unattributed, overflow, records, "
        "job_ids, job_end_ns, job_exit, volume_ids, shed_ms, storage, space, io_some_ns, io_full_ns, "
        "job_watched_ns, job_exposed_ns, trees) "
        "values (unblend.timestamp_of($5), $1, $2, "
        "$3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25) "
        "returning batch_id",
        &args, &result);
    if (err)
        return err;
    *batch_id = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
    copy_row(&store->pending, 3); /* its rollup is to be made */
    copy_time(&store->pending, batch->start_ns);
    copy_int8(&store->pending, *batch_id);
    copy_int4(&store->pending, (int32_t)place->node_id);
    return 0;
}

static int send_rows(struct store *store, const char *statement, struct copy *rows)
{
    int err = 0;

    if (rows->size) {
        err = copy_end(rows);
        if (!err)
            err = db_copy(&store->db, statement, rows->data, rows->size);
        copy_reset(rows);
    }
    return err;
}

static int add_samples(struct store *store, const struct batch *batch, int64_t node_id,
                       int64_t batch_id, const int64_t *jobs, const int64_t *volumes)
{
    struct copy *rows = &store->samples;
    int err = 0;

    for (uint32_t i = 0; i < batch->record_count && !err; i++) {
        const struct record *record = &batch->records[i];
        const struct sample_place place = {
            .time_ns = batch->start_ns,
            .batch_id = batch_id,
            .job_id = jobs[record->job],
            .volume_id = volumes[record->volume],
            .node_id = node_id,
            .position = i,
        };

        err = sample_row_add(rows, &place, record);
        if (!err && rows->size > ROWS_MAX)
            err = send_rows(store, copy_samples, rows);
    }
    return err;
}

static int add_slots(struct copy *rows, const struct flow *flow, enum demand demand)
{
    size_t size;
    _cleanup_free_ unsigned char *data = codec_slots_pack(flow, demand, &size);

    if (!data)
        return -ENOMEM;
    copy_bytes(rows, data, size);
    return 0;
}

static int add_in_flight(struct copy *rows, const struct flow *flow)
{
    json_auto_t *object = codec_in_flight(flow);
    _cleanup_free_ char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;

    if (!text)
        return -ENOMEM;
    copy_bytes(rows, text, strlen(text));
    return 0;
}

static int add_files(struct copy *rows, const struct flow *flow)
{
    _cleanup_free_ char *text = flow->files.count ? sketch_text(&flow->files) : NULL;

    if (text)
        copy_bytes(rows, text, strlen(text));
    else
        copy_null(rows);
    return flow->files.count && !text ? -ENOMEM : 0;
}

static int add_flows(struct store *store, const struct batch *batch, int64_t node_id, int64_t batch_id,
                     const int64_t *jobs, const int64_t *volumes)
{
    struct copy *rows = &store->flows;
    int err = 0;

    for (uint32_t i = 0; i < batch->flow_count && !err; i++) {
        const struct flow *flow = &batch->flows[i];

        copy_row(rows, 19);
        copy_time(rows, batch->start_ns);
        copy_int8(rows, batch_id);
        copy_int8(rows, jobs[flow->job]);
        copy_int8(rows, volumes[flow->volume]);
        copy_int4(rows, (int32_t)node_id);
        copy_int4(rows, (int32_t)i);
        copy_int8(rows, flow->first);
        copy_int4(rows, (int32_t)flow->length);
        for (enum demand demand = 0; demand < DEMAND_COUNT; demand++)
            if (add_slots(rows, flow, demand))
                return -ENOMEM;
        for (unsigned kind = 0; kind < FLOW_KINDS; kind++)
            if (copy_histogram(rows, &flow->burst[kind]) || copy_histogram(rows, &flow->steady[kind]))
                return -ENOMEM;
        if (add_in_flight(rows, flow) || add_files(rows, flow))
            return -ENOMEM;
        if (rows->size > ROWS_MAX)
            err = send_rows(store, copy_flows, rows);
    }
    return err;
}

int store_put(struct store *store, const struct batch *batch, const uint8_t body_hash[SHA256_SIZE],
              enum verdict *verdict)
{
    _cleanup_free_ int64_t *jobs = calloc(batch->job_count + 1, sizeof(*jobs));
    _cleanup_free_ int64_t *volumes = calloc(batch->volume_count + 1, sizeof(*volumes));
    struct ledger_place place;
    int64_t host_id, batch_id;
    enum verdict v;
    int err;

    if (!jobs || !volumes)
        return -ENOMEM;
    err = ledger_enter(&store->db, batch, body_hash, &place, &v);
    if (!err && v == VERDICT_STORED) {
        err = dimension_host(&store->db, &store->dimensions, place.node_id, batch, &host_id);
        if (!err)
            err = dimension_jobs(&store->db, &store->dimensions, place.node_id, batch, jobs);
        if (!err)
            err = dimension_volumes(&store->db, &store->dimensions, place.node_id, batch, volumes);
        if (!err)
            err = insert_interval(store, batch, &place, host_id, jobs, volumes, &batch_id);
        if (!err)
            err = add_samples(store, batch, place.node_id, batch_id, jobs, volumes);
        if (!err)
            err = add_flows(store, batch, place.node_id, batch_id, jobs, volumes);
    }
    if (!err)
        *verdict = v;
    return err;
}

int store_commit(struct store *store)
{
    int err = send_rows(store, copy_samples, &store->samples);

    if (!err)
        err = send_rows(store, copy_flows, &store->flows);
    if (!err)
        err = send_rows(store, copy_pending, &store->pending);
    if (!err)
        err = db_run(&store->db, "commit");
    dimension_settle(&store->dimensions, !err);
    return err;
}
