/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sample of the distinct files that were opened: in it are those whose hash ends in `shift` zero bits, so each file
 * with probability 2^-shift, and the same ones in every interval and on every node. Samples therefore merge, to the
 * larger shift, and what several have seen counts once (distinct sampling: P. B. Gibbons, VLDB 2001). With shift 0 it
 * is no sample but all of them.
 *
 * Few large files may have most of the bytes: of a file of 1 MiB or more one bit less has to be zero, of one of 2 MiB or
 * more another, and so on (sampling with probability proportional to size; N. Duffield, C. Lund, M. Thorup, Priority
 * sampling, JACM 2007). Samples of older agents are plain, without that, and what they merge with is plain then.
 *
 * A zeroed struct is an empty sketch; sketch_clear() gives its memory back.
 */
#ifndef UNBLEND_LIB_SKETCH_H
#define UNBLEND_LIB_SKETCH_H

#include <stdbool.h>
#include <stdint.h>

#define SKETCH_MAX       2048 /* files; with more the shift rises */
#define SKETCH_SHIFT_MAX 40
#define SKETCH_LARGE     20 /* bits of 1 MiB, from which on files are large; */
#define SKETCH_LARGE_MAX 20 /* and of how many times as much, from which on they are all alike */

struct sketch_file {
    uint64_t hash;  /* of the inode, unique on its volume as far as 64 bits are */
    uint64_t bytes; /* its size when it was opened last */
    int64_t seen_ns; /* when that was, for whoever merges over time; not in the text */
};

struct sketch {
    uint32_t shift;
    bool plain; /* large files are in it like others; only with a shift */
    uint32_t count, capacity;
    struct sketch_file *files; /* by rising hash */
};

/* How many there are, or their bytes in all: the estimate and its 95 % interval; all equal when shift is 0. */
struct sketch_estimate {
    double value, low, high;
};

/* One file more, or again, and then later; nothing when the shift leaves it out. 0 or -ENOMEM. */
int sketch_add(struct sketch *sketch, const struct sketch_file *file);

/* Leaves out what a shift leaves out; nothing when the sketch's own is larger. */
void sketch_raise(struct sketch *sketch, uint32_t shift);

/* Leaves out of dst what src would have left out. */
void sketch_thin(struct sketch *dst, const struct sketch *src);

/* Adds src, which is later, to dst. 0 or -ENOMEM. */
int sketch_merge(struct sketch *dst, const struct sketch *src);

void sketch_clear(struct sketch *sketch);

/* Of the files that were seen then or later: Horvitz-Thompson estimates, as of each file it is known with which probability
   it is in the sample. */
struct sketch_estimate sketch_files(const struct sketch *sketch, int64_t since_ns);
struct sketch_estimate sketch_files_of(const struct sketch *sketch, uint64_t lower, uint64_t upper); /* bytes, [lower, upper) */
struct sketch_estimate sketch_bytes(const struct sketch *sketch, int64_t since_ns);

/*
 * As text: the shift, a plus unless it is plain or 0, then HASH:BYTES for each file, hashes in hexadecimal and rising, one
 * space before each.
 * NULL without memory; the caller frees it.
 */
char *sketch_text(const struct sketch *sketch);

/* From text, into an empty sketch. 0, -ENOMEM, -EINVAL, or -ERANGE for too many files or too large a number. */
int sketch_parse(const char *text, struct sketch *sketch);

#endif
