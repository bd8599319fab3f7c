/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stands beside an operation's counts: which errors, what the page cache did, which page faults. */
#include "analyzer/view/json.h"

#include "analyzer/figure.h"
#include "lib/codec_errors.h"

json_t *json_error_codes(const struct record *record)
{
    json_t *object = codec_errors_encode(&record->error_codes);
    uint64_t known = histogram_count(&record->error_codes);
    bool failed = !object;

    if (object && known < record->errors)
        json_put(&failed, object, "?", json_integer((json_int_t)(record->errors - known)));
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

json_t *json_cached(const struct record *record)
{
    const uint64_t *c = record->cache;
    uint64_t known_ops = c[CACHE_HIT_OPS] + c[CACHE_MISS_OPS];
    uint64_t known_bytes = c[CACHE_HIT_BYTES] + c[CACHE_MISS_BYTES];

    if (!c[CACHE_HIT_OPS] && !c[CACHE_MISS_OPS])
        return json_null();
    return json_pack("{s:I,s:I,s:I,s:I}", "ops", (json_int_t)c[CACHE_HIT_OPS], "bytes", (json_int_t)c[CACHE_HIT_BYTES],
                     "known_ops", (json_int_t)known_ops, "known_bytes", (json_int_t)known_bytes);
}

static json_t *of_files(const uint64_t of[FILE_SIZES])
{
    return json_pack("{s:I,s:I,s:I}", "small_files", (json_int_t)of[FILE_SMALL], "medium_files",
                     (json_int_t)of[FILE_MEDIUM], "large_files", (json_int_t)of[FILE_LARGE]);
}

json_t *json_of(const struct record *record)
{
    uint64_t of_open = record->order[ORDER_OF_OPEN], by_name = record->order[ORDER_BY_NAME];
    uint64_t others = record->order[ORDER_OF_OTHERS], known = figure_sized(record);
    json_t *of;

    if (record->op == OP_STAT)
        return !of_open && !by_name ? json_null()
                                    : json_pack("{s:I,s:I}", "open", (json_int_t)of_open, "name", (json_int_t)by_name);
    if (record->op == OP_READ)
        others = 0;
    if (!known && !others)
        return json_null();
    of = of_files(record->file_size);
    if (of && record->op != OP_READ && json_object_set_new(of, "others", json_integer((json_int_t)others))) {
        json_decref(of);
        of = NULL;
    }
    return of;
}

static json_t *count_if(bool known, uint64_t count)
{
    return known ? json_integer((json_int_t)count) : json_null();
}

json_t *json_received(const struct record *write, const struct aggregate *totals)
{
    bool seen = aggregate_sees_receives(totals);

    return json_pack("{s:o,s:o}", "received_bytes", count_if(seen, write->cache[CACHE_RECEIVED_BYTES]),
                     "process_received_bytes", count_if(seen, write->cache[CACHE_PROCESS_RECEIVED_BYTES]));
}

json_t *json_faults(const struct tally *tally, const struct aggregate *totals)
{
    const struct record *record = &tally->op[OP_MMAP_FAULT];
    bool major = aggregate_sees_faults(totals), minor = aggregate_sees_minor_faults(totals);
    bool kind = record->faults[FAULT_READ] || record->faults[FAULT_WRITE] || !record_ops(record);

    return json_pack("{s:o,s:o,s:o,s:o}", "major", count_if(major, record_ops(record)), "read",
                     count_if(major && kind, record->faults[FAULT_READ]), "write",
                     count_if(major && kind, record->faults[FAULT_WRITE]), "minor",
                     count_if(minor, record->faults[FAULT_MINOR]));
}
