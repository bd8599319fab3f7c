/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How our threads begin. */
#ifndef UNBLEND_LIB_THREAD_H
#define UNBLEND_LIB_THREAD_H

#include <pthread.h>

/* A thread that no signal of the process interrupts: they are for the one that waits for them. 0 or -errno. */
int thread_start(pthread_t *thread, void *(*run)(void *), void *context);

/* A condition on which one waits until a time of CLOCK_MONOTONIC. */
void thread_condition(pthread_cond_t *condition);

#endif
