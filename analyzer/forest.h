/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was done in which trees of a volume (lib/tree.h), over all nodes and time. Beyond FOREST_MAX, and where no tree
 * could be told, operations are in the volume's records only: forest_rest() is what these have more.
 *
 * A zeroed struct is an empty one; forest_clear() gives its memory back.
 */
#ifndef UNBLEND_ANALYZER_FOREST_H
#define UNBLEND_ANALYZER_FOREST_H

#include "analyzer/feature.h"
#include "analyzer/working.h"
#include "lib/lookup.h"

#define FOREST_MAX 4096

struct tree_total {
    char *name;
    uint64_t count[TREE_COUNTS];
    struct working working;
};

struct forest {
    struct tree_total *trees;
    uint32_t count, capacity;
    struct lookup index;
};

/* A tree of an interval that begins then. 0 or -ENOMEM. */
int forest_add(struct forest *forest, int64_t start_ns, const struct tree *tree);

/* Longest waited for first, then by name. No tree is added any more. */
void forest_sort(struct forest *forest);

/* What the volume's tally has beyond the trees; false for nothing. */
bool forest_rest(const struct forest *forest, const struct tally *tally, uint64_t rest[TREE_COUNTS]);

void forest_clear(struct forest *forest);

#endif
