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

static json_t *count_if(bool known, uint64_t count)
{
    return known ? json_integer((json_int_t)count) : json_null();
}

static json_t *stat_of(const struct record *stat)
{
    uint64_t of_open = stat->order[ORDER_OF_OPEN], by_name = stat->order[ORDER_BY_NAME];
    struct described of;
    bool known = figure_described(stat, &of);

    if (!of_open && !by_name)
        return json_null();
    return json_pack("{s:I,s:I,s:o,s:o,s:o}", "open", (json_int_t)of_open, "name", (json_int_t)by_name, "small_files",
                     count_if(known, of.all[FILE_SMALL]), "medium_files", count_if(known, of.all[FILE_MEDIUM]), "large_files",
                     count_if(known, of.all[FILE_LARGE]));
}

json_t *json_of(const struct record *record)
{
    const uint64_t *of = record->file_size;
    bool has_others = operation_tells_file_size(record->op);
    uint64_t others = has_others ? record->order[ORDER_OF_OTHERS] : 0;

    if (record->op == OP_STAT)
        return stat_of(record);
    if (!figure_sized(record) && !others)
        return json_null();
    return json_pack("{s:I,s:I,s:I,s:o*}", "small_files", (json_int_t)of[FILE_SMALL], "medium_files",
                     (json_int_t)of[FILE_MEDIUM], "large_files", (json_int_t)of[FILE_LARGE], "others",
                     has_others ? json_integer((json_int_t)others) : NULL);
}

json_t *json_received(const struct record *write, const struct aggregate *totals, const struct job_total *job)
{
    bool seen = aggregate_sees_receives(totals, job);

    return json_pack("{s:o,s:o}", "received_bytes", count_if(seen, write->cache[CACHE_RECEIVED_BYTES]),
                     "process_received_bytes", count_if(seen, write->cache[CACHE_PROCESS_RECEIVED_BYTES]));
}

json_t *json_faults(const struct tally *tally, const struct aggregate *totals, const struct job_total *job)
{
    const struct record *record = &tally->op[OP_MMAP_FAULT];
    bool major = aggregate_sees_faults(totals, job), minor = aggregate_sees_minor_faults(totals, job);
    bool kind = record->faults[FAULT_READ] || record->faults[FAULT_WRITE] || !record_ops(record);

    return json_pack("{s:o,s:o,s:o,s:o}", "major", count_if(major, record_ops(record)), "read",
                     count_if(major && kind, record->faults[FAULT_READ]), "write",
                     count_if(major && kind, record->faults[FAULT_WRITE]), "minor",
                     count_if(minor, record->faults[FAULT_MINOR]));
}
