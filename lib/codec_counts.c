/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/codec_counts.h"

/* Counters are read while they move, so that one interval may have what the next one lacks: errors and sizes of
   operations whose latency comes then. That is as many as end while a row is read, of two million a second in a reader
   that is held up for 50 ms; what is more than that and twice the operations nobody has counted. */
#define MOVING_MAX 100000

static bool is_impossible(uint64_t count, uint64_t ops)
{
    return count > MOVING_MAX && (count - MOVING_MAX) / 2 > ops;
}

int codec_counts_check(const struct field_place *p, const struct record *record)
{
    static const char why[] = "is of more operations than latency_ns has";
    uint64_t ops = record_ops(record);

    if (is_impossible(record->errors, ops))
        return field_refuse(p, "errors", why);
    if (is_impossible(histogram_count(&record->error_codes), ops))
        return field_refuse(p, "error_codes", why);
    if (is_impossible(histogram_count(&record->size), ops))
        return field_refuse(p, "size", why);
    if (is_impossible(histogram_count(&record->joint), ops))
        return field_refuse(p, "joint", why);
    for (unsigned i = 0; i < ORDER_COUNT; i++)
        if (is_impossible(record->order[i], ops))
            return field_refuse(p, "order", why);
    return 0;
}
