/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/forest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/vector.h"

#define FILES_MAX 512 /* of a tree's sample */

static struct tree_total *find(struct forest *forest, const char *name, int *err)
{
    uint32_t hash = lookup_hash(name, strlen(name)), cursor = hash, at;
    struct tree_total *total;

    *err = 0;
    while (lookup_next(&forest->index, hash, &cursor, &at))
        if (strcmp(forest->trees[at].name, name) == 0)
            return &forest->trees[at];
    if (forest->count == FOREST_MAX)
        return NULL;
    *err = -ENOMEM;
    if (vector_reserve((void **)&forest->trees, &forest->capacity, forest->count, sizeof(*total)) ||
        lookup_reserve(&forest->index))
        return NULL;
    total = &forest->trees[forest->count];
    *total = (struct tree_total){.name = strdup(name)};
    if (!total->name)
        return NULL;
    lookup_insert(&forest->index, hash, forest->count++);
    *err = 0;
    return total;
}

int forest_add(struct forest *forest, int64_t start_ns, const struct tree *tree)
{
    int err;
    struct tree_total *total = find(forest, tree->name, &err);

    if (!total)
        return err;
    for (unsigned i = 0; i < TREE_COUNTS; i++)
        total->count[i] =
            tree->count[i] > INT64_MAX - total->count[i] ? INT64_MAX : total->count[i] + tree->count[i];
    err = working_add(&total->working, start_ns, tree->count[TREE_READ_BYTES], tree->count[TREE_WRITE_BYTES],
                      &tree->files);
    /* Hashes that pass the largest shift, too, are none. */
    while (!err && total->working.files.count > FILES_MAX && total->working.files.shift < SKETCH_SHIFT_MAX)
        sketch_raise(&total->working.files, total->working.files.shift + 1);
    return err;
}

static int by_wait(const void *left, const void *right)
{
    const struct tree_total *a = left, *b = right;
    uint64_t x = a->count[TREE_WAIT_NS], y = b->count[TREE_WAIT_NS];

    return x != y ? (x < y) - (x > y) : strcmp(a->name, b->name);
}

void forest_sort(struct forest *forest)
{
    lookup_clear(&forest->index);
    if (forest->count)
        qsort(forest->trees, forest->count, sizeof(*forest->trees), by_wait);
}

/* What counts in trees, of all operations on the volume. */
static void count_tally(const struct tally *tally, uint64_t counts[TREE_COUNTS])
{
    for (enum operation op = OP_FIRST; op < OP_FILE_END; op++) {
        enum operation_class class = operation_info(op)->class;

        if (class != OP_CLASS_DATA && class != OP_CLASS_METADATA)
            continue;
        counts[TREE_WAIT_NS] += tally->op[op].latency_sum_ns;
        if (class == OP_CLASS_METADATA)
            counts[TREE_METADATA] += tally_ops(tally, op);
    }
    counts[TREE_OPENS] = tally_ops(tally, OP_OPEN) + tally_ops(tally, OP_CREATE);
    counts[TREE_READS] = tally_ops(tally, OP_READ);
    counts[TREE_WRITES] = tally_ops(tally, OP_WRITE);
    counts[TREE_READ_BYTES] = tally->op[OP_READ].bytes;
    counts[TREE_WRITE_BYTES] = tally->op[OP_WRITE].bytes;
}

bool forest_rest(const struct forest *forest, const struct tally *tally, uint64_t rest[TREE_COUNTS])
{
    bool any = false;

    memset(rest, 0, TREE_COUNTS * sizeof(*rest));
    count_tally(tally, rest);
    for (unsigned i = 0; i < TREE_COUNTS; i++) {
        uint64_t sum = 0;

        for (uint32_t t = 0; t < forest->count; t++)
            sum += forest->trees[t].count[i];
        rest[i] = rest[i] > sum ? rest[i] - sum : 0;
        any |= rest[i] && i != TREE_WAIT_NS;
    }
    return any;
}

void forest_clear(struct forest *forest)
{
    for (uint32_t i = 0; i < forest->count; i++) {
        free(forest->trees[i].name);
        working_clear(&forest->trees[i].working);
    }
    free(forest->trees);
    lookup_clear(&forest->index);
    *forest = (struct forest){0};
}
