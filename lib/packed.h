/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A batch as top reads it from the agent's socket once a second, with each process of a node in it: processes and
 * records, which are nearly all of such a batch, stand as varints behind the rest of it, which is JSON (lib/codec.h).
 * It takes a tenth of the time that JSON does. Nothing that is kept, or leaves the node, has this form: it may change
 * from one version to the next, then with PACKED_FORM.
 *
 *   varint length of the JSON, the JSON of the batch without processes and records
 *   varint how many processes, then of each: pid, tid, uid, start_ns, job, exited, command
 *   varint how many records, then of each: job, volume, process + 1 (0: none), op, what follows of the parts,
 *     bytes, errors, latency_sum_ns, latency_ns, parts
 *
 * A string and a histogram (codec_histogram_pack()) have their length in bytes before them.
 */
#ifndef UNBLEND_LIB_PACKED_H
#define UNBLEND_LIB_PACKED_H

#include "lib/codec.h"

#define PACKED_FORM "packed-3"

/* Malloc'ed. 0 or -ENOMEM. */
int packed_encode(const struct batch *batch, void **out, size_t *size);

/* 0, -ENOMEM, or -EBADMSG with *error filled in. */
int packed_decode(const void *data, size_t size, struct batch **out, struct codec_error *error)
    __attribute__((warn_unused_result));

#endif
