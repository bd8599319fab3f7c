/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/sketch.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/varint.h"

#define TEXT_MAX 40   /* " ffffffffffffffff:9223372036854775807" and '\0' */
#define Z_95     1.96 /* of the normal distribution */

/* The place of the first hash that is not below. */
static uint32_t place_of(const struct sketch *sketch, uint64_t hash)
{
    uint32_t low = 0, high = sketch->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (sketch->files[middle].hash < hash)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void sketch_raise(struct sketch *sketch, uint32_t shift)
{
    uint32_t kept = 0;

    if (shift <= sketch->shift)
        return;
    for (uint32_t i = 0; i < sketch->count; i++)
        if (sketch_takes(shift, sketch->files[i].hash))
            sketch->files[kept++] = sketch->files[i];
    sketch->count = kept;
    sketch->shift = shift;
}

static struct sketch_file *find(const struct sketch *sketch, uint64_t hash)
{
    uint32_t at = place_of(sketch, hash);

    return at < sketch->count && sketch->files[at].hash == hash ? &sketch->files[at] : NULL;
}

int sketch_add(struct sketch *sketch, const struct sketch_file *file)
{
    struct sketch_file *known = find(sketch, file->hash);
    uint32_t at;

    if (known) {
        *known = *file;
        return 0;
    }
    while (sketch->count == SKETCH_MAX && sketch->shift < SKETCH_SHIFT_MAX && sketch_takes(sketch->shift, file->hash))
        sketch_raise(sketch, sketch->shift + 1);
    if (!sketch_takes(sketch->shift, file->hash) || sketch->count == SKETCH_MAX)
        return 0; /* with the largest shift so many would be no hashes */
    at = place_of(sketch, file->hash);
    if (sketch->count == sketch->capacity) {
        uint32_t wanted = sketch->capacity ? 2 * sketch->capacity : 16;
        struct sketch_file *grown = reallocarray(sketch->files, wanted, sizeof(*grown));

        if (!grown)
            return -ENOMEM;
        sketch->files = grown;
        sketch->capacity = wanted;
    }
    memmove(sketch->files + at + 1, sketch->files + at, (sketch->count - at) * sizeof(*sketch->files));
    sketch->files[at] = *file;
    sketch->count++;
    return 0;
}

int sketch_merge(struct sketch *dst, const struct sketch *src)
{
    int err = 0;

    sketch_raise(dst, src->shift);
    for (uint32_t i = 0; i < src->count && !err; i++)
        err = sketch_add(dst, &src->files[i]);
    return err;
}

void sketch_clear(struct sketch *sketch)
{
    free(sketch->files);
    *sketch = (struct sketch){0};
}

/* A sum over the sample, of which the part known for sure is a lower bound. */
static struct sketch_estimate estimate(const struct sketch *sketch, double sum, double squares)
{
    double share = ldexp(1, -(int)sketch->shift), value = sum / share;
    double error = Z_95 * sqrt(squares * (1 - share)) / share;

    return (struct sketch_estimate){value, value - error > sum ? value - error : sum, value + error};
}

struct sketch_estimate sketch_files(const struct sketch *sketch, int64_t since_ns)
{
    double sum = 0;

    for (uint32_t i = 0; i < sketch->count; i++)
        sum += sketch->files[i].seen_ns >= since_ns;
    return estimate(sketch, sum, sum);
}

struct sketch_estimate sketch_bytes(const struct sketch *sketch, int64_t since_ns)
{
    double sum = 0, squares = 0;

    for (uint32_t i = 0; i < sketch->count; i++) {
        double bytes = sketch->files[i].seen_ns >= since_ns ? (double)sketch->files[i].bytes : 0;

        sum += bytes;
        squares += bytes * bytes;
    }
    return estimate(sketch, sum, squares);
}

char *sketch_text(const struct sketch *sketch)
{
    char *text = malloc(((size_t)sketch->count + 1) * TEXT_MAX), *to = text;

    if (!text)
        return NULL;
    to = decimal_put(to, sketch->shift);
    for (uint32_t i = 0; i < sketch->count; i++)
        to += sprintf(to, " %" PRIx64 ":%" PRIu64, sketch->files[i].hash,
                      sketch->files[i].bytes > INT64_MAX ? (uint64_t)INT64_MAX : sketch->files[i].bytes);
    *to = '\0';
    return text;
}

/* Up to 16 hexadecimal digits in lower case. 0 or -EINVAL. */
static int hexadecimal_get(const char **text, uint64_t *out)
{
    static const char digits[] = "0123456789abcdef";
    uint64_t value = 0;
    unsigned length = 0;

    for (const char *digit; **text && (digit = strchr(digits, **text)); (*text)++, length++)
        value = value << 4 | (uint64_t)(digit - digits);
    if (!length || length > 16)
        return -EINVAL;
    *out = value;
    return 0;
}

int sketch_parse(const char *text, struct sketch *sketch)
{
    struct sketch_file file = {0};
    uint64_t shift;
    int err = decimal_get(&text, &shift);

    if (!err && shift > SKETCH_SHIFT_MAX)
        err = -ERANGE;
    if (err)
        return err;
    sketch->shift = (uint32_t)shift;
    while (!err && *text) {
        if (*text++ != ' ' || hexadecimal_get(&text, &file.hash) || *text++ != ':')
            return -EINVAL;
        err = decimal_get(&text, &file.bytes);
        if (!err && (!sketch_takes(sketch->shift, file.hash) ||
                     (sketch->count && file.hash <= sketch->files[sketch->count - 1].hash)))
            err = -EINVAL;
        if (!err && sketch->count == SKETCH_MAX)
            err = -ERANGE;
        if (!err)
            err = sketch_add(sketch, &file);
    }
    return err;
}
