/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples for the screen. The source is waited for in a thread of its own, so that keys are answered at once; a
 * recording is played at a speed, stopped, stepped through and jumped in. Memory holds one sample that waits.
 */
#ifndef UNBLEND_ANALYZER_TOP_FEED_H
#define UNBLEND_ANALYZER_TOP_FEED_H

#include "analyzer/source.h"
#include "analyzer/top/sample.h"

struct feed;

/* The source's next sample: 1, 0 at the end, -EINTR for a signal, or -errno (logged). */
int sample_next(struct source *source, struct sample *out);

/* Begins to read. A replay is paced. The source stays with the feed's thread, which ends with the program. 0 or
   -errno. */
int feed_new(struct source *source, bool replay, struct feed **out);

/* Readable when feed_take() has something. */
int feed_fd(const struct feed *feed);

/* 1 with a sample, the caller's then; *jumped: time is not that of the sample before, what is known of it is void;
   warming: it only leads up to one that comes at once. 0 when nothing is ready, -ENODATA at the end, -errno
   (logged). */
int feed_take(struct feed *feed, struct sample *out, bool *jumped, bool *warming);

/* A replay stands still, or goes on. */
void feed_pause(struct feed *feed, bool pause);
/* One sample more, however it stands. */
void feed_step(struct feed *feed);
/* Goes on with the last sample that begins at that time or before, after some that lead up to it. False where the
   source cannot. */
bool feed_seek(struct feed *feed, int64_t ns);
/* Whether the source can tell threads apart; and that it shall, or shall not. */
bool feed_has_threads(const struct feed *feed);
void feed_by_thread(struct feed *feed, bool threads);
/* Another length of intervals, where the source can. */
void feed_interval(struct feed *feed, uint64_t interval_ns);
/* How many times faster than it happened. */
void feed_speed(struct feed *feed, double speed);

#endif
