/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows for COPY ... (FORMAT binary), built in memory. A zeroed struct is an empty buffer. A failure
 * for want of memory sticks and is told by copy_end().
 */
#ifndef UNBLEND_COLLECTOR_COPY_H
#define UNBLEND_COLLECTOR_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct copy {
    char *data;
    size_t size;
    size_t capacity;
    bool failed;
};

void copy_row(struct copy *copy, unsigned columns);
void copy_int4(struct copy *copy, int32_t value);
void copy_int8(struct copy *copy, int64_t value);
void copy_bytes(struct copy *copy, const void *data, size_t size); /* bytea, text, enum, json */
void copy_null(struct copy *copy);

/* Room for bytes that are written there and then told by copy_reserved(); NULL without memory. */
void *copy_reserve(struct copy *copy, size_t most);
void copy_reserved(struct copy *copy, size_t size);

void copy_time(struct copy *copy, int64_t ns);                     /* timestamptz, cut to us */

/* bigint[] and integer[]; ARRAY_NULL is a null. */
void copy_int8s(struct copy *copy, const int64_t *numbers, size_t count);
void copy_int4s(struct copy *copy, const int64_t *numbers, size_t count);

/* The end of the data. 0 or -ENOMEM. */
int copy_end(struct copy *copy);

/* Back to empty; the memory stays for the next rows unless it is much. */
void copy_reset(struct copy *copy);
void copy_clear(struct copy *copy);

#endif
