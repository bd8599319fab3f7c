/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/field.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int field_refuse(const struct field_place *p, const char *key, const char *format, ...)
{
    struct codec_error *e = p->error;
    va_list args;

    if (!p->table)
        snprintf(e->field, sizeof(e->field), "%s", key ? key : "");
    else if (p->indexed)
        snprintf(e->field, sizeof(e->field), "%s[%zu]%s%s", p->table, p->at, key ? "." : "",
                 key ? key : "");
    else
        snprintf(e->field, sizeof(e->field), "%s%s%s", p->table, key ? "." : "", key ? key : "");
    va_start(args, format);
    vsnprintf(e->why, sizeof(e->why), format, args);
    va_end(args);
    /* It quotes what others sent, cut anywhere: plain ASCII goes into any log and any answer. */
    for (char *c = e->why; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
    return -EBADMSG;
}

int field_get(const struct field_place *p, const json_t *o, const char *key, json_t **out)
{
    *out = json_object_get(o, key);
    return *out ? 0 : field_refuse(p, key, "is missing");
}

int field_number(const struct field_place *p, const json_t *o, const char *key, uint64_t max,
                 uint64_t *out)
{
    json_t *value;
    json_int_t number;
    int err = field_get(p, o, key, &value);

    if (err)
        return err;
    if (!json_is_integer(value))
        return field_refuse(p, key, "is not a whole number");
    number = json_integer_value(value);
    if (number < 0)
        return field_refuse(p, key, "is negative");
    if ((uint64_t)number > max)
        return field_refuse(p, key, "is above %" PRIu64, max);
    *out = (uint64_t)number;
    return 0;
}

int field_count(const struct field_place *p, const json_t *o, const char *key, uint64_t *out)
{
    return field_number(p, o, key, INT64_MAX, out);
}

int field_counts(const struct field_place *p, const json_t *o, const char *key, size_t length,
                 uint64_t *out)
{
    json_t *array;
    int err = field_array(p, o, key, length, &array);

    if (err)
        return err;
    if (json_array_size(array) != length)
        return field_refuse(p, key, "has not exactly %zu numbers", length);
    for (size_t i = 0; i < length; i++) {
        const json_t *number = json_array_get(array, i);

        if (!json_is_integer(number) || json_integer_value(number) < 0)
            return field_refuse(p, key, "holds what is not a whole number");
        out[i] = (uint64_t)json_integer_value(number);
    }
    return 0;
}

int field_u32(const struct field_place *p, const json_t *o, const char *key, uint32_t *out)
{
    uint64_t number = 0;
    int err = field_number(p, o, key, UINT32_MAX, &number);

    if (!err)
        *out = (uint32_t)number;
    return err;
}

int field_index(const struct field_place *p, const json_t *o, const char *key, uint32_t length,
                uint32_t *out)
{
    uint32_t index = 0;
    int err = field_u32(p, o, key, &index);

    if (err)
        return err;
    if (index >= length)
        return field_refuse(p, key, "is %" PRIu32 ", but there are only %" PRIu32, index, length);
    *out = index;
    return 0;
}

int field_time(const struct field_place *p, const json_t *o, const char *key, int64_t *out)
{
    uint64_t ns = 0;
    int err = field_count(p, o, key, &ns);

    if (!err)
        *out = (int64_t)ns;
    return err;
}

int field_time_or_null(const struct field_place *p, const json_t *o, const char *key, int64_t *out)
{
    return json_is_null(json_object_get(o, key)) ? 0 : field_time(p, o, key, out);
}

int field_text(const struct field_place *p, const json_t *o, const char *key, const char **out)
{
    json_t *value;
    int err = field_get(p, o, key, &value);

    if (err)
        return err;
    if (!json_is_string(value))
        return field_refuse(p, key, "is not a string");
    *out = json_string_value(value);
    return 0;
}

int field_text_or_null(const struct field_place *p, const json_t *o, const char *key,
                       const char **out)
{
    return json_is_null(json_object_get(o, key)) ? 0 : field_text(p, o, key, out);
}

int field_bool(const struct field_place *p, const json_t *o, const char *key, bool *out)
{
    json_t *value;
    int err = field_get(p, o, key, &value);

    if (err)
        return err;
    if (!json_is_boolean(value))
        return field_refuse(p, key, "is neither true nor false");
    *out = json_is_true(value);
    return 0;
}

int field_choice(const struct field_place *p, const json_t *o, const char *key, const char *yes,
                 const char *no, bool *out)
{
    const char *word = "";
    int err = field_text(p, o, key, &word);

    if (err)
        return err;
    *out = strcmp(word, yes) == 0;
    return *out || strcmp(word, no) == 0
               ? 0
               : field_refuse(p, key, "is \"%.40s\", neither %s nor %s", word, yes, no);
}

static int get_pairs(const struct field_place *p, const json_t *o, const char *key,
                     int (*decode)(const char *, struct histogram *), struct histogram *out)
{
    const char *pairs = NULL;
    int err = field_text(p, o, key, &pairs);

    if (err)
        return err;
    err = decode(pairs, out);
    if (err == -ENOMEM)
        return err;
    if (err)
        return field_refuse(p, key,
                            err == -ERANGE ? "has a bucket or a count that is too large"
                                           : "is no list of bucket:count pairs");
    return 0;
}

int field_histogram(const struct field_place *p, const json_t *o, const char *key, struct histogram *out)
{
    return get_pairs(p, o, key, codec_histogram_decode, out);
}

int field_joint(const struct field_place *p, const json_t *o, const char *key, struct histogram *out)
{
    return get_pairs(p, o, key, codec_joint_decode, out);
}

int field_array(const struct field_place *p, const json_t *o, const char *key, size_t max,
                json_t **out)
{
    int err = field_get(p, o, key, out);

    if (err)
        return err;
    if (!json_is_array(*out))
        return field_refuse(p, key, "is not an array");
    if (json_array_size(*out) > max)
        return field_refuse(p, key, "has %zu elements, more than %zu", json_array_size(*out), max);
    return 0;
}
