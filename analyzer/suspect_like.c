/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a node did in an interval, and which others did the same. */
#include "analyzer/suspect_private.h"

#include <errno.h>

#define SIZES_ALIKE  1.5 /* twice as much may take twice as long, which stands out */
#define SHARES_ALIKE 0.1

/* Failures that are an answer, as operations by name get them of who looks whether something is there. Where nobody
   recorded why they failed, they are taken for that. */
static uint64_t answers_of(const struct record *record)
{
    static const uint8_t codes[] = {ENOENT, EEXIST, ENOTDIR, EISDIR, ENOTEMPTY, ENODATA, EAGAIN, EINTR};
    const struct histogram *known = &record->error_codes;
    uint64_t answers = 0;

    for (unsigned i = 0; i < sizeof(codes); i++)
        answers += histogram_at(known, codes[i]);
    if (operation_info(record->op)->class == OP_CLASS_METADATA && record->op != OP_CLOSE &&
        record->errors > histogram_count(known))
        answers += record->errors - histogram_count(known);
    return answers < record->errors ? answers : record->errors;
}

/* What the process of a sync wrote in its interval. */
static uint64_t written_before(const struct batch *batch, const struct record *sync)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < batch->record_count; i++) {
        const struct record *record = &batch->records[i];

        if (record->op == OP_WRITE && record->job == sync->job && record->volume == sync->volume &&
            record->process == sync->process)
            bytes += record->bytes;
    }
    return bytes;
}

int suspects_note(struct sighting *sighting, const struct batch *batch, const struct record *record)
{
    uint64_t answers = answers_of(record);
    int err = histogram_merge(&sighting->latency_ns, &record->latency_ns);

    if (!err && operation_info(record->op)->has_size)
        err = histogram_merge(&sighting->size, &record->size);
    sighting->ops += record_ops(record);
    sighting->errors += record->errors - answers;
    sighting->answers += answers;
    if (record->oldest_ns > sighting->oldest_ns)
        sighting->oldest_ns = record->oldest_ns;
    for (unsigned i = 0; i < ORDER_COUNT; i++)
        sighting->order[i] += record->order[i];
    if (record->op == OP_FSYNC)
        sighting->synced += written_before(batch, record);
    return err;
}

/* 0 of nothing. */
static double share(uint64_t part, uint64_t all)
{
    return all ? (double)part / (double)all : 0;
}

static bool near(double a, double b)
{
    return a - b <= SHARES_ALIKE && b - a <= SHARES_ALIKE;
}

static double jumping(const struct sighting *sighting, enum operation op)
{
    uint64_t on = sighting->order[ORDER_CONSECUTIVE], back = sighting->order[ORDER_RANDOM];
    uint64_t ahead = op == OP_STAT ? 0 : sighting->order[ORDER_SEQUENTIAL];

    return share(back + ahead, on + back + ahead);
}

/* Those that decide how long the slowest take. */
static bool sizes_alike(const struct sighting *a, const struct sighting *b)
{
    uint64_t x, y;
    bool known = histogram_quantile(&a->size, 0.99, false, &x);

    if (known != histogram_quantile(&b->size, 0.99, false, &y))
        return false;
    return !known || ((double)x <= SIZES_ALIKE * (double)y && (double)y <= SIZES_ALIKE * (double)x);
}

bool suspects_alike(const struct sighting *judged, const struct sighting *peer, enum operation op)
{
    if (!near(share(judged->answers, judged->ops), share(peer->answers, peer->ops)))
        return false;
    switch (op) {
    case OP_READ:
    case OP_WRITE:
    case OP_STAT:
        return near(jumping(judged, op), jumping(peer, op)) && sizes_alike(judged, peer);
    case OP_FSYNC: /* what it syncs it may have written an interval earlier */
        return share(judged->synced, judged->ops) <= SIZES_ALIKE * share(peer->synced, peer->ops);
    default:
        return true;
    }
}
