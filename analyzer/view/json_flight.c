/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/view/json.h"

#include <errno.h>

static json_t *count_of(bool known, uint64_t count)
{
    return known ? json_integer((json_int_t)count) : json_null();
}

static json_t *figures(const struct volume_total *volume, const struct report *report, enum operation op)
{
    struct in_flight flight;

    volume_in_flight(volume, &report->totals, op, &flight);
    return json_pack("{s:o,s:o,s:o,s:o}", "now", count_of(flight.known, flight.now), "max",
                     count_of(flight.known && volume->looked, flight.max), "mean", json_number(flight.mean),
                     "oldest_ns", count_of(flight.now > 0, flight.oldest_ns));
}

static json_t *by_operation(const struct volume_total *volume, const struct report *report)
{
    json_t *object = json_object();
    bool failed = !object;

    for (enum operation op = OP_FIRST; op < OP_FILE_END; op++) {
        struct in_flight flight;

        volume_in_flight(volume, &report->totals, op, &flight);
        if (flight.now || flight.max || volume->tally.op[op].latency_ns.length)
            json_put(&failed, object, operation_info(op)->name, figures(volume, report, op));
    }
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

/* Null where the records hold no processes. */
static json_t *stuck_of(const struct volume_total *volume, const struct report *report)
{
    json_t *list;
    bool failed;

    if (!report->totals.has_processes)
        return json_null();
    list = json_array();
    failed = !list;
    for (uint32_t i = 0; i < volume->stuck_count; i++) {
        const struct stuck *s = &volume->stuck[i];

        if (stuck_now(s, &report->totals))
            json_add(&failed, list,
                     json_pack("{s:s,s:I,s:s,s:s,s:I,s:I}", "node", s->node, "pid", (json_int_t)s->pid, "command",
                               s->command, "op", operation_info(s->op)->name, "ops", (json_int_t)s->count,
                               "oldest_ns", (json_int_t)s->oldest_ns));
    }
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}

json_t *json_in_flight(const struct volume_total *volume, const struct report *report)
{
    json_t *object = figures(volume, report, OP_NONE);
    bool failed = !object;

    json_put(&failed, object, "by", by_operation(volume, report));
    json_put(&failed, object, "stuck", stuck_of(volume, report));
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}
