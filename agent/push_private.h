/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What agent/push.h promises is kept by two files on what stands here: push.c, the thread and those who wake it;
 * push_send.c, one attempt. The thread alone calls these; bodies and answers are the caller's. No header for others.
 */
#ifndef UNBLEND_AGENT_PUSH_PRIVATE_H
#define UNBLEND_AGENT_PUSH_PRIVATE_H

#include <pthread.h>

#include "agent/backoff.h"
#include "agent/body.h"
#include "agent/push.h"
#include "lib/remote.h"

struct push {
    struct spool *spool;
    struct push_options options; /* the strings are the caller's */
    struct remote *remote;       /* the thread's own */
    pthread_t thread;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t wake;
    bool woken, urgent, stopping, reconnect;
    char status[400];
    int event;
    struct backoff backoff;
    unsigned spread_ms;  /* from a batch being made until it is sent */
    unsigned singly;     /* so many batches go one by one, for a body of many was refused */
    unsigned put_off;    /* in a row */
};

/* Posts a body. answer->status is 0 when no answer came: then push_status() has the reason. */
void push_post(struct push *push, const struct body *body, struct remote_answer *answer);

/* Deals with the answer, none included; how many milliseconds to wait before the next attempt. */
unsigned push_settle(struct push *push, const struct body *body, const struct remote_answer *answer);

#endif
