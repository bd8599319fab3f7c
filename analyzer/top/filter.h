/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is shown, in words: "user:bob fs:ext4 train" shows what bob does on ext4 in rows that match the regular
 * expression "train".
 *
 *   user:NAME pid:N        exactly
 *   job:TEXT volume:TEXT node:TEXT   a glob, or a part of the name; of a volume also of a mount point
 *   fs:TYPE                the file system's type, a glob
 *   anything else          one extended regular expression, upper and lower case alike, on all names of a row
 *
 * Volumes and types choose among records, so that rows count only what was done there; the rest chooses among rows.
 */
#ifndef UNBLEND_ANALYZER_TOP_FILTER_H
#define UNBLEND_ANALYZER_TOP_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/record.h"

struct entity;
struct filter;

/* Of an empty text *out is NULL. 0, -ENOMEM, or -EINVAL with the reason in why. */
int filter_new(const char *text, struct filter **out, char *why, size_t size);
void filter_free(struct filter *filter); /* NULL is fine */

/* A NULL filter lets everything through. */
bool filter_volume(const struct filter *filter, const struct volume *volume);
bool filter_entity(const struct filter *filter, const struct entity *entity);

/* Whether two filters let the same volumes through, as far as their words tell. */
bool filter_same_volumes(const struct filter *a, const struct filter *b);

#endif
