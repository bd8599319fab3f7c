/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bucket arithmetic of every Unblend histogram: base-2 log-linear, eight buckets to an octave, so no
 * bucket is wider than 12.5 % of its lower bound. The layout is that of an HDR histogram with three
 * bits of precision (Tene, "HdrHistogram"), and is the same in the kernel, in a file, on the wire and
 * in the database, so nothing is ever binned twice.
 *
 *   bucket 0      the value 0 alone (a read that returns 0 is not a small read)
 *   bucket 1..7   the values 1..7, exactly
 *   bucket 8..    8 * octave + the three bits below the leading one
 *
 * A bucket holds [lower, upper). Freestanding: the BPF programs include this file too; the integer
 * types come from whoever includes it.
 */
#ifndef UNBLEND_LIB_BUCKET_H
#define UNBLEND_LIB_BUCKET_H

#ifndef __bpf__
#include <stdint.h>
#endif

#define BUCKET_SUB_BITS 3
#define BUCKET_SUB      (1u << BUCKET_SUB_BITS)

/* Buckets needed for values below 2^bits. */
#define BUCKETS_FOR_BITS(bits) (((bits) - BUCKET_SUB_BITS + 1) << BUCKET_SUB_BITS)

/* Buckets needed for all of uint64_t. */
#define BUCKET_COUNT BUCKETS_FOR_BITS(64)

/* bits (a power of two) if a value below 2^63 has more than that many, else 0; no branch, as none could be foretold. */
static inline __attribute__((always_inline)) unsigned bucket_step(uint64_t value, unsigned bits)
{
    uint64_t more = ((uint64_t)1 << bits) - 1 - value;

    __asm__("" : "+r"(more)); /* else clang makes a comparison of it, and in BPF a branch */
    more >>= 63;
    return (unsigned)more * bits;
}

/* Position of the highest set bit of a value below 2^16 that is not 0. Written out: BPF has no such instruction. */
static inline __attribute__((always_inline)) unsigned bucket_msb_of_16(uint64_t value)
{
    unsigned msb = 0, step;

    step = bucket_step(value, 8);
    msb += step;
    value >>= step;
    step = bucket_step(value, 4);
    msb += step;
    value >>= step;
    step = bucket_step(value, 2);
    msb += step;
    value >>= step;
    return msb + (unsigned)(value >> 1);
}

/* The same of any value but 0. */
static inline __attribute__((always_inline)) unsigned bucket_msb(uint64_t value)
{
    unsigned msb = 0, step;

    if (value >> 32) {
        msb = 32;
        value >>= 32;
    }
    step = bucket_step(value, 16);
    return msb + step + bucket_msb_of_16(value >> step);
}

/* The bucket of a value of BUCKET_SUB and more, whose highest set bit is there. */
static inline __attribute__((always_inline)) unsigned bucket_at(uint64_t value, unsigned msb)
{
    unsigned shift = msb - BUCKET_SUB_BITS;

    return (shift << BUCKET_SUB_BITS) + (unsigned)(value >> shift);
}

static inline __attribute__((always_inline)) unsigned bucket_of(uint64_t value)
{
    return value < BUCKET_SUB ? (unsigned)value : bucket_at(value, bucket_msb(value));
}

/* The smallest value of a bucket. */
static inline uint64_t bucket_lower(unsigned bucket)
{
    unsigned shift;

    if (bucket < 2 * BUCKET_SUB)
        return bucket;
    shift = (bucket >> BUCKET_SUB_BITS) - 1;
    return (uint64_t)(BUCKET_SUB + (bucket & (BUCKET_SUB - 1))) << shift;
}

/* The largest value of a bucket. */
static inline uint64_t bucket_last(unsigned bucket)
{
    return bucket + 1 < BUCKET_COUNT ? bucket_lower(bucket + 1) - 1 : UINT64_MAX;
}

/* From its smallest value to its largest. */
static inline double bucket_width(unsigned bucket)
{
    return (double)(bucket_last(bucket) - bucket_lower(bucket));
}

/* What values of a bucket are on average, were they spread evenly. */
static inline double bucket_middle(unsigned bucket)
{
    return ((double)bucket_lower(bucket) + (double)bucket_last(bucket)) / 2;
}

#endif
