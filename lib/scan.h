/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The frames of a recording in their order, around whatever is damaged. Reads from any descriptor,
 * a pipe too; holds one frame in memory. A recording behind another one in the same file goes on with it. A zeroed
 * struct with fd set is ready.
 */
#ifndef UNBLEND_LIB_SCAN_H
#define UNBLEND_LIB_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scan {
    int fd; /* the caller's */
    unsigned char *buffer;
    size_t start, end; /* what of the buffer is still to be looked at */
    size_t room;
    uint64_t offset; /* of buffer[start] in the file */
    uint64_t hashed; /* bytes hashed in vain, looking for frames behind damage */
    bool given_up;   /* too many of them: what follows has not been looked at */
    bool ended;      /* the file has no more */
};

/* Takes RECORDING_MAGIC off the front. 0, -errno, -EBADMSG if it is not there, -EPROTONOSUPPORT for that of another
 * version; *got is how many bytes were. */
int scan_magic(struct scan *scan, size_t *got);

/*
 * The next intact frame's payload, valid until the next call. 1, 0 at the end, -errno, or -EBADMSG:
 * the bytes from *damaged to scan->offset are no frame and have been passed.
 */
int scan_next(struct scan *scan, const void **payload, size_t *size, uint64_t *damaged);

void scan_clear(struct scan *scan);

#endif
