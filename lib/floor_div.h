/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Division that rounds down, also below 0, as times before 1970 are numbered. */
#ifndef UNBLEND_LIB_FLOOR_DIV_H
#define UNBLEND_LIB_FLOOR_DIV_H

#include <stdint.h>

/* b > 0 */
static inline int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

#endif
