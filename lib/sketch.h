/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sample of the distinct files that were opened: in it are those whose hash ends in `shift` zero bits, so each file
 * with probability 2^-shift, and the same ones in every interval and on every node. Samples therefore merge, to the
 * larger shift, and what several have seen counts once (distinct sampling: P. B. Gibbons, VLDB 2001). With shift 0 it
 * is no sample but all of them.
 *
 * A zeroed struct is an empty sketch; sketch_clear() gives its memory back.
 */
#ifndef UNBLEND_LIB_SKETCH_H
#define UNBLEND_LIB_SKETCH_H

#include <stdbool.h>
#include <stdint.h>

#define SKETCH_MAX       2048 /* files; with more the shift rises */
#define SKETCH_SHIFT_MAX 40

struct sketch_file {
    uint64_t hash;  /* of the inode, unique on its volume as far as 64 bits are */
    uint64_t bytes; /* its size when it was opened last */
    int64_t seen_ns; /* when that was, for whoever merges over time; not in the text */
};

struct sketch {
    uint32_t shift;
    uint32_t count, capacity;
    struct sketch_file *files; /* by rising hash */
};

/* How many there are, or their bytes in all: the estimate and its 95 % interval; all equal when shift is 0. */
struct sketch_estimate {
    double value, low, high;
};

static inline bool sketch_takes(uint32_t shift, uint64_t hash)
{
    return !(hash & ((1ull << shift) - 1));
}

/* One file more, or again, and then later; nothing when the shift leaves it out. 0 or -ENOMEM. */
int sketch_add(struct sketch *sketch, const struct sketch_file *file);

/* Leaves out what a shift leaves out; nothing when the sketch's own is larger. */
void sketch_raise(struct sketch *sketch, uint32_t shift);

/* Adds src, which is later, to dst. 0 or -ENOMEM. */
int sketch_merge(struct sketch *dst, const struct sketch *src);

void sketch_clear(struct sketch *sketch);

/* Of the files that were seen then or later: Horvitz-Thompson estimates of a sample in which each is with probability
   2^-shift. */
struct sketch_estimate sketch_files(const struct sketch *sketch, int64_t since_ns);
struct sketch_estimate sketch_bytes(const struct sketch *sketch, int64_t since_ns);

/*
 * As text: the shift, then HASH:BYTES for each file, hashes in hexadecimal and rising, one space before each.
 * NULL without memory; the caller frees it.
 */
char *sketch_text(const struct sketch *sketch);

/* From text, into an empty sketch. 0, -ENOMEM, -EINVAL, or -ERANGE for too many files or too large a number. */
int sketch_parse(const char *text, struct sketch *sketch);

#endif
