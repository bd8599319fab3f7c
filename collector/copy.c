/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/copy.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array_text.h"

#define KEEP       (4u << 20)
#define EPOCH_2000 INT64_C(946684800000000) /* PostgreSQL counts us from 2000 on */
#define INT8_OID   20 /* of pg_type: the same in every PostgreSQL */
#define INT4_OID   23

static bool make_room(struct copy *copy, size_t size)
{
    if (copy->capacity - copy->size < size) {
        size_t wanted = (copy->size + size) * 2;
        char *grown = realloc(copy->data, wanted);

        if (!grown) {
            copy->failed = true;
            return false;
        }
        copy->data = grown;
        copy->capacity = wanted;
    }
    return true;
}

static void add(struct copy *copy, const void *data, size_t size)
{
    if (!make_room(copy, size))
        return;
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

void *copy_reserve(struct copy *copy, size_t most)
{
    return make_room(copy, sizeof(uint32_t) + most) ? copy->data + copy->size + sizeof(uint32_t) : NULL;
}

void copy_reserved(struct copy *copy, size_t size)
{
    uint32_t length = htonl((uint32_t)size);

    memcpy(copy->data + copy->size, &length, sizeof(length));
    copy->size += sizeof(length) + size;
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

/* What PostgreSQL's array_recv() takes: dimensions, whether there are nulls, the elements' type; of the one dimension
   its length and first index. */
static void add_array(struct copy *copy, const int64_t *numbers, size_t count, uint32_t type,
                      void (*element)(struct copy *, int64_t))
{
    const size_t at = copy->size;
    uint32_t head[5] = {htonl(count != 0), 0, htonl(type), htonl((uint32_t)count), htonl(1)}, length = 0;

    for (size_t i = 0; i < count; i++)
        if (numbers[i] == ARRAY_NULL)
            head[1] = htonl(1);
    add(copy, &length, sizeof(length));
    add(copy, head, count ? sizeof(head) : 3 * sizeof(*head));
    for (size_t i = 0; i < count; i++)
        if (numbers[i] == ARRAY_NULL)
            copy_null(copy);
        else
            element(copy, numbers[i]);
    if (copy->failed)
        return;
    length = htonl((uint32_t)(copy->size - at - sizeof(length)));
    memcpy(copy->data + at, &length, sizeof(length));
}

static void add_as_int4(struct copy *copy, int64_t value)
{
    copy_int4(copy, (int32_t)value);
}

void copy_int8s(struct copy *copy, const int64_t *numbers, size_t count)
{
    add_array(copy, numbers, count, INT8_OID, copy_int8);
}

void copy_int4s(struct copy *copy, const int64_t *numbers, size_t count)
{
    add_array(copy, numbers, count, INT4_OID, add_as_int4);
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
