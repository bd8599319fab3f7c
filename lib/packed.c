/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/packed.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/varint.h"

/* Of a record, what is not always there. */
enum part { PART_SIZE = 1, PART_ORDER = 2, PART_CACHE = 4, PART_FAULTS = 8, PART_ERRORS = 16, PART_FLIGHT = 32, PART_JOINT = 64 };

#define PARTS_ALL      127
#define HISTOGRAM_MAX  ((2 * BUCKET_COUNT + 1) * VARINT_MAX)
#define NUMBERS_MAX    (32 * VARINT_MAX) /* of a process or a record */
#define RECORD_MAX     (NUMBERS_MAX + 3 * HISTOGRAM_MAX)

/* --- encoding --- */

struct packing {
    unsigned char *data, *to;
    size_t capacity;
};

/* Room for so many bytes more. 0 or -ENOMEM. */
static int make_room(struct packing *p, size_t more)
{
    size_t used = (size_t)(p->to - p->data), capacity = p->capacity ? p->capacity : 65536;
    unsigned char *grown;

    if (p->capacity - used >= more)
        return 0;
    while (capacity - used < more)
        capacity *= 2;
    grown = realloc(p->data, capacity);
    if (!grown)
        return -ENOMEM;
    *p = (struct packing){.data = grown, .to = grown + used, .capacity = capacity};
    return 0;
}

/* As in JSON, counts end at 2^63 - 1. */
static void put(struct packing *p, uint64_t number)
{
    p->to = varint_put(p->to, number > INT64_MAX ? INT64_MAX : number);
}

static void put_all(struct packing *p, const uint64_t *numbers, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        put(p, numbers[i]);
}

static int put_bytes(struct packing *p, const void *bytes, size_t size)
{
    int err = make_room(p, size + VARINT_MAX);

    if (err)
        return err;
    put(p, size);
    memcpy(p->to, bytes, size);
    p->to += size;
    return 0;
}

static void put_histogram(struct packing *p, const struct histogram *h)
{
    unsigned char pairs[HISTOGRAM_MAX];
    size_t size = (size_t)(codec_histogram_put(pairs, h) - pairs);

    put(p, size);
    memcpy(p->to, pairs, size);
    p->to += size;
}

/* There may be too many of its cells for a buffer on the stack. */
static int put_joint(struct packing *p, const struct histogram *h)
{
    size_t size;
    _cleanup_free_ unsigned char *pairs = codec_histogram_pack(h, &size);

    return pairs ? put_bytes(p, pairs, size) : -ENOMEM;
}

static int put_process(struct packing *p, const struct process *process)
{
    int err = make_room(p, NUMBERS_MAX);

    if (err)
        return err;
    put(p, process->pid);
    put(p, process->tid);
    put(p, process->uid);
    put(p, process->start_ns > 0 ? (uint64_t)process->start_ns : 0);
    put(p, process->job);
    put(p, process->exited);
    return put_bytes(p, process->command, strlen(process->command));
}

static bool any(const uint64_t *counts, unsigned length)
{
    for (unsigned i = 0; i < length; i++)
        if (counts[i])
            return true;
    return false;
}

static unsigned parts_of(const struct record *r)
{
    return (r->size.length ? PART_SIZE : 0u) | (any(r->order, ORDER_COUNT) ? PART_ORDER : 0u) |
           (any(r->cache, CACHE_COUNTS) ? PART_CACHE : 0u) | (any(r->faults, FAULT_KINDS) ? PART_FAULTS : 0u) |
           (r->error_codes.length ? PART_ERRORS : 0u) |
           (r->in_flight || r->oldest_ns || r->in_flight_ns ? PART_FLIGHT : 0u) | (r->joint.length ? PART_JOINT : 0u);
}

