/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ways into the kernel by which the guest's calls are fired. Raw, so that nothing else is called beside them. What
 * a way needs is made at its first call in a thread, and none of that counts.
 */
#ifndef UNBLEND_TESTS_KERNEL_WAY_H
#define UNBLEND_TESTS_KERNEL_WAY_H

#include <stdbool.h>

/* In a ring the call's number is IORING_OP_*, and its arguments are struct io_uring_sqe's fd, addr, len, off, flags,
   and file_index (of getxattr and setxattr: addr3). */
enum way {
    WAY_CALL,         /* a system call */
    WAY_RING,         /* io_uring: */
    WAY_RING_WORKER,  /* by a worker thread; */
    WAY_RING_THREAD,  /* by a thread that polls; */
    WAY_RING_FILE,    /* with the file registered; */
    WAY_RING_CROWDED, /* all at once, with a ring for completions that has no room for so many */
    WAY_AIO,          /* libaio; the number is IOCB_CMD_*, the arguments fd, buf, nbytes, offset */
    WAY_AIO_RING,     /* the same, and completions are fetched from the ring without a call */
    WAY_COMPAT,       /* a 32-bit program's system call, by its number there */
};

/* Fires it, waits for it, and returns its result or -errno. Of a crowd only the last is waited for; then, for all. */
long way_fire(enum way way, long number, const long argument[6], bool last);

/* Forgets what was made; the next call makes it anew. */
void way_forget(void);

#endif
