/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where batches come from: recordings, the database, an agent's socket, the live probe. Whoever
 * reads does not care. Batches come in the order of their start, as far as the origin keeps one.
 */
#ifndef UNBLEND_ANALYZER_SOURCE_H
#define UNBLEND_ANALYZER_SOURCE_H

#include <stdint.h>

#include "analyzer/offer.h"
#include "lib/outward.h"
#include "lib/record.h"

struct source {
    /* The next batch, the caller's then. 1, 0 at the end, -EINTR when a signal came while it
       waited, or another -errno after the cause has been logged in one line. */
    int (*next)(struct source *source, struct batch **out);
    void (*free)(struct source *source);

    /* What not every origin can do; NULL if not. */

    /* Whether the next batch is of the same interval, of another node, and comes at once. */
    bool (*more)(struct source *source);
    /* Makes next() go on with the last batch that begins at that time or before, else the first; *found is its
       beginning. 0, 1 when there is no batch at all, or -errno (logged). */
    int (*seek)(struct source *source, int64_t ns, int64_t *found);
    /* Another length of intervals, from the next one on; from any thread. */
    void (*pace)(struct source *source, uint64_t interval_ns);
    /* By thread, or again by process, from the next one on; from any thread. */
    void (*by_thread)(struct source *source, bool threads);
    /* How much of all there is lies behind the last batch that next() gave, 0..1; NAN when that cannot be told. */
    double (*share)(struct source *source);
};

/* Bounds of what is asked for; an origin that can filter early does, the others filter on reading.
 */
struct source_window {
    int64_t since_ns; /* wall clock; INT64_MIN for none */
    int64_t until_ns; /* exclusive; INT64_MAX for none */
    const char *node; /* glob, NULL for all */
    const char *job;  /* glob, NULL for all */
};

/*
 * What a window leaves of a batch: 1 when the batch is inside, without the jobs that were not asked
 * for; 0 when it is not; -ENOMEM. The batch is for reading only after that.
 */
int source_filter(const struct source_window *window, struct batch *batch);

static inline void source_freep(struct source **source)
{
    if (*source)
        (*source)->free(*source);
}

/* One or more recording files, merged by time. A damaged file is read up to the damage and around
   it, with one line on stderr, and *damaged is set. 0 or -errno (logged). */
int source_recording(char *const *paths, unsigned count, const struct source_window *window,
                     bool *damaged, struct source **out);

/* Whether writing to `out` (NULL: no file) would spare recordings that are to be read: 0, or -EINVAL (logged). */
int source_spare(char *const *paths, unsigned count, const char *out);

/* A PostgreSQL database as the collector fills it. 0 or -errno (logged). */
int source_database(const char *conninfo, const struct source_window *window, struct source **out);

/* When the last batch began that it has before a time, of any node; 0: there is none. 0 or -errno (logged). */
int source_newest(const char *conninfo, int64_t until_ns, int64_t *start_ns);

/* The same database as it fills up: batches of all nodes, an interval after the other, waiting for the
   next one; samples: how many are asked for. 0: as long as they come, from a minute ago on. Else the first are the last
   that there are, whose age is said when it is long ago, and after some seconds without any it ends with -ENODATA (logged).
   conninfo must outlive it. 0 or -errno (logged). */
int source_follow(const char *conninfo, uint64_t interval_ns, unsigned samples, struct source **out);

/* The local agent's socket: a batch an interval, with process detail. 0 or -errno (logged). */
int source_agent(const char *socket_path, uint64_t interval_ns, struct source **out);

/* The probe itself, for whoever has the rights; max_cost as in probe/sampler.h. 0 or -errno (logged). */
int source_live(uint64_t interval_ns, uint64_t max_cost, struct source **out);

/* Puts itself in front of a source, when pseudonyms are asked for: names come as those outside of the site may see
   them. What is asked for by name is found by its true one, and so are the volumes of platforms (NULL
   behind the last, or for none), which then go by their other names, too. 0 or -errno (logged), and the source is as it was. */
int source_outward(const struct outward_options *options, struct offer *const *offers, struct source **source);

#endif
