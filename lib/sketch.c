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
#define MOST     9e18 /* of what a number in JSON holds; nobody has as much, but who makes up a sketch may say so */

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

/* Bits of a hash that have to be zero, of a file that is so large. */
static uint32_t shift_of(const struct sketch *sketch, uint64_t bytes)
{
    uint64_t large = sketch->plain ? 0 : bytes >> SKETCH_LARGE;
    uint32_t less = large ? 64 - (uint32_t)__builtin_clzll(large) : 0;

    less = less < SKETCH_LARGE_MAX ? less : SKETCH_LARGE_MAX;
    return sketch->shift > less ? sketch->shift - less : 0;
}

static bool takes(const struct sketch *sketch, const struct sketch_file *file)
{
    return !(file->hash & ((1ull << shift_of(sketch, file->bytes)) - 1));
}

static void leave_out(struct sketch *sketch)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < sketch->count; i++)
        if (takes(sketch, &sketch->files[i]))
            sketch->files[kept++] = sketch->files[i];
    sketch->count = kept;
}

void sketch_raise(struct sketch *sketch, uint32_t shift)
{
    if (shift <= sketch->shift)
        return;
    sketch->shift = shift;
    leave_out(sketch);
}

void sketch_thin(struct sketch *dst, const struct sketch *src)
{
    if (src->plain && !dst->plain) {
        dst->plain = true;
        leave_out(dst);
    }
    sketch_raise(dst, src->shift);
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
        if (!takes(sketch, file)) /* it was larger */
            leave_out(sketch);
        return 0;
    }
    while (sketch->count == SKETCH_MAX && sketch->shift < SKETCH_SHIFT_MAX && takes(sketch, file))
        sketch_raise(sketch, sketch->shift + 1);
    if (!takes(sketch, file) || sketch->count == SKETCH_MAX)
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

    sketch_thin(dst, src);
    for (uint32_t i = 0; i < src->count && !err; i++)
        err = sketch_add(dst, &src->files[i]);
    return err;
}

void sketch_clear(struct sketch *sketch)
{
    free(sketch->files);
    *sketch = (struct sketch){0};
}

/* A sum over the sample, each file times what it stands for: the sum of those that are known for sure is a lower bound. */
struct sum {
    double known, value, variance;
};

static void sum_add(struct sum *sum, const struct sketch *sketch, const struct sketch_file *file, double amount)
{
    double weight = ldexp(1, (int)shift_of(sketch, file->bytes));

    sum->known += amount;
    sum->value += amount * weight;
    sum->variance += amount * amount * weight * (weight - 1);
}

static struct sketch_estimate estimate(const struct sum *sum)
{
    double error = Z_95 * sqrt(sum->variance);

    return (struct sketch_estimate){fmin(sum->value, MOST), fmin(fmax(sum->known, sum->value - error), MOST),
                                    fmin(sum->value + error, MOST)};
}

struct sketch_estimate sketch_files(const struct sketch *sketch, int64_t since_ns)
{
    struct sum sum = {0};

    for (uint32_t i = 0; i < sketch->count; i++)
        if (sketch->files[i].seen_ns >= since_ns)
            sum_add(&sum, sketch, &sketch->files[i], 1);
    return estimate(&sum);
}

struct sketch_estimate sketch_files_of(const struct sketch *sketch, uint64_t lower, uint64_t upper)
{
    struct sum sum = {0};

    for (uint32_t i = 0; i < sketch->count; i++)
        if (sketch->files[i].bytes >= lower && sketch->files[i].bytes < upper)
            sum_add(&sum, sketch, &sketch->files[i], 1);
    return estimate(&sum);
}

struct sketch_estimate sketch_bytes(const struct sketch *sketch, int64_t since_ns)
{
    struct sum sum = {0};

    for (uint32_t i = 0; i < sketch->count; i++)
        if (sketch->files[i].seen_ns >= since_ns)
            sum_add(&sum, sketch, &sketch->files[i], (double)sketch->files[i].bytes);
    return estimate(&sum);
}

char *sketch_text(const struct sketch *sketch)
{
    char *text = malloc(((size_t)sketch->count + 1) * TEXT_MAX), *to = text;

    if (!text)
        return NULL;
    to = decimal_put(to, sketch->shift);
    if (sketch->shift && !sketch->plain)
        *to++ = '+';
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
    sketch->plain = shift && *text != '+';
    text += shift && *text == '+';
    while (!err && *text) {
        if (*text++ != ' ' || hexadecimal_get(&text, &file.hash) || *text++ != ':')
            return -EINVAL;
        err = decimal_get(&text, &file.bytes);
        if (!err && (!takes(sketch, &file) ||
                     (sketch->count && file.hash <= sketch->files[sketch->count - 1].hash)))
            err = -EINVAL;
        if (!err && sketch->count == SKETCH_MAX)
            err = -ERANGE;
        if (!err)
            err = sketch_add(sketch, &file);
    }
    return err;
}
