/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/trees.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/clock.h"
#include "probe/probe.h"

static_assert((int)ABI_TREE_COUNTS == (int)TREE_COUNTS && ABI_TREE_DEPTH == TREE_DEPTH_MAX, "both sides count alike");
static_assert((int)ABI_TREE_OPENS == (int)TREE_OPENS && (int)ABI_TREE_READS == (int)TREE_READS &&
                  (int)ABI_TREE_WRITES == (int)TREE_WRITES && (int)ABI_TREE_METADATA == (int)TREE_METADATA &&
                  (int)ABI_TREE_READ_BYTES == (int)TREE_READ_BYTES &&
                  (int)ABI_TREE_WRITE_BYTES == (int)TREE_WRITE_BYTES && (int)ABI_TREE_WAIT_NS == (int)TREE_WAIT_NS,
              "counts are numbered alike on both sides");
static_assert(TREE_NAME_MAX > ABI_TREE_DEPTH * ABI_TREE_NAME, "the longest name fits");

#define TREES_MIN 64
/* When fewer than half are free, those that were idle for so long make room: what they have counted has been told,
   and a tree that is met again gets another number. */
#define IDLE_NS   (3LL * 1000000000)

struct seen {
    uint64_t count[TREE_COUNTS];
    int64_t used_ns;
    bool ending; /* taken from the programs: what they were about to count comes with this drain */
};

struct trees {
    const struct volumes *volumes;
    unsigned depth;
    uint32_t numbers, stripes;
    int map, free_map;
    struct abi_tree_key *keys;
    struct abi_tree *counts;
    struct seen *seen;
    char name[TREE_NAME_MAX + TREE_NAME_MAX];
};

static struct bpf_map *find_map(const struct bpf_object *object, const char *name)
{
    return bpf_object__find_map_by_name(object, name);
}

uint32_t trees_stripe_mask(unsigned cpus)
{
    uint32_t stripes = 1;

    while (stripes < cpus && stripes < ABI_STRIPES_MAX)
        stripes *= 2;
    return stripes - 1;
}

void trees_prepare(struct bpf_object *object, uint64_t memory, unsigned cpus)
{
    uint64_t numbers = memory < PROBE_MEMORY_DEFAULT ? ABI_TREES * memory / PROBE_MEMORY_DEFAULT : ABI_TREES;

    if (numbers < TREES_MIN)
        numbers = TREES_MIN;
    bpf_map__set_max_entries(find_map(object, "trees"), (uint32_t)numbers);
    bpf_map__set_max_entries(find_map(object, "tree_keys"), (uint32_t)numbers);
    bpf_map__set_max_entries(find_map(object, "free_trees"), (uint32_t)numbers);
    bpf_map__set_map_flags(find_map(object, "tree_keys"), BPF_F_MMAPABLE);
    bpf_map__set_map_flags(find_map(object, "tree_counts"), BPF_F_MMAPABLE);
    bpf_map__set_max_entries(find_map(object, "scratch_trees"), cpus * ABI_ROOMS);
    bpf_map__set_max_entries(find_map(object, "tree_counts"), (uint32_t)numbers * (trees_stripe_mask(cpus) + 1));
}

static void *map_memory(const struct bpf_object *object, const char *name)
{
    const struct bpf_map *map = find_map(object, name);
    size_t bytes = (size_t)bpf_map__max_entries(map) * bpf_map__value_size(map);
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

    return memory == MAP_FAILED ? NULL : memory;
}

static struct abi_tree *stripe(const struct trees *trees, uint32_t index, uint32_t which)
{
    return &trees->counts[index * trees->stripes + which];
}

/* Hands a number out to the programs, with the generation that its counts have. */
static int give(struct trees *trees, uint32_t index)
{
    uint32_t tree = ABI_TREE(stripe(trees, index, 0)->generation, index);

    return bpf_map_update_elem(trees->free_map, NULL, &tree, BPF_ANY) ? -errno : 0;
}

int trees_new(const struct bpf_object *object, const struct volumes *volumes, unsigned depth, struct trees **out)
{
    struct trees *trees = calloc(1, sizeof(*trees));
    int err = 0;

    if (!trees)
        return -ENOMEM;
    trees->volumes = volumes;
    trees->depth = depth;
    trees->map = bpf_map__fd(find_map(object, "trees"));
    trees->free_map = bpf_map__fd(find_map(object, "free_trees"));
    trees->numbers = bpf_map__max_entries(find_map(object, "tree_keys"));
    trees->stripes = bpf_map__max_entries(find_map(object, "tree_counts")) / trees->numbers;
    trees->keys = map_memory(object, "tree_keys");
    trees->counts = map_memory(object, "tree_counts");
    trees->seen = calloc(trees->numbers, sizeof(*trees->seen));
    if (!trees->keys || !trees->counts || !trees->seen)
        err = -ENOMEM;
    for (uint32_t index = trees->numbers - 1; index && !err; index--) /* the last one is taken first */
        err = give(trees, index);
    if (err) {
        trees_free(trees);
        return err;
    }
    *out = trees;
    return 0;
}

