/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What comes first: for qsort() and bsearch(). */
#ifndef UNBLEND_LIB_ORDER_H
#define UNBLEND_LIB_ORDER_H

#include <stdint.h>

/* Below, at or above 0 as x lies before, at or after y. Numbers without side effects, of one type; no NaN. By more than one:
   ORDER(a->x, b->x) ?: ORDER(a->y, b->y). */
#define ORDER(x, y) (((x) > (y)) - ((x) < (y)))

/* Arrays of numbers, ascending. */
static inline int order_doubles(const void *a, const void *b)
{
    return ORDER(*(const double *)a, *(const double *)b);
}

static inline int order_int64(const void *a, const void *b)
{
    return ORDER(*(const int64_t *)a, *(const int64_t *)b);
}

#endif
