/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Operations by tree, as the kernel side counts them (probe/bpf/treeabi.h) -> trees of batches. Numbers of trees that
 * nobody uses any more are given back, and when few are left, those that have not been used for seconds.
 */
#ifndef UNBLEND_PROBE_TREES_H
#define UNBLEND_PROBE_TREES_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/record.h"
#include "probe/bpf/treeabi.h"
#include "probe/volume.h"

struct bpf_object;
struct trees;

/* Before the object is loaded: room for trees, less of it with less kernel memory. cpus: possible ones. */
void trees_prepare(struct bpf_object *object, uint64_t memory, unsigned cpus);
/* The mask of abi_config for that many. */
uint32_t trees_stripe_mask(unsigned cpus);

/* Once it is loaded; the object and the volumes must outlive this. 0 or -errno. */
int trees_new(const struct bpf_object *object, const struct volumes *volumes, unsigned depth, struct trees **out);
void trees_free(struct trees *trees); /* NULL is fine */

/* The name of a number, NULL for one that is another's by now; valid until the next question. */
const char *trees_name(struct trees *trees, uint32_t tree);

struct trees_owners {
    /* Whose a tree is, as indices of the batch; *job is NO_INDEX where nobody can tell. 0 or -errno. */
    int (*find)(void *context, const struct abi_tree_key *key, struct batch *batch, uint32_t *job, uint32_t *volume);
    bool (*is_gone)(void *context, const struct abi_tree_key *key);
    void *context;
};

/* Adds what was counted since the last time. 0 or -errno. */
int trees_drain(struct trees *trees, const struct trees_owners *owners, struct batch *batch);

#endif
