/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers and bytes in braces, as SQL takes and gives an array in a text: "{1,null,3}". */
#ifndef UNBLEND_LIB_ARRAY_TEXT_H
#define UNBLEND_LIB_ARRAY_TEXT_H

#include <stddef.h>
#include <stdint.h>

#define ARRAY_NULL (-1) /* stands for a null element */

/* malloc'ed; NULL without memory. */
char *array_text(const int64_t *numbers, size_t count);

/* Elements of so many bytes each, for a bytea[]; NULL without memory. */
char *array_of_bytes(const uint8_t *const *elements, size_t size, size_t count);

/* The numbers in such a text; *numbers is malloc'ed, not NULL when there are none. 0, -ENOMEM, or -EBADMSG when it is
   another text. */
int array_numbers(const char *text, int64_t **numbers, size_t *count);

#endif
