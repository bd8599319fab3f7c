/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the table of calls names and each worker has: descriptors, buffers and paths of its own. */
#ifndef UNBLEND_TESTS_KERNEL_ARGUMENT_H
#define UNBLEND_TESTS_KERNEL_ARGUMENT_H

#include <stdint.h>

/* Arguments that differ from worker to worker or from call to call; far from every real number. */
enum argument {
    DATA = 0x5a000000, /* descriptor of 64 KiB of data, */
    SINK,              /* of a file to write to, */
    DIRECT,            /* of the data without the page cache, */
    PLACE,             /* of the worker's directory, */
    PIPE_IN,           /* of a pipe's reading */
    PIPE_OUT,          /* and writing end, */
    SOCKET,            /* of a socket that nobody reads, */
    OWN,               /* and the one that was opened for this call */
    BUFFER,
    VECTOR, /* two pieces: 300 + 700 bytes */
    START,  /* pointer to an offset of 0, made new for each call */
    OPEN_HOW,
    MAPPING, /* of the data, shared */
    PATH_DATA, /* absolute; the others are relative to the directory */
    PATH_FILE, /* f0, f1, ... */
    PATH_DIRECTORY,
    PATH_NEW,
    PATH_MISSING, /* below what does not exist */
    LINK,
    EMPTY,
    KEY,
    XATTR,      /* where getxattrat() and setxattrat() find the value */
    HANDLE,     /* of a file; no valid one */
    ATTRIBUTES, /* none set */
};

struct xattr_place {
    uint64_t value;
    uint32_t size, flags;
};

#endif