void trees_free(struct trees *trees)
{
    if (!trees)
        return;
    if (trees->keys)
        munmap(trees->keys, trees->numbers * sizeof(*trees->keys));
    if (trees->counts)
        munmap(trees->counts, (size_t)trees->numbers * trees->stripes * sizeof(*trees->counts));
    free(trees->seen);
    free(trees);
}

/* The folders below the volume's root, as many as make a tree. */
static const char *name_of(struct trees *trees, const struct abi_tree_key *key)
{
    char *name = trees->name;
    size_t length = (size_t)snprintf(name, TREE_NAME_MAX, "%s", volumes_root(trees->volumes, key->root)), end = 0;

    for (unsigned i = 0; i < ABI_TREE_DEPTH && key->name[i][0]; i++)
        length += (size_t)snprintf(name + length, sizeof(trees->name) - length, "/%.*s", ABI_TREE_NAME - 1,
                                   key->name[i]);
    for (unsigned i = 0; i < trees->depth && name[end]; i++)
        end += 1 + strcspn(name + end + 1, "/");
    if (end >= TREE_NAME_MAX)
        end = TREE_NAME_MAX - 1;
    if (!end)
        name[end++] = '/';
    name[end] = '\0';
    return name;
}

const char *trees_name(struct trees *trees, uint32_t tree)
{
    uint32_t index = ABI_TREE_INDEX(tree);

    if (!index || index >= trees->numbers || !trees->keys[index].volume ||
        trees->keys[index].generation != ABI_TREE_GENERATION(tree))
        return NULL;
    return name_of(trees, &trees->keys[index]);
}

/* What was counted since the last time; false for nothing. */
static bool look(struct trees *trees, uint32_t index, uint64_t more[TREE_COUNTS])
{
    bool any = false;

    for (unsigned i = 0; i < TREE_COUNTS; i++) {
        uint64_t now = 0;

        for (uint32_t which = 0; which < trees->stripes; which++)
            now += __atomic_load_n(&stripe(trees, index, which)->count[i], __ATOMIC_RELAXED);
        more[i] = now - trees->seen[index].count[i];
        any |= more[i] != 0;
    }
    return any;
}

static int drain_tree(struct trees *trees, uint32_t index, const struct trees_owners *owners, struct batch *batch)
{
    const struct abi_tree_key *key = &trees->keys[index];
    uint64_t more[TREE_COUNTS];
    uint32_t job, volume;
    struct tree *tree;
    int err;

    if (!look(trees, index, more))
        return 0;
    trees->seen[index].used_ns = monotonic_ns();
    err = owners->find(owners->context, key, batch, &job, &volume);
    if (!err && job != NO_INDEX)
        err = batch_tree(batch, job, volume, name_of(trees, key), &tree);
    if (err)
        return err;
    for (unsigned i = 0; i < TREE_COUNTS; i++) {
        if (job != NO_INDEX)
            tree->count[i] += more[i];
        trees->seen[index].count[i] += more[i];
    }
    return 0;
}

/* From now on the programs find it no more, and what counts under its old number is told that it is gone. */
static void end(struct trees *trees, uint32_t index)
{
    struct abi_tree_key key = trees->keys[index];

    key.generation = 0;
    bpf_map_delete_elem(trees->map, &key);
    for (uint32_t which = 0; which < trees->stripes; which++)
        __atomic_fetch_add(&stripe(trees, index, which)->generation, 1, __ATOMIC_RELAXED);
    trees->seen[index].ending = true;
}

static int give_back(struct trees *trees, uint32_t index)
{
    memset(&trees->keys[index], 0, sizeof(trees->keys[index]));
    trees->seen[index].ending = false;
    trees->seen[index].used_ns = 0;
    return give(trees, index);
}

static uint32_t in_use(const struct trees *trees)
{
    uint32_t count = 0;

    for (uint32_t index = 1; index < trees->numbers; index++)
        count += trees->keys[index].volume != 0;
    return count;
}

int trees_drain(struct trees *trees, const struct trees_owners *owners, struct batch *batch)
{
    bool crowded = in_use(trees) > trees->numbers / 2;
    int64_t before_ns = monotonic_ns() - IDLE_NS;
    int err = 0;

    for (uint32_t index = 1; index < trees->numbers && !err; index++) {
        const struct abi_tree_key *key = &trees->keys[index];
        struct seen *seen = &trees->seen[index];

        if (!key->volume)
            continue;
        err = drain_tree(trees, index, owners, batch);
        if (err)
            return err;
        if (!seen->used_ns)
            seen->used_ns = monotonic_ns();
        if (seen->ending)
            err = give_back(trees, index);
        else if ((crowded && seen->used_ns < before_ns) || owners->is_gone(owners->context, key))
            end(trees, index);
    }
    return err;
}
