/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The members of a JSON object that came from outside, read strictly: each has its type and its
 * bounds, and what is wrong is said with the member's name. All return 0 or -EBADMSG with the error
 * filled in; *out is written only on success. Strings belong to the JSON value.
 */
#ifndef UNBLEND_LIB_FIELD_H
#define UNBLEND_LIB_FIELD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/codec.h"

/* Where the object stands: at the top, in "coverage", or at 3 of the table "records". */
struct field_place {
    struct codec_error *error;
    const char *table; /* NULL at the top */
    bool indexed;
    size_t at;
};

/* Fills the error in, in printable ASCII; key NULL is the object itself. Always -EBADMSG. */
int field_refuse(const struct field_place *p, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

int field_get(const struct field_place *p, const json_t *o, const char *key, json_t **out);

/* Whole numbers from 0 to max, 2^63 - 1 or 2^32 - 1. */
int field_number(const struct field_place *p, const json_t *o, const char *key, uint64_t max,
                 uint64_t *out);
int field_count(const struct field_place *p, const json_t *o, const char *key, uint64_t *out);
/* An array of exactly so many counts. */
int field_counts(const struct field_place *p, const json_t *o, const char *key, size_t length,
                 uint64_t *out);
int field_u32(const struct field_place *p, const json_t *o, const char *key, uint32_t *out);

/* A position in a table of that length. */
int field_index(const struct field_place *p, const json_t *o, const char *key, uint32_t length,
                uint32_t *out);

/* Nanoseconds since 1970; where null is allowed, it leaves *out alone. */
int field_time(const struct field_place *p, const json_t *o, const char *key, int64_t *out);
int field_time_or_null(const struct field_place *p, const json_t *o, const char *key, int64_t *out);

int field_text(const struct field_place *p, const json_t *o, const char *key, const char **out);
int field_text_or_null(const struct field_place *p, const json_t *o, const char *key,
                       const char **out);
int field_bool(const struct field_place *p, const json_t *o, const char *key, bool *out);

/* One of two words; *out tells whether it is the first. */
int field_choice(const struct field_place *p, const json_t *o, const char *key, const char *yes,
                 const char *no, bool *out);

/* A string of pairs, see lib/codec.h. -ENOMEM, too. */
int field_histogram(const struct field_place *p, const json_t *o, const char *key,
                    struct histogram *out);
int field_joint(const struct field_place *p, const json_t *o, const char *key, struct histogram *out);

int field_array(const struct field_place *p, const json_t *o, const char *key, size_t max,
                json_t **out);

#endif
