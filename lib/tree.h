/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one job did in one tree of a volume in one interval. A tree is named by the first folders below the volume's
 * root ("/train/n01440764"; "/" for what is in the root itself), so it has one name on all nodes and in all containers. What no
 * tree could be told of is in none: it is what the records of the job on the volume have more.
 *
 * A zeroed struct is an empty tree; tree_clear() gives its memory back.
 */
#ifndef UNBLEND_LIB_TREE_H
#define UNBLEND_LIB_TREE_H

#include <stdint.h>

#include "lib/sketch.h"

#define TREE_DEPTH_DEFAULT 2
#define TREE_DEPTH_MAX     4
#define TREE_NAME_MAX      256 /* bytes, with a NUL */

enum tree_count {
    TREE_OPENS, /* and creates */
    TREE_READS,
    TREE_WRITES,
    TREE_METADATA, /* opens among them */
    TREE_READ_BYTES,
    TREE_WRITE_BYTES,
    TREE_WAIT_NS, /* inside all of them */
    TREE_COUNTS
};

/* Their names on the wire and in the database. */
extern const char *const tree_counts[TREE_COUNTS];

struct tree {
    uint32_t job;    /* index into jobs */
    uint32_t volume; /* index into volumes */
    const char *name;
    uint64_t count[TREE_COUNTS];
    struct sketch files; /* as in a flow */
};

/* Adds src to dst, keys untouched; sums stay at 2^63 - 1. 0 or -ENOMEM. */
int tree_merge(struct tree *dst, const struct tree *src);

void tree_clear(struct tree *tree);

#endif
