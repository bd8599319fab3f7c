/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/codec_flow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/varint.h"

#define RUN_TEXT_MAX (2 * DECIMAL_MAX + 2) /* "9223372036854775807*40000 " */
/* So that a slot's end has a number in nanoseconds. */
#define FIRST_MAX    (INT64_MAX / (FLOW_SLOT_MS * 1000000LL) - FLOW_SLOTS_MAX)

const char *const codec_demands[DEMAND_COUNT] = {
    [DEMAND_READ_BYTES] = "read_bytes", [DEMAND_WRITE_BYTES] = "write_bytes", [DEMAND_READ_OPS] = "read_ops",
    [DEMAND_WRITE_OPS] = "write_ops",   [DEMAND_METADATA_OPS] = "metadata_ops",
};

const char *const codec_burst_keys[FLOW_KINDS] = {"data_burst_ns", "metadata_burst_ns"};
const char *const codec_steady_keys[FLOW_KINDS] = {"data_steady_ns", "metadata_steady_ns"};

/* How many slots from one on have its value. */
static uint32_t run_at(const struct flow *flow, uint32_t at, enum demand demand)
{
    uint32_t end = at + 1;

    while (end < flow->length && flow->slots[end].demand[demand] == flow->slots[at].demand[demand])
        end++;
    return end - at;
}

static bool is_idle(const struct flow *flow, enum demand demand)
{
    return !flow->length || (!flow->slots[0].demand[demand] && run_at(flow, 0, demand) == flow->length);
}

/* --- encoding --- */

static json_t *slots_value(const struct flow *flow, enum demand demand)
{
    _cleanup_free_ char *text = malloc((size_t)flow->length * RUN_TEXT_MAX + 1);
    char *to = text;

    if (!text)
        return NULL;
    for (uint32_t at = 0, run; at < flow->length; at += run) {
        run = run_at(flow, at, demand);
        if (at)
            *to++ = ' ';
        to = decimal_put(to, flow->slots[at].demand[demand]);
        if (run > 1) {
            *to++ = '*';
            to = decimal_put(to, run);
        }
    }
    *to = '\0';
    return json_string_nocheck(text);
}

static bool put_latency(json_t *o, const char *key, const struct histogram *h)
{
    _cleanup_free_ char *pairs = h->length ? codec_histogram_encode(h) : NULL;

    return h->length && (!pairs || json_object_set_new_nocheck(o, key, json_string_nocheck(pairs)));
}

json_t *codec_in_flight(const struct flow *flow)
{
    json_t *o = json_object();
    bool failed = !o;

    for (enum operation op = OP_NONE; op < OP_FILE_END; op++)
        if (flow->in_flight_max[op])
            failed |= json_object_set_new_nocheck(o, op ? operation_info(op)->name : "all",
                                                  json_integer(flow->in_flight_max[op])) != 0;
    if (!failed)
        return o;
    json_decref(o);
    return NULL;
}

bool codec_files_put(json_t *o, const struct sketch *files)
{
    _cleanup_free_ char *text = sketch_text(files);

    return !text || json_object_set_new_nocheck(o, "files", json_string_nocheck(text));
}

static json_t *flow_value(const struct flow *flow)
{
    json_t *o = json_pack("{s:I, s:I, s:I, s:I}", "job", (json_int_t)flow->job, "volume", (json_int_t)flow->volume,
                          "first", (json_int_t)flow->first, "slots", (json_int_t)flow->length);
    bool failed = !o;

    for (enum demand demand = 0; demand < DEMAND_COUNT && !failed; demand++)
        if (!is_idle(flow, demand))
            failed = json_object_set_new_nocheck(o, codec_demands[demand], slots_value(flow, demand)) != 0;
    for (unsigned kind = 0; kind < FLOW_KINDS && !failed; kind++)
        failed = put_latency(o, codec_burst_keys[kind], &flow->burst[kind]) ||
                 put_latency(o, codec_steady_keys[kind], &flow->steady[kind]);
    if (!failed && flow->in_flight_max[OP_NONE])
        failed = json_object_set_new_nocheck(o, "in_flight_max", codec_in_flight(flow)) != 0;
    if (!failed && flow->files.count)
        failed = codec_files_put(o, &flow->files);
    if (!failed)
        return o;
    json_decref(o);
    return NULL;
}

