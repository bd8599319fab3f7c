/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/tree.h"

#include "lib/saturate.h"

const char *const tree_counts[TREE_COUNTS] = {
    [TREE_OPENS] = "opens",           [TREE_READS] = "reads",
    [TREE_WRITES] = "writes",         [TREE_METADATA] = "metadata",
    [TREE_READ_BYTES] = "read_bytes", [TREE_WRITE_BYTES] = "write_bytes",
    [TREE_WAIT_NS] = "wait_ns",
};

int tree_merge(struct tree *dst, const struct tree *src)
{
    for (unsigned i = 0; i < TREE_COUNTS; i++)
        dst->count[i] = saturate(dst->count[i], src->count[i]);
    return sketch_merge(&dst->files, &src->files);
}

void tree_clear(struct tree *tree)
{
    sketch_clear(&tree->files);
}
