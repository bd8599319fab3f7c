/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arrays that grow by doubling; elements are appended, never removed. */
#ifndef UNBLEND_LIB_VECTOR_H
#define UNBLEND_LIB_VECTOR_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Makes sure that array[count] exists and is zeroed. 0 or -ENOMEM, array unchanged. */
static inline int vector_reserve(void **array, uint32_t *capacity, uint32_t count, size_t size)
{
    uint32_t wanted = *capacity ? *capacity * 2 : 4;
    void *grown;

    if (count == *capacity) {
        grown = reallocarray(*array, wanted, size);
        if (!grown)
            return -ENOMEM;
        *array = grown;
        *capacity = wanted;
    }
    memset((char *)*array + (size_t)count * size, 0, size);
    return 0;
}

#endif