json_t *codec_flows(const struct batch *batch)
{
    json_t *array = json_array();
    uint64_t slots = 0;

    for (uint32_t i = 0; i < batch->flow_count; i++) {
        slots += batch->flows[i].length;
        if (slots > CODEC_SLOTS_MAX)
            break;
        if (json_array_append_new(array, flow_value(&batch->flows[i]))) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

unsigned char *codec_slots_pack(const struct flow *flow, enum demand demand, size_t *size)
{
    unsigned char *data = malloc((size_t)flow->length * 2 * VARINT_MAX + 1), *to = data;

    if (!data)
        return NULL;
    for (uint32_t at = 0, run; !is_idle(flow, demand) && at < flow->length; at += run) {
        run = run_at(flow, at, demand);
        to = varint_put(to, flow->slots[at].demand[demand]);
        to = varint_put(to, run);
    }
    *size = (size_t)(to - data);
    return data;
}

/* --- decoding --- */

int codec_slots_span(struct flow *flow, int64_t first, uint64_t length)
{
    const struct demand_slot nothing = {{0}};
    int err;

    if (first < 0 || first > FIRST_MAX || length > FLOW_SLOTS_MAX)
        return -ERANGE;
    if (!length)
        return 0;
    err = flow_add(flow, first, &nothing);
    return err ? err : flow_add(flow, first + (int64_t)length - 1, &nothing);
}

/* Fills the next slots. 0, -EINVAL or -ERANGE. */
static int put_run(struct flow *flow, uint32_t *at, enum demand demand, uint64_t value, uint64_t times)
{
    if (!times)
        return -EINVAL;
    if (times > flow->length - *at)
        return -ERANGE;
    for (; times; times--)
        flow->slots[(*at)++].demand[demand] = value;
    return 0;
}

int codec_slots_unpack(const void *data, size_t size, struct flow *flow, enum demand demand)
{
    const unsigned char *from = data, *end = from + size;
    uint32_t at = 0;
    int err = 0;

    while (from < end && !err) {
        uint64_t value, times;

        err = varint_get(&from, end, &value);
        if (!err)
            err = varint_get(&from, end, &times);
        if (!err)
            err = put_run(flow, &at, demand, value, times);
    }
    return !err && size && at != flow->length ? -EINVAL : err;
}

static int decode_slots(const char *text, struct flow *flow, enum demand demand)
{
    uint32_t at = 0;
    int err = 0;

    while (*text && !err) {
        uint64_t value, times = 1;

        err = decimal_get(&text, &value);
        if (!err && *text == '*') {
            text++;
            err = decimal_get(&text, &times);
        }
        if (!err)
            err = put_run(flow, &at, demand, value, times);
        /* One space between two runs, none behind the last. */
        if (!err && *text && (*text++ != ' ' || !*text))
            err = -EINVAL;
    }
    return !err && at != flow->length ? -EINVAL : err;
}

bool codec_in_flight_decode(const json_t *object, struct flow *flow)
{
    const char *name;
    json_t *value;

    if (!json_is_object(object))
        return false;
    json_object_foreach((json_t *)object, name, value)
    {
        enum operation op = strcmp(name, "all") == 0 ? OP_NONE : operation_by_name(name);
        json_int_t number = json_integer_value(value);

        if (!json_is_integer(value) || number < 0 || number > UINT32_MAX ||
            (op == OP_NONE ? strcmp(name, "all") != 0 : op >= OP_FILE_END))
            return false;
        flow->in_flight_max[op] = (uint32_t)number;
    }
    return true;
}

static int decode_demands(const struct field_place *p, const json_t *o, struct flow *flow)
{
    for (enum demand demand = 0; demand < DEMAND_COUNT; demand++) {
        const char *text = NULL;
        int err;

        if (!json_object_get(o, codec_demands[demand]))
            continue;
        err = field_text(p, o, codec_demands[demand], &text);
        if (!err && decode_slots(text, flow, demand))
            err = field_refuse(p, codec_demands[demand], "is no list of value*times for exactly as many slots");
        if (err)
            return err;
    }
    return 0;
}

static int decode_latency(const struct field_place *p, const json_t *o, const char *key, struct histogram *out)
{
    return json_object_get(o, key) ? field_histogram(p, o, key, out) : 0;
}

int codec_files_decode(const struct field_place *p, const json_t *o, struct sketch *files)
{
    const char *text = NULL;
    int err = field_text(p, o, "files", &text);

    if (err)
        return err;
    err = sketch_parse(text, files);
    return err && err != -ENOMEM
               ? field_refuse(p, "files", "is no shift and up to %d rising HASH:BYTES that it leaves in", SKETCH_MAX)
               : err;
}

static int decode_flow(struct batch *batch, const struct field_place *p, const json_t *o, uint64_t *total)
{
    uint32_t job, volume, before = batch->flow_count;
    uint64_t first, length;
    struct flow *flow;
    int err;

    if ((err = field_index(p, o, "job", batch->job_count, &job)) ||
        (err = field_index(p, o, "volume", batch->volume_count, &volume)) ||
        (err = field_number(p, o, "first", FIRST_MAX, &first)) ||
        (err = field_number(p, o, "slots", FLOW_SLOTS_MAX, &length)))
        return err;
    *total += length;
    if (*total > CODEC_SLOTS_MAX)
        return field_refuse(p, "slots", "makes more than %d slots in all", CODEC_SLOTS_MAX);
    err = batch_flow(batch, job, volume, &flow);
    if (err)
        return err;
    if (batch->flow_count == before)
        return field_refuse(p, NULL, "has the job and the volume of another flow");
    if ((err = codec_slots_span(flow, (int64_t)first, length)) || (err = decode_demands(p, o, flow)))
        return err;
    for (unsigned kind = 0; kind < FLOW_KINDS; kind++)
        if ((err = decode_latency(p, o, codec_burst_keys[kind], &flow->burst[kind])) ||
            (err = decode_latency(p, o, codec_steady_keys[kind], &flow->steady[kind])))
            return err;
    if (json_object_get(o, "in_flight_max") &&
        !codec_in_flight_decode(json_object_get(o, "in_flight_max"), flow))
        return field_refuse(p, "in_flight_max", "is no object of operations and whole numbers");
    return json_object_get(o, "files") ? codec_files_decode(p, o, &flow->files) : 0;
}

int codec_flows_decode(struct batch *batch, struct codec_error *error, const json_t *root)
{
    struct field_place top = {.error = error}, p = {.error = error, .table = "flows", .indexed = true};
    uint32_t slot_ms = 0;
    uint64_t total = 0;
    json_t *array, *element;
    int err;

    if (!json_object_get(root, "flows"))
        return 0;
    err = field_u32(&top, root, "slot_ms", &slot_ms);
    if (!err && slot_ms != FLOW_SLOT_MS)
        return field_refuse(&top, "slot_ms", "is %u, not %d", slot_ms, FLOW_SLOT_MS);
    if (!err)
        err = field_array(&top, root, "flows", CODEC_SLOTS_MAX, &array);
    if (err)
        return err;
    json_array_foreach(array, p.at, element)
    {
        err = json_is_object(element) ? decode_flow(batch, &p, element, &total)
                                      : field_refuse(&p, NULL, "is not an object");
        if (err)
            return err;
    }
    return 0;
}
