/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of aggregate.h share. */
#ifndef UNBLEND_ANALYZER_AGGREGATE_PRIVATE_H
#define UNBLEND_ANALYZER_AGGREGATE_PRIVATE_H

#include "analyzer/aggregate.h"
#include "lib/vector.h"

#define RESERVE(array, stem, size)                                                                 \
    vector_reserve((void **)&(array), &(stem##_capacity), (stem##_count), (size))

/* Sets a string to a copy, unless it is the same already or the value is NULL. 0 or -ENOMEM. */
int aggregate_keep(struct aggregate *a, const char **field, const char *value);
/* Takes a value over where there is none yet. 0 or -ENOMEM. */
int aggregate_fill(struct aggregate *a, const char **field, const char *value);

/* The batch's node, found or added; NULL without memory. */
struct node_total *aggregate_node(struct aggregate *a, const struct batch *batch);
/* Adds what the batch could not see, and extends the span to it. 0 or -ENOMEM. */
int aggregate_coverage(struct aggregate *a, struct node_total *node, const struct batch *batch);
/* Adds which hooks the node had and did without. 0 or -ENOMEM. */
int aggregate_hooks(struct aggregate *a, struct node_total *node, const struct coverage *coverage);
/* Says of each hook that is missing on which nodes it is, once these are sorted. 0 or -ENOMEM. */
int aggregate_name_hooks(struct aggregate *a);
/* Where what a job's records are counted for is among the totals, found or added: the job itself, or as the grouping has
   it its user, its node, a label of its or the volume. 0 or -ENOMEM. */
int aggregate_job(struct aggregate *a, const struct batch *batch, const struct job *job, const struct volume *volume,
                  uint32_t *out);
/* Adds one run of a job on a node, or what is newly known of it. 0 or -ENOMEM. */
int aggregate_attempt(struct aggregate *a, struct job_total *job, const char *node, const struct job *from);

/* The volume of that name in a list, found or added, with what is known of it filled in; NULL without memory. */
struct volume_total *aggregate_volume(struct aggregate *a, struct volume_total **volumes, uint32_t *count,
                                      uint32_t *capacity, const struct volume *from);

/* The time in operations of one kind, and how many they were, as a slot of a series: see busy_of(). */
struct demand_slot aggregate_busy(enum operation op, uint64_t sum_ns, uint64_t ops);
/* Adds the interval's demand, or time in operations, to a series. 0, -ENOMEM or -EINVAL. */
int aggregate_demand(struct series *series, const struct batch *batch, const struct demand_slot *slot);
/* What a record asks of one of the cluster's volumes, and its time in operations. */
int aggregate_volume_demand(struct volume_total *volume, const struct batch *batch, const struct record *record,
                            const struct demand_slot *slot, const struct demand_slot *busy);
/* What requests to a file system's server, or a platform, say of what reached it. */
int aggregate_station(struct aggregate *a, const struct batch *batch, const struct station *station);

/* Notes whether what a process reads it reads in intervals in which it writes, too. */
void aggregate_turn(struct manner *manner, const struct batch *batch, const struct record *record);

/* The actor that a process of the batch is, found or added, and its job with it. 0 or -ENOMEM. */
int aggregate_actor(struct aggregate *a, const struct batch *batch, const struct process *process, uint32_t *out);

/* Whether a job of that name on another node is another job. */
bool aggregate_is_local(const struct job *job);

/* The tally that a record's process has to itself on that volume; unchanged when there are too many of them. 0 or
   -ENOMEM. */
int aggregate_unit(struct aggregate *a, struct job_total *job, const struct batch *batch, uint32_t process,
                   const char *volume, struct unit **out);

/* Takes over what a record's series has in flight at the end of its interval. 0 or -ENOMEM. */
int aggregate_gauge(struct aggregate *a, struct volume_total *volume, const struct batch *batch,
                    const struct record *record);

#endif
