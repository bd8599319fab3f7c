/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The threads of a process of this node, as the kernel counts them itself (/proc/PID/task/TID/io): all read and write
 * calls, those of sockets and pipes, too, but no metadata, no page faults and no io_uring. Records know processes only:
 * the threads' rows are added up before they become records.
 */
#ifndef UNBLEND_ANALYZER_TOP_THREADS_H
#define UNBLEND_ANALYZER_TOP_THREADS_H

#include <stdint.h>

enum thread_count { THREAD_READS, THREAD_WRITES, THREAD_READ_BYTES, THREAD_WRITTEN_BYTES, THREAD_COUNTS };

struct threads {
    uint32_t pid;
    int err;        /* -errno of the last look; 0 */
    int64_t ns;     /* of it, monotonic */
    double seconds; /* since the one before; 0 after the first */
    uint32_t count;
    uint32_t left; /* so many more threads were not looked at */
    struct thread_seen {
        uint32_t tid;
        char name[16], state;
        uint64_t counts[THREAD_COUNTS]; /* since the thread began */
        double rates[THREAD_COUNTS];    /* a second, between the last two looks */
    } *at; /* the busiest first */
};

/* Begins with a look. NULL without memory. */
struct threads *threads_new(uint32_t pid);
void threads_free(struct threads *threads); /* NULL is fine */

/* Looks again. 0 or -ENOMEM. */
int threads_look(struct threads *threads);

#endif
