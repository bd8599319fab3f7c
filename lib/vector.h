/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arrays that grow by doubling; elements are appended, never removed. */
#ifndef UNBLEND_LIB_VECTOR_H
#define UNBLEND_LIB_VECTOR_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Makes sure that array[count] exists, whatever is in it. 0 or -ENOMEM, array unchanged. */
static inline int vector_grow(void **array, uint32_t *capacity, uint32_t count, size_t size)
{
    uint32_t wanted = *capacity ? *capacity * 2 : 4;
    void *grown;

    if (count < *capacity)
        return 0;
    grown = reallocarray(*array, wanted, size);
    if (!grown)
        return -ENOMEM;
    *array = grown;
    *capacity = wanted;
    return 0;
}

/* The same, and that it is zeroed. */
static inline int vector_reserve(void **array, uint32_t *capacity, uint32_t count, size_t size)
{
    int err = vector_grow(array, capacity, count, size);

    if (!err)
        memset((char *)*array + (size_t)count * size, 0, size);
    return err;
}

#endif
