/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of aggregate.h share. */
#ifndef UNBLEND_ANALYZER_AGGREGATE_PRIVATE_H
#define UNBLEND_ANALYZER_AGGREGATE_PRIVATE_H

#include "analyzer/aggregate.h"
#include "analyzer/vector.h"

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
/* Takes over what a record's series has in flight at the end of its interval. 0 or -ENOMEM. */
int aggregate_gauge(struct aggregate *a, struct volume_total *volume, const struct batch *batch,
                    const struct record *record);

#endif
