/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/copy.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KEEP       (4u << 20)
#define EPOCH_2000 INT64_C(946684800000000) /* PostgreSQL counts us from 2000 on */

static void add(struct copy *copy, const void *data, size_t size)
{
    if (copy->capacity - copy->size < size) {
        size_t wanted = (copy->size + size) * 2;
        char *grown = realloc(copy->data, wanted);

        if (!grown) {
            copy->failed = true;
            return;
        }
        copy->data = grown;
        copy->capacity = wanted;
    }
    memcpy(copy->data + copy->size, data, size);
    copy->size += size;
}

void copy_row(struct copy *copy, unsigned columns)
{
    static const char header[19] = "PGCOPY\n\377\r\n"; /* with its '\0', no flags, no extension */
    uint16_t count = htons((uint16_t)columns);

    if (!copy->size)
        add(copy, header, sizeof(header));
    add(copy, &count, sizeof(count));
}

void copy_bytes(struct copy *copy, const void *data, size_t size)
{
    uint32_t length = htonl((uint32_t)size);

    add(copy, &length, sizeof(length));
    add(copy, data, size);
}

void copy_null(struct copy *copy)
{
    const uint32_t none = UINT32_MAX;

    add(copy, &none, sizeof(none));
}

void copy_int4(struct copy *copy, int32_t value)
{
    uint32_t big = htonl((uint32_t)value);

    copy_bytes(copy, &big, sizeof(big));
}

void copy_int8(struct copy *copy, int64_t value)
{
    uint64_t big = htobe64((uint64_t)value);

    copy_bytes(copy, &big, sizeof(big));
}

void copy_time(struct copy *copy, int64_t ns)
{
    copy_int8(copy, ns / 1000 - EPOCH_2000);
}

int copy_end(struct copy *copy)
{
    uint16_t end = 0xffff;

    add(copy, &end, sizeof(end));
    return copy->failed ? -ENOMEM : 0;
}

void copy_reset(struct copy *copy)
{
    if (copy->capacity > KEEP)
        copy_clear(copy);
    copy->size = 0;
    copy->failed = false;
}

void copy_clear(struct copy *copy)
{
    free(copy->data);
    *copy = (struct copy){0};
}
