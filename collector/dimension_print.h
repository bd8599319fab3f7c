/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the rows of a batch are remembered by: their content without the JSON that finds them in the database. */
#ifndef UNBLEND_COLLECTOR_DIMENSION_PRINT_H
#define UNBLEND_COLLECTOR_DIMENSION_PRINT_H

#include "collector/copy.h"
#include "collector/dimension_cache.h"
#include "lib/record.h"

/* The key's digest; bytes is room to work in, of any content. 0 or -ENOMEM. */
int dimension_print_host(const struct batch *batch, struct copy *bytes, struct dimension_key *key);
int dimension_print_job(const struct job *job, struct copy *bytes, struct dimension_key *key);
int dimension_print_volume(const struct volume *volume, struct copy *bytes, struct dimension_key *key);

#endif
