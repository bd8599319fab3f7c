/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/sample_row.h"

#include <endian.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/codec.h"
#include "lib/codec_errors.h"

#define COLUMNS 28
#define EPOCH_2000_US 946684800000000

int copy_histogram(struct copy *rows, const struct histogram *histogram)
{
    const size_t most = codec_histogram_room(histogram);
    unsigned char *data = copy_reserve(rows, most);

    if (!data)
        return -ENOMEM;
    copy_reserved(rows, (size_t)(codec_histogram_put(data, histogram) - data));
    return 0;
}

/* NULL where there is none. */
static int add_errors(struct copy *rows, const struct histogram *codes)
{
    _cleanup_free_ char *text = NULL;
    json_auto_t *object = NULL;

    if (!codes->length) {
        copy_null(rows);
        return 0;
    }
    object = codec_errors_encode(codes);
    text = object ? json_dumps(object, JSON_COMPACT) : NULL;
    if (!text)
        return -ENOMEM;
    copy_bytes(rows, text, strlen(text));
    return 0;
}

int sample_row_add(struct copy *rows, const struct sample_place *place, const struct record *record)
{
    const char *op = operation_info(record->op)->name;

    copy_row(rows, COLUMNS);
    copy_time(rows, place->time_ns);
    copy_int8(rows, place->batch_id);
    copy_int8(rows, place->job_id);
    copy_int8(rows, place->volume_id);
    copy_int4(rows, (int32_t)place->node_id);
    copy_int4(rows, (int32_t)place->position);
    copy_bytes(rows, op, strlen(op));
    copy_int8(rows, (int64_t)record_ops(record));
    copy_int8(rows, (int64_t)record->bytes);
    copy_int8(rows, (int64_t)record->errors);
    copy_int8(rows, (int64_t)record->latency_sum_ns);
    if (copy_histogram(rows, &record->size) || copy_histogram(rows, &record->latency_ns))
        return -ENOMEM;
    for (unsigned j = 0; j < ORDER_COUNT; j++)
        copy_int8(rows, (int64_t)record->order[j]);
    copy_int8(rows, (int64_t)record->in_flight);
    copy_int8(rows, (int64_t)record->oldest_ns);
    for (unsigned j = 0; j < CACHE_COUNTS; j++)
        copy_int8(rows, (int64_t)record->cache[j]);
    for (unsigned j = 0; j < FAULT_KINDS; j++)
        copy_int8(rows, (int64_t)record->faults[j]);
    if (add_errors(rows, &record->error_codes))
        return -ENOMEM;
    copy_int8(rows, (int64_t)record->in_flight_ns);
    if (record->joint.length)
        return copy_histogram(rows, &record->joint);
    copy_null(rows);
    return 0;
}

static int64_t int8_at(const PGresult *result, int row, int column)
{
    uint64_t value;

    memcpy(&value, PQgetvalue(result, row, column), sizeof(value));
    return (int64_t)be64toh(value);
}

static int32_t int4_at(const PGresult *result, int row, int column)
{
    uint32_t value;

    memcpy(&value, PQgetvalue(result, row, column), sizeof(value));
    return (int32_t)be32toh(value);
}

static int get_histogram(const PGresult *result, int row, int column, struct histogram *out)
{
    return codec_histogram_unpack(PQgetvalue(result, row, column),
                                  (size_t)PQgetlength(result, row, column), out);
}

/* NULL where there is none. */
static int get_joint(const PGresult *result, int row, int column, struct histogram *out)
{
    return codec_joint_unpack(PQgetvalue(result, row, column), (size_t)PQgetlength(result, row, column), out);
}

static int errors_at(const PGresult *result, int row, int column, struct histogram *out)
{
    json_auto_t *object = NULL;

    if (PQgetisnull(result, row, column))
        return 0;
    object = json_loadb(PQgetvalue(result, row, column), (size_t)PQgetlength(result, row, column), 0, NULL);
    return codec_errors_decode(object, out);
}

int sample_row_read(const PGresult *result, int row, struct sample_place *place, struct record *record)
{
    int column = 13, err;

    if (PQnfields(result) < COLUMNS)
        return -EBADMSG;
    place->time_ns = (int8_at(result, row, 0) + EPOCH_2000_US) * 1000;
    place->batch_id = int8_at(result, row, 1);
    place->job_id = int8_at(result, row, 2);
    place->volume_id = int8_at(result, row, 3);
    place->node_id = int4_at(result, row, 4);
    place->position = (uint32_t)int4_at(result, row, 5);
    record->op = operation_by_name(PQgetvalue(result, row, 6));
    record->bytes = (uint64_t)int8_at(result, row, 8);
    record->errors = (uint64_t)int8_at(result, row, 9);
    record->latency_sum_ns = (uint64_t)int8_at(result, row, 10);
    for (unsigned j = 0; j < ORDER_COUNT; j++)
        record->order[j] = (uint64_t)int8_at(result, row, column++);
    record->in_flight = (uint64_t)int8_at(result, row, column++);
    record->oldest_ns = (uint64_t)int8_at(result, row, column++);
    for (unsigned j = 0; j < CACHE_COUNTS; j++)
        record->cache[j] = (uint64_t)int8_at(result, row, column++);
    for (unsigned j = 0; j < FAULT_KINDS; j++)
        record->faults[j] = (uint64_t)int8_at(result, row, column++);
    record->in_flight_ns = (uint64_t)int8_at(result, row, column + 1);
    err = get_histogram(result, row, 11, &record->size);
    if (!err)
        err = get_histogram(result, row, 12, &record->latency_ns);
    if (!err)
        err = errors_at(result, row, column, &record->error_codes);
    if (!err)
        err = get_joint(result, row, column + 2, &record->joint);
    return !err || err == -ENOMEM ? err : -EBADMSG;
}
