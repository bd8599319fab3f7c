/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/varint.h"

#include <errno.h>

unsigned char *varint_put(unsigned char *to, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        *to++ = (unsigned char)(number | 0x80);
    *to++ = (unsigned char)number;
    return to;
}

int varint_get(const unsigned char **data, const unsigned char *end, uint64_t *out)
{
    uint64_t number = 0;

    for (unsigned shift = 0; *data < end; shift += 7) {
        unsigned char byte = *(*data)++;

        if (shift == 63)
            return -ERANGE; /* 2^63 and more */
        number |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            if (!byte && shift)
                return -EINVAL;
            *out = number;
            return 0;
        }
    }
    return -EINVAL;
}

char *decimal_put(char *to, uint64_t number)
{
    char digits[20];
    unsigned length = 0;

    do
        digits[length++] = (char)('0' + number % 10);
    while (number /= 10);
    while (length)
        *to++ = digits[--length];
    return to;
}

int decimal_get(const char **text, uint64_t *out)
{
    const char *at = *text;
    uint64_t number = 0;

    if (*at < '0' || *at > '9' || (at[0] == '0' && at[1] >= '0' && at[1] <= '9'))
        return -EINVAL;
    for (; *at >= '0' && *at <= '9'; at++) {
        unsigned digit = (unsigned)(*at - '0');

        if (number > ((uint64_t)INT64_MAX - digit) / 10)
            return -ERANGE;
        number = number * 10 + digit;
    }
    *text = at;
    *out = number;
    return 0;
}
