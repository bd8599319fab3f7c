/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/codec.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/varint.h"

#define CELL_TEXT_MAX 26 /* "3967:9223372036854775807 " and '\0' */

/* What of a cell still fits under a sum that JSON and PostgreSQL can hold; never wraps. */
static uint64_t clamp(const struct histogram_cell *cell, uint64_t *total)
{
    uint64_t room = INT64_MAX - *total;
    uint64_t count = cell->count < room ? cell->count : room;

    *total += count;
    return count;
}

char *codec_histogram_encode(const struct histogram *h)
{
    char *text = malloc((size_t)h->length * CELL_TEXT_MAX + 1);
    char *to = text;
    uint64_t total = 0;
    unsigned before = 0;

    if (!text)
        return NULL;
    for (unsigned i = 0; i < h->length; i++) {
        uint64_t count = clamp(&h->cells[i], &total);

        if (!count)
            break;
        if (i)
            *to++ = ' ';
        to = decimal_put(to, h->cells[i].bucket - before);
        before = h->cells[i].bucket;
        if (count > 1) {
            *to++ = ':';
            to = decimal_put(to, count);
        }
    }
    *to = '\0';
    return text;
}

/* A histogram that grows cell by cell, in ascending order. */
struct growing {
    struct histogram histogram;
    unsigned buckets;
    uint64_t bucket;
    uint64_t total;
};

static int grow(struct growing *g, uint64_t delta, uint64_t count)
{
    if (!count || (!delta && g->histogram.length))
        return -EINVAL;
    if (delta >= g->buckets - g->bucket || count > INT64_MAX - g->total)
        return -ERANGE;
    g->bucket += delta;
    g->total += count;
    return histogram_add_below(&g->histogram, g->buckets, (unsigned)g->bucket, count);
}

/* Moves what has grown into h: all of it, or nothing. */
static int harvest(struct growing *g, struct histogram *h, int err)
{
    if (!err && !h->length) {
        histogram_clear(h);
        *h = g->histogram;
        return 0;
    }
    if (!err)
        err = histogram_merge(h, &g->histogram);
    histogram_clear(&g->histogram);
    return err;
}

static int decode(const char *text, unsigned buckets, struct histogram *h)
{
    struct growing g = {.buckets = buckets};
    int err = 0;

    while (*text && !err) {
        uint64_t delta, count = 1;

        err = decimal_get(&text, &delta);
        if (!err && *text == ':') {
            text++;
            err = decimal_get(&text, &count);
        }
        if (!err)
            err = grow(&g, delta, count);
        /* One space between two pairs, none behind the last. */
        if (!err && *text && (*text++ != ' ' || !*text))
            err = -EINVAL;
    }
    return harvest(&g, h, err);
}

int codec_histogram_decode(const char *text, struct histogram *h)
{
    return decode(text, BUCKET_COUNT, h);
}

int codec_joint_decode(const char *text, struct histogram *h)
{
    return decode(text, JOINT_BUCKETS, h);
}

unsigned char *codec_histogram_put(unsigned char *to, const struct histogram *h)
{
    uint64_t total = 0;
    unsigned before = 0;

    for (unsigned i = 0; i < h->length; i++) {
        uint64_t count = clamp(&h->cells[i], &total);

        if (!count)
            break;
        to = varint_put(to, h->cells[i].bucket - before);
        to = varint_put(to, count);
        before = h->cells[i].bucket;
    }
    return to;
}

size_t codec_histogram_room(const struct histogram *h)
{
    return (size_t)h->length * 2 * VARINT_MAX + 1;
}

unsigned char *codec_histogram_pack(const struct histogram *h, size_t *size)
{
    unsigned char *data = malloc(codec_histogram_room(h));

    if (data)
        *size = (size_t)(codec_histogram_put(data, h) - data);
    return data;
}

static int unpack(const void *data, size_t size, unsigned buckets, struct histogram *h)
{
    const unsigned char *at = data, *end = at + size;
    struct growing g = {.buckets = buckets};
    unsigned numbers = 0;
    int err;

    /* a number ends with the byte that has no high bit: of most there is one, and the cells take no more than they
       need */
    for (size_t i = 0; i < size && numbers < 2 * buckets; i++)
        numbers += at[i] < 0x80;
    err = histogram_reserve(&g.histogram, numbers / 2);
    while (at < end && !err) {
        uint64_t delta, count;

        err = varint_get(&at, end, &delta);
        if (!err)
            err = varint_get(&at, end, &count);
        if (!err)
            err = grow(&g, delta, count);
    }
    return harvest(&g, h, err);
}

int codec_histogram_unpack(const void *data, size_t size, struct histogram *h)
{
    return unpack(data, size, BUCKET_COUNT, h);
}

int codec_joint_unpack(const void *data, size_t size, struct histogram *h)
{
    return unpack(data, size, JOINT_BUCKETS, h);
}
