/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/codec.h"

#include <errno.h>
#include <stdlib.h>

#define CELL_TEXT_MAX 25 /* "495:9223372036854775807 " and '\0' */
#define VARINT_MAX    10 /* bytes of a uint64_t as LEB128 */

/* What of a cell still fits under a sum that JSON and PostgreSQL can hold; never wraps. */
static uint64_t clamp(const struct histogram_cell *cell, uint64_t *total)
{
    uint64_t room = INT64_MAX - *total;
    uint64_t count = cell->count < room ? cell->count : room;

    *total += count;
    return count;
}

static char *put_number(char *to, uint64_t number)
{
    char digits[20];
    unsigned length = 0;

    do
        digits[length++] = (char)('0' + number % 10);
    while (number /= 10);
    while (length)
        *to++ = digits[--length];
    return to;
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
        to = put_number(to, h->cells[i].bucket - before);
        before = h->cells[i].bucket;
        if (count > 1) {
            *to++ = ':';
            to = put_number(to, count);
        }
    }
    *to = '\0';
    return text;
}

/* Digits without sign or leading zeros. 0, -EINVAL or -ERANGE. */
static int get_number(const char **text, uint64_t *out)
{
    const char *at = *text;
    uint64_t number = 0;

    if (*at < '0' || *at > '9' || (at[0] == '0' && at[1] >= '0' && at[1] <= '9'))
        return -EINVAL;
    for (; *at >= '0' && *at <= '9'; at++) {
        unsigned digit = (unsigned)(*at - '0');

        if (number > ((uint64_t)INT64_MAX - digit) / 10)
            return -ERANGE;
        number = number * 10 + digit;
    }
    *text = at;
    *out = number;
    return 0;
}

/* A histogram that grows cell by cell, in ascending order. */
struct growing {
    struct histogram histogram;
    uint64_t bucket;
    uint64_t total;
};

static int grow(struct growing *g, uint64_t delta, uint64_t count)
{
    if (!count || (!delta && g->histogram.length))
        return -EINVAL;
    if (delta >= BUCKET_COUNT - g->bucket || count > INT64_MAX - g->total)
        return -ERANGE;
    g->bucket += delta;
    g->total += count;
    return histogram_add_bucket(&g->histogram, (unsigned)g->bucket, count);
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

int codec_histogram_decode(const char *text, struct histogram *h)
{
    struct growing g = {0};
    int err = 0;

    while (*text && !err) {
        uint64_t delta, count = 1;

        err = get_number(&text, &delta);
        if (!err && *text == ':') {
            text++;
            err = get_number(&text, &count);
        }
        if (!err)
            err = grow(&g, delta, count);
        /* One space between two pairs, none behind the last. */
        if (!err && *text && (*text++ != ' ' || !*text))
            err = -EINVAL;
    }
    return harvest(&g, h, err);
}

static unsigned char *put_varint(unsigned char *to, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        *to++ = (unsigned char)(number | 0x80);
    *to++ = (unsigned char)number;
    return to;
}

unsigned char *codec_histogram_pack(const struct histogram *h, size_t *size)
{
    unsigned char *data = malloc((size_t)h->length * 2 * VARINT_MAX + 1);
    unsigned char *to = data;
    uint64_t total = 0;
    unsigned before = 0;

    if (!data)
        return NULL;
    for (unsigned i = 0; i < h->length; i++) {
        uint64_t count = clamp(&h->cells[i], &total);

        if (!count)
            break;
        to = put_varint(to, h->cells[i].bucket - before);
        to = put_varint(to, count);
        before = h->cells[i].bucket;
    }
    *size = (size_t)(to - data);
    return data;
}

/* 0, -EINVAL for one that is cut off or longer than it need be, -ERANGE. */
static int get_varint(const unsigned char **data, const unsigned char *end, uint64_t *out)
{
    uint64_t number = 0;

    for (unsigned shift = 0; *data < end; shift += 7) {
        unsigned char byte = *(*data)++;

        if (shift == 63)
            return -ERANGE; /* 2^63 and more */
        number |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            if (!byte && shift)
                return -EINVAL;
            *out = number;
            return 0;
        }
    }
    return -EINVAL;
}

int codec_histogram_unpack(const void *data, size_t size, struct histogram *h)
{
    const unsigned char *at = data, *end = at + size;
    struct growing g = {0};
    int err = 0;

    while (at < end && !err) {
        uint64_t delta, count;

        err = get_varint(&at, end, &delta);
        if (!err)
            err = get_varint(&at, end, &count);
        if (!err)
            err = grow(&g, delta, count);
    }
    return harvest(&g, h, err);
}
