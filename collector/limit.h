/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often: token buckets for any number of keys, in a table of fixed size. A key that has not been seen for long may
 * be forgotten, and then starts with a full bucket. Safe from several threads.
 */
#ifndef UNBLEND_COLLECTOR_LIMIT_H
#define UNBLEND_COLLECTOR_LIMIT_H

#include <stdbool.h>
#include <stddef.h>

struct limit;

/* So many a second for each key, and so many at once; a rate of 0 is no limit. 0 or -ENOMEM. */
int limit_new(double rate, double burst, struct limit **out);
void limit_free(struct limit *limit); /* NULL is fine */

/* Takes cost out of the key's bucket, which may fall below 0 by one request. 0, or the seconds (at least 1) until there
   is something in it again. */
unsigned limit_take(struct limit *limit, const char *key, double cost);

/* The same answer, and nothing is taken. */
unsigned limit_look(struct limit *limit, const char *key);

#endif