static int put_record(struct packing *p, const struct record *r)
{
    const unsigned parts = parts_of(r);
    int err = make_room(p, RECORD_MAX);

    if (err)
        return err;
    put(p, r->job);
    put(p, r->volume);
    put(p, r->process == NO_INDEX ? 0 : r->process + 1ull);
    put(p, (uint64_t)r->op);
    put(p, parts);
    put(p, r->bytes);
    put(p, r->errors);
    put(p, r->latency_sum_ns);
    put_histogram(p, &r->latency_ns);
    if (parts & PART_SIZE)
        put_histogram(p, &r->size);
    if (parts & PART_ORDER)
        put_all(p, r->order, ORDER_COUNT);
    if (parts & PART_CACHE)
        put_all(p, r->cache, CACHE_COUNTS);
    if (parts & PART_FAULTS)
        put_all(p, r->faults, FAULT_KINDS);
    if (parts & PART_ERRORS)
        put_histogram(p, &r->error_codes);
    if (parts & PART_FLIGHT)
        put_all(p, (const uint64_t[]){r->in_flight, r->oldest_ns, r->in_flight_ns}, 3);
    return parts & PART_JOINT ? put_joint(p, &r->joint) : 0;
}

int packed_encode(const struct batch *batch, void **out, size_t *size)
{
    struct batch rest = *batch; /* only looked at: what it points to stays the batch's */
    _cleanup_free_ char *json = NULL;
    struct packing p = {0};
    size_t json_size;
    int err;

    rest.process_count = rest.record_count = 0;
    err = codec_encode(&rest, &json, &json_size);
    if (!err)
        err = put_bytes(&p, json, json_size);
    if (!err)
        err = make_room(&p, VARINT_MAX);
    if (!err)
        put(&p, batch->process_count);
    for (uint32_t i = 0; !err && i < batch->process_count; i++)
        err = put_process(&p, &batch->processes[i]);
    if (!err)
        err = make_room(&p, VARINT_MAX);
    if (!err)
        put(&p, batch->record_count);
    for (uint32_t i = 0; !err && i < batch->record_count; i++)
        err = put_record(&p, &batch->records[i]);
    if (err) {
        free(p.data);
        return err;
    }
    *out = p.data;
    *size = (size_t)(p.to - p.data);
    return 0;
}

/* --- decoding --- */

/* What is still to be read. The first thing that is wrong ends it; later reads give 0. */
struct unpacking {
    const unsigned char *at, *end;
    int err;
};

static uint64_t get(struct unpacking *u, uint64_t max)
{
    uint64_t number = 0;

    if (!u->err && (varint_get(&u->at, u->end, &number) || number > max))
        u->err = -EBADMSG;
    return u->err ? 0 : number;
}

static uint64_t get_count(struct unpacking *u)
{
    return get(u, INT64_MAX);
}

static void get_all(struct unpacking *u, uint64_t *numbers, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        numbers[i] = get_count(u);
}

/* So many bytes, in place. */
static const unsigned char *get_bytes(struct unpacking *u, size_t *size)
{
    const unsigned char *bytes;

    *size = get(u, (uint64_t)(u->end - u->at));
    if (*size > (size_t)(u->end - u->at))
        u->err = -EBADMSG;
    if (u->err) {
        *size = 0;
        return u->at;
    }
    bytes = u->at;
    u->at += *size;
    return bytes;
}

static void get_pairs(struct unpacking *u, int (*unpack)(const void *, size_t, struct histogram *), struct histogram *h)
{
    size_t size;
    const unsigned char *bytes = get_bytes(u, &size);
    int err = u->err ? 0 : unpack(bytes, size, h);

    if (err)
        u->err = err == -ENOMEM ? err : -EBADMSG;
}

static void get_histogram(struct unpacking *u, struct histogram *h)
{
    get_pairs(u, codec_histogram_unpack, h);
}

