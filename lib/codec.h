/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Batch <-> JSON: the only codec, for files, sockets and the wire. One batch is one line. The format
 * ("unblend.batch/1") is described in unblend-batch(5); unknown keys are ignored, so a newer
 * agent can add to it.
 *
 * A histogram travels as one string of "delta:count" pairs, in ascending order of buckets: "72:3 8:1"
 * is three values of bucket 72 and one of bucket 80; a count of 1 is left out ("72:3 8").
 */
#ifndef UNBLEND_LIB_CODEC_H
#define UNBLEND_LIB_CODEC_H

#include <stddef.h>

#include "lib/record.h"

#define CODEC_SCHEMA      "unblend.batch/1"
#define CODEC_DROPPED_MAX 1000    /* ranges of dropped batches, and more are refused, too */
#define CODEC_RECORDS_MAX 1000000 /* more records in a batch are refused */

/* What is wrong with a batch that was refused. */
struct codec_error {
    char field[64]; /* "records[3].size"; "" when it is no JSON at all */
    char why[160];
};

/* A line of JSON without the newline, malloc'ed. 0 or -ENOMEM. */
int codec_encode(const struct batch *batch, char **json, size_t *size);

/* 0, -ENOMEM, or -EBADMSG with *error filled in. */
int codec_decode(const char *json, size_t size, struct batch **out, struct codec_error *error)
    __attribute__((warn_unused_result));

/* The histogram's string, malloc'ed; NULL when there is no memory. */
char *codec_histogram_encode(const struct histogram *h);

/* Adds the string's values to h. 0, -EINVAL for what is no such string, -ENOMEM, -ERANGE. */
int codec_histogram_decode(const char *text, struct histogram *h);
int codec_joint_decode(const char *text, struct histogram *h); /* the same of record.joint's buckets */

/*
 * The same pairs for the database's bytea: per cell the delta to the bucket before (the first: to 0) and the
 * count, both as LEB128 varints, as in DWARF. pack: malloc'ed, NULL without memory, *size 0 and a
 * valid pointer for an empty one. unpack as codec_histogram_decode().
 */
unsigned char *codec_histogram_pack(const struct histogram *h, size_t *size);
/* The same into a buffer of codec_histogram_room() bytes; returns the end. */
size_t codec_histogram_room(const struct histogram *h);
unsigned char *codec_histogram_put(unsigned char *to, const struct histogram *h);
int codec_histogram_unpack(const void *data, size_t size, struct histogram *h);
int codec_joint_unpack(const void *data, size_t size, struct histogram *h);

#endif
