/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file of --platform-metrics: counters that grow, of any storage system, as OpenMetrics (or Prometheus's text) or
 * as CSV. A file that is wrong anywhere says nothing at all.
 *
 * CSV: a first line with columns of volume, request (read, write, flush, discard or metadata), ops, bytes, errors,
 * queue_seconds and service_seconds, in any order; volume, request and one more are needed, an empty field is not known.
 *
 * OpenMetrics: counters whose names say in words between underscores what they count: bytes, or ops, operations,
 * requests or ios, or errors, or seconds (those of queue or wait too); and of which request: read, write and their like,
 * or in a label request, op, operation, direction or type. The volume is the label volume, filesystem, fs, pool,
 * bucket, share, export or name, the first there is. Counters of one volume and request add up; all others are left out.
 */
#ifndef UNBLEND_PROBE_PLATFORM_FILE_H
#define UNBLEND_PROBE_PLATFORM_FILE_H

#include <stddef.h>

#include "probe/platform.h"

#define PLATFORM_FILE_MAX (16u << 20) /* bytes */
#define PLATFORM_ROWS_MAX 10000

/* text is NUL-terminated and is changed. Where samples carry their times (ms since 1970), the latest must not be before
   oldest_ms. 0, what the sink gave, -ENOMEM, or -EBADMSG with why filled in: the line, and what is wrong with it. */
int platform_parse(char *text, int64_t oldest_ms, platform_sink sink, void *context, char *why, size_t size);

#endif
