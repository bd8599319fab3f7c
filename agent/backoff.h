/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long to wait before another attempt, so that a fleet that lost its collector does not come back as one. In ms. */
#ifndef UNBLEND_AGENT_BACKOFF_H
#define UNBLEND_AGENT_BACKOFF_H

#define BACKOFF_FIRST_MS 500
#define BACKOFF_LAST_MS  60000

struct backoff {
    unsigned ms; /* 0: the last attempt went well */
};

/* Twice as long each time, half of it at random (Brooker, "Exponential Backoff And Jitter"). */
unsigned backoff_next(struct backoff *backoff);

/* When we were asked to wait for so long (0: not said), as all others were: that, and up to as much again, more each
   time. */
unsigned backoff_asked(struct backoff *backoff, unsigned asked_ms);

/* 0 to most. */
unsigned backoff_random(unsigned most);

#endif
