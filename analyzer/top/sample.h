/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is shown at a time: an interval's batch, and of a cluster also what each node did. */
#ifndef UNBLEND_ANALYZER_TOP_SAMPLE_H
#define UNBLEND_ANALYZER_TOP_SAMPLE_H

#include "analyzer/top/amounts.h"

struct node_sample {
    char *node, *role;
    struct amounts amounts; /* of the file layer */
    uint64_t lost, overflow;
};

struct sample {
    struct batch *batch;
    struct node_sample *nodes; /* of a cluster; none for a single node */
    uint32_t node_count;
};

void sample_clear(struct sample *sample);

/* Adds a node's batch, which is taken over, folding its processes into jobs. 0, -ENOMEM or -ERANGE. */
int sample_add_node(struct sample *sample, struct batch *batch);

/* Adds a later sample, which is taken over, to an earlier one. Keeps processes if it is told to. 0, -ENOMEM or
   -ERANGE. */
int sample_merge(struct sample *sample, struct sample *later, bool keep_processes);

#endif
