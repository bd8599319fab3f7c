/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unsigned LEB128 varints, as in DWARF: below 2^63, and in one way only. */
#ifndef UNBLEND_LIB_VARINT_H
#define UNBLEND_LIB_VARINT_H

#include <stdint.h>

#define VARINT_MAX 10 /* bytes of a uint64_t */

/* Behind what it wrote. */
unsigned char *varint_put(unsigned char *to, uint64_t number);

/* Moves *data behind the number. 0, -EINVAL for one that is cut off or longer than it need be, -ERANGE. */
int varint_get(const unsigned char **data, const unsigned char *end, uint64_t *out);

/* Decimal digits the same way: without sign or leading zeros. The text is written without a '\0'. */
#define DECIMAL_MAX 20
char *decimal_put(char *to, uint64_t number);
int decimal_get(const char **text, uint64_t *out);

#endif
