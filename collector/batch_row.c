/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/batch_row.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array_text.h"
#include "lib/cleanup.h"
#include "lib/codec_station.h"
#include "lib/codec_tree.h"

#define COLUMNS 27

/* Ends and exits of a batch's jobs; null when all of them run. */
static void add_ends(struct copy *rows, const struct batch *batch, int64_t *numbers)
{
    bool any = false;

    for (uint32_t i = 0; i < batch->job_count; i++)
        any |= batch->jobs[i].end_ns || batch->jobs[i].exit >= 0;
    if (!any) {
        copy_null(rows);
        copy_null(rows);
        return;
    }
    for (uint32_t i = 0; i < batch->job_count; i++)
        numbers[i] = batch->jobs[i].end_ns ? batch->jobs[i].end_ns : ARRAY_NULL;
    copy_int8s(rows, numbers, batch->job_count);
    for (uint32_t i = 0; i < batch->job_count; i++)
        numbers[i] = batch->jobs[i].exit >= 0 ? batch->jobs[i].exit : ARRAY_NULL;
    copy_int4s(rows, numbers, batch->job_count);
}

/* For how long the ranks of a batch's jobs were watched, and waited; null when nobody watched any. */
static void add_stalls(struct copy *rows, const struct batch *batch, int64_t *numbers)
{
    bool any = false;

    for (uint32_t i = 0; i < batch->job_count; i++)
        any |= batch->jobs[i].watched_ns != 0;
    if (!any) {
        copy_null(rows);
        copy_null(rows);
        return;
    }
    for (uint32_t i = 0; i < batch->job_count; i++)
        numbers[i] = batch->jobs[i].watched_ns ? (int64_t)batch->jobs[i].watched_ns : ARRAY_NULL;
    copy_int8s(rows, numbers, batch->job_count);
    for (uint32_t i = 0; i < batch->job_count; i++)
        numbers[i] = batch->jobs[i].watched_ns ? (int64_t)batch->jobs[i].exposed_ns : ARRAY_NULL;
    copy_int8s(rows, numbers, batch->job_count);
}

/* Null when there are none. Takes the list over, NULL without memory. */
static int add_list(struct copy *rows, json_t *list)
{
    json_auto_t *held = list;
    _cleanup_free_ char *text = NULL;

    if (!held)
        return -ENOMEM;
    if (!json_array_size(held)) {
        copy_null(rows);
        return 0;
    }
    text = json_dumps(held, JSON_COMPACT);
    if (!text)
        return -ENOMEM;
    copy_bytes(rows, text, strlen(text));
    return 0;
}

/* Of volumes that told. */
static json_t *space(const struct batch *batch)
{
    json_t *list = json_array();
    bool failed = !list;

    for (uint32_t i = 0; i < batch->volume_count; i++) {
        const struct space *space = &batch->volumes[i].space;

        if (batch->volumes[i].has_space)
            failed |= json_array_append_new(list, json_pack("[I,I,I,I,I]", (json_int_t)i, (json_int_t)space->used_bytes,
                                                            (json_int_t)space->total_bytes,
                                                            (json_int_t)space->used_files,
                                                            (json_int_t)space->total_files)) != 0;
    }
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}

static void add_known(struct copy *rows, bool known, uint64_t number)
{
    if (known)
        copy_int8(rows, (int64_t)number);
    else
        copy_null(rows);
}

int batch_row_add(struct copy *rows, const struct batch *batch, const struct ledger_place *place,
                  const struct batch_ids *ids)
{
    _cleanup_free_ int64_t *numbers = calloc(batch->job_count + 1, sizeof(*numbers));
    const struct coverage *coverage = &batch->coverage;
    int64_t shed_ms[SHED_COUNT];

    if (!numbers)
        return -ENOMEM;
    for (unsigned i = 0; i < SHED_COUNT; i++)
        shed_ms[i] = (int64_t)coverage->shed_ms[i];
    copy_row(rows, COLUMNS);
    copy_time(rows, batch->start_ns);
    copy_int8(rows, place->batch_id);
    copy_int4(rows, (int32_t)place->node_id);
    copy_int8(rows, place->stream_id);
    copy_int8(rows, (int64_t)batch->seq);
    copy_int8(rows, ids->host);
    copy_int8(rows, batch->start_ns);
    copy_int8(rows, (int64_t)batch->duration_ns);
    copy_int8(rows, batch->interval_ms);
    copy_int8(rows, (int64_t)coverage->lost);
    copy_int8(rows, (int64_t)coverage->killed);
    copy_int8(rows, (int64_t)coverage->in_flight);
    copy_int8(rows, (int64_t)coverage->unattributed);
    copy_int8(rows, (int64_t)coverage->overflow);
    copy_int4(rows, (int32_t)batch->record_count);
    copy_int8s(rows, ids->jobs, batch->job_count);
    add_ends(rows, batch, numbers);
    copy_int8s(rows, ids->volumes, batch->volume_count);
    copy_int8s(rows, shed_ms, SHED_COUNT);
    if (add_list(rows, batch->station_count ? codec_stations(batch) : json_array()) || add_list(rows, space(batch)))
        return -ENOMEM;
    add_known(rows, batch->pressure.known, batch->pressure.some_ns);
    add_known(rows, batch->pressure.known, batch->pressure.full_ns);
    add_stalls(rows, batch, numbers);
    return add_list(rows, batch->tree_count ? codec_trees(batch) : json_array());
}
