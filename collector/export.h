/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The raw batches of a span of time, out of the database again, as those outside of the site may see them. */
#ifndef UNBLEND_COLLECTOR_EXPORT_H
#define UNBLEND_COLLECTOR_EXPORT_H

#include "collector/db.h"
#include "lib/bundle.h"
#include "lib/outward.h"

/* Adds each batch that begins in [since_ns, until_ns) to the bundle, in the order of their time. 0 or -errno
   (logged). */
int export_batches(const struct db *db, int64_t since_ns, int64_t until_ns, const struct outward *outward,
                   struct bundle_writer *bundle, uint64_t *count);

#endif
