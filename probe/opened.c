/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/opened.h"

#include <assert.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>

#include "lib/vector.h"

#define HELD_MAX 65536

static_assert(ABI_FILES_SHIFT_MAX == SKETCH_SHIFT_MAX && ABI_FILES_TOLD <= SKETCH_MAX, "both sides sample alike");

struct opened {
    int map;
    struct abi_file_told *held;
    uint32_t count, capacity;
};

int opened_new(int told_map, struct opened **out)
{
    struct opened *opened = calloc(1, sizeof(*opened));

    if (!opened)
        return -ENOMEM;
    opened->map = told_map;
    *out = opened;
    return 0;
}

void opened_free(struct opened *opened)
{
    if (!opened)
        return;
    free(opened->held);
    free(opened);
}

int opened_collect(struct opened *opened)
{
    while (opened->count < HELD_MAX) { /* beyond, the programs tell fewer of them */
        if (vector_reserve((void **)&opened->held, &opened->capacity, opened->count, sizeof(*opened->held)))
            return -ENOMEM;
        if (bpf_map_lookup_and_delete_elem(opened->map, NULL, &opened->held[opened->count]))
            return errno == ENOENT ? 0 : -errno;
        opened->count++;
    }
    return 0;
}

static int add_to(struct sketch *files, const struct abi_file_told *told)
{
    sketch_raise(files, told->shift);
    return sketch_add(files, &(struct sketch_file){.hash = told->hash, .bytes = told->bytes});
}

static int add(const struct abi_file_told *told, opened_owner ask, void *context, struct batch *batch)
{
    struct opened_by owner = {.job = NO_INDEX};
    struct flow *flow;
    struct tree *tree;
    int err = ask(context, told, batch, &owner);

    if (err || owner.job == NO_INDEX)
        return err;
    err = batch_flow(batch, owner.job, owner.volume, &flow);
    if (!err)
        err = add_to(&flow->files, told);
    if (err || !owner.tree)
        return err;
    err = batch_tree(batch, owner.job, owner.volume, owner.tree, &tree);
    return err ? err : add_to(&tree->files, told);
}

int opened_drain(struct opened *opened, opened_owner owner, void *context, struct batch *batch)
{
    int err = opened_collect(opened);

    for (uint32_t i = 0; !err && i < opened->count; i++)
        err = add(&opened->held[i], owner, context, batch);
    opened->count = 0;
    return err;
}
