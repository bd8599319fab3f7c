/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system calls that the guest fires, and what the probe must count for each. The table is data; worker_*()
 * run in the watched process, on a place of their own under the test directory.
 */
#ifndef UNBLEND_TESTS_KERNEL_CALL_H
#define UNBLEND_TESTS_KERNEL_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/operation.h"
#include "tests/kernel/way.h"

#define FIRED     50 /* by each worker */
#define DATA_SIZE 65536

enum preparation {
    FRESH,       /* the data file at offset 0, nothing else */
    FILES,       /* f0, f1, ... exist */
    DIRECTORIES, /* d0, d1, ... exist */
    OPENED,      /* a descriptor of its own for each call */
    FULL_PIPE,   /* enough bytes in the pipe for all calls */
    COLD,        /* a mapped file whose pages are not in memory */
};

struct call {
    const char *name;
    long number;
    long argument[6]; /* numbers, or enum argument */
    enum preparation preparation;
    long result;          /* what each returns: bytes, 0, -errno, SOME or EITHER */
    enum operation op;    /* OP_NONE: it touches no storage */
    enum operation also;  /* the writing side of a transfer between two files */
    enum operation block; /* what the device is asked for, once a call; OP_NONE: not looked at */
    bool nowhere;         /* counted under volume "?" */
    bool opens_data;      /* the file opened is the one of DATA_SIZE bytes, not an empty one */
    enum way way;         /* into the kernel; what number and arguments mean depends on it */
};

#define SOME   (-1000) /* any descriptor */
#define EITHER (-1001) /* whatever this file system answers, as long as it is counted so */

/* No system call: touches the next page of the mapped file. */
#define TOUCH_TO_READ  (-1)
#define TOUCH_TO_WRITE (-2)

extern const struct call calls[];
extern const unsigned call_count;

/* A call that the probe counts and the table lacks; NULL when there is none. */
const char *call_not_fired(void);

/* What became of a worker's calls. */
struct outcome {
    uint64_t failed;
    uint64_t bytes;       /* returned by those that succeeded */
    long unexpected;      /* a result that the table did not say, the last one */
    bool surprised;
};

/* The calling thread works below directory from now on. 0 or -errno. */
int worker_place(const char *directory, unsigned number);

/* Brings about what the call needs. 0 or -errno. */
int worker_prepare(const struct call *call);

/* Fires it FIRED times and makes no other call that counts. */
struct outcome worker_fire(const struct call *call);

#endif
