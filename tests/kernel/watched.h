/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process that the probe watches: it makes calls when it is told to, and says what became of them. */
#ifndef UNBLEND_TESTS_KERNEL_WATCHED_H
#define UNBLEND_TESTS_KERNEL_WATCHED_H

#include <sys/types.h>

#include "tests/kernel/call.h"

#define WORKERS 4

struct watched {
    pid_t pid;
    int socket;
};

/* Forks it. It waits for watched_begin(), so that it can be adopted before. 0 or -errno. */
int watched_start(struct watched *watched);

/* Its workers take their places in a directory that exists. 0 or -errno. */
int watched_begin(struct watched *watched, const char *directory);

enum crew {
    CREW_CHILD,   /* one worker, a process of its own that has ended when watched_fire() returns */
    CREW_THREADS, /* WORKERS threads at once */
};

/* What the call needs, made by those who will fire it. 0 or -errno. */
int watched_prepare(struct watched *watched, const struct call *call, enum crew crew);

/* Fires; *outcome is all workers' together, *pid the process that did it. 0 or -errno. */
int watched_fire(struct watched *watched, const struct call *call, enum crew crew,
                 struct outcome *outcome, pid_t *pid);

/* Lets it end. */
void watched_end(struct watched *watched);

#endif
