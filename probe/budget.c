/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/budget.h"

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <string.h>

#include "probe/bpf/abi.h"
#include "probe/probe.h"

/*
 * The tables grow together, by units: what one more process is given. So many rows because a process that reads and
 * writes files on two volumes has eight series and a detail of each; the pages are what their histograms took. In
 * hundredths.
 */
enum share { SHARE_PROCESS, SHARE_THREAD, SHARE_STATE, SHARE_ROW, SHARE_PAGE, SHARES };
static const uint32_t shares[SHARES] = {
    [SHARE_PROCESS] = 116, [SHARE_THREAD] = 116, [SHARE_STATE] = 150, [SHARE_ROW] = 950, [SHARE_PAGE] = 2322};

/* Maps that have one entry for each of a share. */
static const struct {
    const char *map;
    enum share share;
} growing[] = {
    {"processes", SHARE_PROCESS},  {"free_processes", SHARE_PROCESS}, {"by_tgid", SHARE_PROCESS},
    {"threads", SHARE_THREAD},     {"free_threads", SHARE_THREAD},    {"received", SHARE_THREAD},
    {"rows", SHARE_ROW},           {"free_rows", SHARE_ROW},          {"pages", SHARE_PAGE},
    {"free_pages", SHARE_PAGE},
};
#define GROWING_COUNT (sizeof(growing) / sizeof(*growing))

/* Maps whose size in the object is for the default memory, and shrinks with less. */
static const struct {
    const char *map;
    uint32_t least;
} shrinking[] = {
    {"shared", 96},    {"volumes", 448},    {"mounts", 512},       {"requests", 384},
    {"flushers", 64},  {"positions", 384}, {"spare_tasks", 1024}, {"namespaces", 64},
    {"async", 192},    {"async_users", 64},   {"aio_contexts", 32},  {"ring_slots", 32},
    {"stations", 16},  {"station_places", 32}, {"remote_requests", 64}, {"fuse_servers", 16},
    {"cgroup_news", 32}, {"tickets", 32}, {"files_told", 128}, {"connections", 64},
};

#define UNITS_MIN 32

/*
 * The kernel's own share, from kernel/bpf/{hashtab,lpm_trie,bpf_local_storage}.c: the header of an element, the head
 * of a bucket. Elements of task storage and tries come one by one, from the kernel's slabs, which have sizes of their
 * own; on kernels since 6.7 each CPU keeps a few of them ready.
 */
#define HASH_ELEMENT    48
#define HASH_BUCKET     16
#define TRIE_NODE       40
#define STORAGE_ELEMENT 72
#define STORAGE_OWNER   192
#define KEPT_READY      32
#define SMALL_MAP       1024
#define CPU_LISTS       64 /* of a hash: locks and lists of free elements, a CPU */

static uint64_t multiple(uint64_t value, uint64_t of)
{
    return (value + of - 1) / of * of;
}

static uint64_t power_of_two(uint64_t value)
{
    return value > 1 ? UINT64_C(1) << (bucket_msb(value - 1) + 1) : 1;
}

/* The slab that an allocation comes from. */
static uint64_t slab(uint64_t bytes)
{
    return bytes <= 96 ? 96 : bytes <= 128 ? 128 : bytes <= 192 ? 192 : power_of_two(bytes);
}

static uint64_t state_bytes(void)
{
    return slab(STORAGE_ELEMENT + sizeof(struct abi_task)) + STORAGE_OWNER;
}

static uint64_t hash_bytes(uint64_t entries, uint64_t key, uint64_t value, unsigned cpus, bool lru)
{
    uint64_t element = HASH_ELEMENT + multiple(key, 8) + multiple(value, 8);

    /* One that does not evict has a spare element a CPU, to replace another in one go. */
    return (entries + (lru ? 0 : cpus)) * element + power_of_two(entries) * HASH_BUCKET +
           (uint64_t)cpus * CPU_LISTS;
}