static int get_process(struct unpacking *u, struct batch *batch, uint32_t at)
{
    struct process process = {.pid = (uint32_t)get(u, UINT32_MAX), .tid = (uint32_t)get(u, UINT32_MAX)};
    _cleanup_free_ char *command = NULL;
    size_t size;
    const unsigned char *bytes;
    uint32_t index;
    int err;

    process.uid = (uint32_t)get(u, UINT32_MAX);
    process.start_ns = (int64_t)get_count(u);
    process.job = (uint32_t)get(u, UINT32_MAX);
    process.exited = get(u, 1) != 0;
    bytes = get_bytes(u, &size);
    if (u->err)
        return u->err;
    if (memchr(bytes, '\0', size))
        return -EBADMSG;
    command = strndup((const char *)bytes, size);
    if (!command)
        return -ENOMEM;
    process.command = command;
    err = batch_process(batch, &process, &index);
    return err == -EINVAL || (!err && index != at) ? -EBADMSG : err;
}

static int get_record(struct unpacking *u, struct batch *batch, uint32_t at)
{
    uint32_t job = (uint32_t)get(u, UINT32_MAX), volume = (uint32_t)get(u, UINT32_MAX);
    uint32_t process = (uint32_t)get(u, UINT32_MAX) - 1u; /* 0 becomes NO_INDEX */
    enum operation op = (enum operation)get(u, OP_COUNT);
    unsigned parts = (unsigned)get(u, PARTS_ALL);
    struct record *r;
    uint64_t flight[3] = {0};
    int err = u->err ? u->err : batch_record(batch, job, volume, process, op, &r);

    if (err)
        return err == -EINVAL ? -EBADMSG : err;
    if (batch->record_count != at + 1) /* the series of another record */
        return -EBADMSG;
    r->bytes = get_count(u);
    r->errors = get_count(u);
    r->latency_sum_ns = get_count(u);
    get_histogram(u, &r->latency_ns);
    if (parts & PART_SIZE)
        get_histogram(u, &r->size);
    if (parts & PART_ORDER)
        get_all(u, r->order, ORDER_COUNT);
    if (parts & PART_CACHE)
        get_all(u, r->cache, CACHE_COUNTS);
    if (parts & PART_FAULTS)
        get_all(u, r->faults, FAULT_KINDS);
    if (parts & PART_ERRORS)
        get_histogram(u, &r->error_codes);
    if (parts & PART_FLIGHT)
        get_all(u, flight, 3);
    if (parts & PART_JOINT)
        get_pairs(u, codec_joint_unpack, &r->joint);
    r->in_flight = flight[0];
    r->oldest_ns = flight[1];
    r->in_flight_ns = flight[2];
    return u->err;
}

static int refuse(struct codec_error *error, const char *field, uint32_t at)
{
    *error = (struct codec_error){.why = "is cut off, or no part of a batch"};
    snprintf(error->field, sizeof(error->field), "%s[%u]", field, at);
    return -EBADMSG;
}

int packed_decode(const void *data, size_t size, struct batch **out, struct codec_error *error)
{
    struct unpacking u = {.at = data, .end = (const unsigned char *)data + size};
    _cleanup_(batch_freep) struct batch *batch = NULL;
    size_t json_size;
    const void *json = get_bytes(&u, &json_size);
    uint32_t count, at;
    int err = codec_decode(json, json_size, &batch, error);

    if (err)
        return err;
    if (batch->process_count || batch->record_count)
        return refuse(error, "records", 0);
    count = (uint32_t)get(&u, CODEC_RECORDS_MAX);
    for (at = 0; !u.err && at < count; at++)
        u.err = get_process(&u, batch, at);
    if (u.err)
        return u.err == -ENOMEM ? u.err : refuse(error, "processes", at);
    count = (uint32_t)get(&u, CODEC_RECORDS_MAX);
    for (at = 0; !u.err && at < count; at++)
        u.err = get_record(&u, batch, at);
    if (u.err || u.at != u.end)
        return u.err == -ENOMEM ? u.err : refuse(error, "records", at);
    *out = take_pointer(batch);
    return 0;
}
