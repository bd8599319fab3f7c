/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Operations by tree: the first folders below a volume's root that a file is in. Part of the ABI of probe/bpf/abi.h.
 * A tree is a job's on a volume, or a process's whose job is not known yet, or a ticket's that takes processes from the
 * job they were given. Counters only grow; the programs give a tree
 * its number when it is met first, user space takes it back when nobody uses it any more.
 */
#ifndef UNBLEND_PROBE_TREEABI_H
#define UNBLEND_PROBE_TREEABI_H

#include "probe/bpf/abi.h"

#define ABI_TREE_DEPTH 4
#define ABI_TREE_NAME  48 /* of each folder, with a NUL; what is longer is cut */

#define ABI_TREES_SHIFT 12
#define ABI_TREES       (1u << ABI_TREES_SHIFT) /* number 0 is none */
#define ABI_STRIPES_MAX 16

/* A number in use: it is somebody else's with the next generation. */
#define ABI_TREE(generation, index) ((uint32_t)(generation) << ABI_TREES_SHIFT | (index))
#define ABI_TREE_INDEX(tree)        ((tree) & (ABI_TREES - 1))
#define ABI_TREE_GENERATION(tree)   ((tree) >> ABI_TREES_SHIFT)
#define ABI_TREE_ANEW               ABI_TREE(1, 0) /* nobody's, ever: to be looked for */

struct abi_tree_key {
    uint64_t volume;
    uint32_t job;    /* 0: none is known */
    uint32_t holder; /* then, the process; else the ticket that outranks the job, or 0 */
    uint32_t root;    /* abi_mount.root: the folder that the names are below; 0: the volume's root */
    uint32_t generation; /* not in the key: whose the entry in tree_keys is */
    char name[ABI_TREE_DEPTH][ABI_TREE_NAME]; /* "" behind the last */
};

enum abi_tree_count {
    ABI_TREE_OPENS, /* and creates */
    ABI_TREE_READS,
    ABI_TREE_WRITES,
    ABI_TREE_METADATA, /* opens among them */
    ABI_TREE_READ_BYTES,
    ABI_TREE_WRITE_BYTES,
    ABI_TREE_WAIT_NS, /* inside all of them */
    ABI_TREE_COUNTS
};

/*
 * One cache line, at [index * stripes + stripe]: CPUs whose numbers agree in the bits of config.tree_stripe_mask share a
 * stripe, so on small machines none shares a line. With atomics, as programs may be preempted.
 */
struct abi_tree {
    uint64_t count[ABI_TREE_COUNTS];
    uint32_t generation;
    uint32_t reserved;
};

#ifndef __bpf__
static_assert(sizeof(struct abi_tree) == 64, "a tree is a cache line");
static_assert(sizeof(struct abi_tree_key) == 24 + ABI_TREE_DEPTH * ABI_TREE_NAME, "keys have no holes");
#endif

#endif