uint64_t budget_map_bytes(const struct bpf_map *map, unsigned cpus)
{
    uint64_t entries = bpf_map__max_entries(map), key = bpf_map__key_size(map);
    uint64_t value = bpf_map__value_size(map), page = 4096;

    switch (bpf_map__type(map)) {
    case BPF_MAP_TYPE_ARRAY:
        value = multiple(value, 8) * entries;
        return SMALL_MAP + (bpf_map__map_flags(map) & BPF_F_MMAPABLE ? multiple(value, page) + page : value);
    case BPF_MAP_TYPE_PERCPU_ARRAY:
        return SMALL_MAP + entries * (multiple(value, 8) * cpus + 8);
    case BPF_MAP_TYPE_STACK:
    case BPF_MAP_TYPE_QUEUE:
        return SMALL_MAP + (entries + 1) * value;
    case BPF_MAP_TYPE_HASH:
    case BPF_MAP_TYPE_LRU_HASH:
        return SMALL_MAP + hash_bytes(entries, key, value, cpus, bpf_map__type(map) == BPF_MAP_TYPE_LRU_HASH);
    case BPF_MAP_TYPE_LPM_TRIE:
        return SMALL_MAP + entries * slab(TRIE_NODE + key + value);
    case BPF_MAP_TYPE_RINGBUF: /* and pages of positions and for itself */
        return SMALL_MAP + entries + entries / page * 2 * sizeof(void *) + 3 * page;
    case BPF_MAP_TYPE_TASK_STORAGE: /* its elements have a share of their own */
        return SMALL_MAP + (uint64_t)cpus * KEPT_READY * state_bytes();
    default: /* none of ours: better too much than too little */
        return SMALL_MAP + (entries + cpus) * (64 + key + value);
    }
}

static uint32_t share_entries(enum share share, uint64_t units)
{
    return (uint32_t)(units * shares[share] / 100);
}

static void resize(struct bpf_object *object, uint64_t units)
{
    for (size_t i = 0; i < GROWING_COUNT; i++)
        bpf_map__set_max_entries(bpf_object__find_map_by_name(object, growing[i].map),
                                 share_entries(growing[i].share, units));
}

static void shrink(struct bpf_object *object, uint64_t memory)
{
    for (size_t i = 0; i < sizeof(shrinking) / sizeof(*shrinking); i++) {
        struct bpf_map *map = bpf_object__find_map_by_name(object, shrinking[i].map);
        uint64_t entries = map ? bpf_map__max_entries(map) : 0;

        entries = entries * memory / PROBE_MEMORY_DEFAULT;
        if (map && memory < PROBE_MEMORY_DEFAULT)
            bpf_map__set_max_entries(map, entries > shrinking[i].least ? (uint32_t)entries : shrinking[i].least);
    }
}

/* The ring of finished slots: a sixty-fourth, as a power of two. */
static void resize_ring(struct bpf_object *object, uint64_t memory)
{
    uint32_t bytes = ABI_SLOTS_MIN;

    while (bytes * 2ull <= memory / 64)
        bytes *= 2;
    bpf_map__set_max_entries(bpf_object__find_map_by_name(object, "slots"), bytes);
}

static uint32_t states(uint64_t units)
{
    uint32_t count = share_entries(SHARE_STATE, units);

    return count > BUDGET_STATES_MIN ? count : BUDGET_STATES_MIN;
}

static uint64_t all_bytes(const struct bpf_object *object, unsigned cpus, uint64_t units)
{
    const struct bpf_map *map;
    uint64_t bytes = BUDGET_BESIDE + states(units) * state_bytes();

    bpf_object__for_each_map(map, object)
        bytes += budget_map_bytes(map, cpus);
    return bytes;
}

void budget_apply(struct bpf_object *object, uint64_t memory, unsigned cpus, struct budget *out)
{
    uint64_t low = UNITS_MIN, high = memory / 1024 + UNITS_MIN;

    shrink(object, memory);
    resize_ring(object, memory);
    /* The largest number of units that fits; hashes grow in steps, so it is searched for. */
    while (low < high) {
        uint64_t middle = (low + high + 1) / 2;

        resize(object, middle);
        if (all_bytes(object, cpus, middle) <= memory)
            low = middle;
        else
            high = middle - 1;
    }
    resize(object, low);
    out->bytes = all_bytes(object, cpus, low);
    out->processes = share_entries(SHARE_PROCESS, low);
    out->states_max = states(low);
}
