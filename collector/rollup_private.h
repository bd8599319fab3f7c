/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a round, for rollup*.c alone. */
#ifndef UNBLEND_COLLECTOR_ROLLUP_PRIVATE_H
#define UNBLEND_COLLECTOR_ROLLUP_PRIVATE_H

#include "collector/copy.h"
#include "collector/rollup.h"
#include "collector/rollup_series.h"

struct rollup_tier {
    const char *from, *to;   /* what their tables' names end in */
    const char *unit;        /* of date_trunc() */
    int64_t unit_ms;
    const char *queue, *next_queue; /* NULL: none */
};

/* What one node's batches of one unit of time become: a batch. */
struct rollup_group {
    int64_t node_id;
    int64_t time_us;  /* since 1970; where the unit begins */
    int64_t batch_id; /* the new one's */
    int64_t last_id;  /* of the latest batch in it, whose gauges hold */
    uint32_t records;
};

struct round {
    struct db *db;
    const struct rollup_tier *tier;
    char where[512]; /* which rows of the queue, q, it takes */
    char range[512]; /* where their rows are, as conditions on a table s */
    struct rollup_group *groups;
    uint32_t group_count;
    struct lookup group_index;
    struct rolled series; /* keys: group, job, volume, operation */
    struct copy rows;
};

/* The batches that will be, with ids of their own. Results of db.h, or -ENOMEM. */
int rollup_make_groups(struct round *round);

/* The one of a node and a unit of time, and its place in round->groups; NULL: there is none. */
const struct rollup_group *rollup_find_group(const struct round *round, int64_t node_id, int64_t time_us,
                                             uint32_t *position);

/* Writes them, once their records are counted, and queues them for the next tier. Results of db.h, or -ENOMEM. */
int rollup_write_batches(struct round *round);

/* Writes the sums over nodes of a round's series. Results of db.h, or -ENOMEM. */
int rollup_totals(struct round *round);

/* Adds a round's hours to what was watched of clusters: the batches with these ids (an array as SQL has it), of that
   time (seconds since 1970). Results of db.h. */
int rollup_cover(struct db *db, const char *batch_ids, const char *since, const char *until);

/* Sends the round's rows if they are many, or at the end any, to a table whose name ends with the tier's. */
int rollup_send(struct round *round, const char *table, const char *columns, bool end);

/* Sends all of them, to a table of that very name. Results of db.h. */
int rollup_send_to(struct round *round, const char *table, const char *columns);

#endif
