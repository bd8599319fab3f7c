/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where in the histogram record.joint transfers that moved something stand: by what is said of all sizes together
 * (record.order, record.file_size) and by their size. Those of files whose size is not known are the rest of record.size;
 * those that went on where the last one ended are the rest of their kind's, as far as record.order knows it of all.
 * Reads that moved nothing are there, too, and stats that found a regular file: both of the size 0, and those by name in the
 * place of those that jumped.
 */
#ifndef UNBLEND_LIB_JOINT_H
#define UNBLEND_LIB_JOINT_H

#include "lib/bucket.h"
#include "lib/file_size.h"
#include "lib/histogram.h"

/* The transfers of a kind, or those of them that jumped: ORDER_SEQUENTIAL and ORDER_RANDOM. */
enum joint { JOINT_ALL, JOINT_JUMPED, JOINTS };

#define JOINT_KINDS   (FILE_SIZES + 1) /* enum file_size + 1; 0: not known, of which JOINT_ALL is not counted */
#define JOINT_BUCKETS (JOINTS * JOINT_KINDS * BUCKET_COUNT)

static inline unsigned joint_bucket(enum joint joint, unsigned kind, unsigned bucket)
{
    return ((unsigned)joint * JOINT_KINDS + kind) * BUCKET_COUNT + bucket;
}

/* The parts of such a bucket. */
static inline enum joint joint_of(unsigned bucket)
{
    return (enum joint)(bucket / (JOINT_KINDS * BUCKET_COUNT));
}

static inline unsigned joint_kind(unsigned bucket)
{
    return bucket / BUCKET_COUNT % JOINT_KINDS;
}

static inline unsigned joint_size(unsigned bucket)
{
    return bucket % BUCKET_COUNT;
}

/* As histogram_add_bucket(). */
static inline int joint_add(struct histogram *h, enum joint joint, unsigned kind, unsigned bucket, uint64_t count)
{
    return histogram_add_below(h, JOINT_BUCKETS, joint_bucket(joint, kind, bucket), count);
}

#endif
