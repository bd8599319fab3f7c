/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collector/batch_row.h"
#include "collector/dimension.h"
#include "collector/ledger_next.h"
#include "collector/sample_row.h"
#include "collector/store_private.h"
#include "lib/cleanup.h"
#include "lib/codec_flow.h"

#define ROWS_MAX (8u << 20) /* bytes of rows gathered before they are sent */

static const char copy_batches[] = "copy unblend.batch (" BATCH_COLUMNS ") from stdin (format binary)";

static const char copy_samples[] = "copy unblend.sample (" SAMPLE_COLUMNS ") from stdin (format binary)";

static const char copy_flows[] = "copy unblend.flow (time, batch_id, job_id, volume_id, node_id, "
                                 "position, first_slot, slots, read_bytes, write_bytes, read_ops, "
                                 "write_ops, metadata_ops, data_burst, data_steady, metadata_burst, "
                                 "metadata_steady, in_flight_max, files) from stdin (format binary)";

static const char copy_pending[] =
    "copy unblend.pending_1m (time, batch_id, node_id) from stdin (format binary)";

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

static int put_rows(struct store *store, const struct batch *batch, const struct ledger_place *place)
{
    _cleanup_free_ int64_t *jobs = calloc(batch->job_count + 1, sizeof(*jobs));
    _cleanup_free_ int64_t *volumes = calloc(batch->volume_count + 1, sizeof(*volumes));
    struct batch_ids ids = {.jobs = jobs, .volumes = volumes};
    const int64_t node_id = place->node_id;
    int err;

    if (!jobs || !volumes)
        return -ENOMEM;
    err = dimension_host(&store->db, &store->dimensions, node_id, batch, &store->room, &ids.host);
    if (!err)
        err = dimension_jobs(&store->db, &store->dimensions, node_id, batch, &store->room, jobs);
    if (!err)
        err = dimension_volumes(&store->db, &store->dimensions, node_id, batch, &store->room, volumes);
    if (!err)
        err = batch_row_add(&store->batches, batch, place, &ids);
    if (err)
        return err;
    copy_row(&store->pending, 3); /* its rollup is to be made */
    copy_time(&store->pending, batch->start_ns);
    copy_int8(&store->pending, place->batch_id);
    copy_int4(&store->pending, (int32_t)node_id);
    if (store->batches.size > ROWS_MAX)
        err = send_rows(store, copy_batches, &store->batches);
    if (!err)
        err = add_samples(store, batch, node_id, place->batch_id, jobs, volumes);
    return err ? err : add_flows(store, batch, node_id, place->batch_id, jobs, volumes);
}

/* A batch that is not simply the next one of a stream that is known. */
static int enter(struct store *store, struct store_item *item, struct ledger_place *place)
{
    /* What is known of older bodies it may learn from the rows of batches: they must be there. */
    int err = send_rows(store, copy_batches, &store->batches);

    if (!err)
        err = ledger_enter(&store->db, item->batch, item->hash, place, &item->verdict);
    if (!err)
        ledger_remember(&store->dimensions, item->batch, place);
    return err;
}

int store_put(struct store *store, struct store_item *items, unsigned count)
{
    _cleanup_free_ struct ledger_place *places = calloc(count + 1, sizeof(*places));
    int err = places ? ledger_next(&store->db, &store->dimensions, items, count, places) : -ENOMEM;

    for (unsigned i = 0; i < count && !err; i++) {
        items[i].verdict = VERDICT_STORED;
        if (!places[i].batch_id)
            err = enter(store, &items[i], &places[i]);
        if (!err && items[i].verdict == VERDICT_STORED)
            err = put_rows(store, items[i].batch, &places[i]);
    }
    return err;
}

int store_commit(struct store *store)
{
    int err = send_rows(store, copy_batches, &store->batches);

    if (!err)
        err = send_rows(store, copy_samples, &store->samples);
    if (!err)
        err = send_rows(store, copy_flows, &store->flows);
    if (!err)
        err = send_rows(store, copy_pending, &store->pending);
    if (!err)
        err = db_run(&store->db, "commit");
    dimension_settle(&store->dimensions, !err);
    return err;
}
