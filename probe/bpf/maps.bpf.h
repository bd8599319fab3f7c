/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every map of the probe. Sizes marked 1 are set before loading, from --kernel-memory. The objects share
 * these maps: the first one loaded makes them, the others reuse them.
 */
#ifndef UNBLEND_PROBE_MAPS_H
#define UNBLEND_PROBE_MAPS_H

#include "probe/bpf/kernel.bpf.h"
#include "probe/bpf/abi.h"
#include "probe/bpf/asyncabi.h"
#include "probe/bpf/configabi.h"
#include "probe/bpf/ownerabi.h"
#include "probe/bpf/stationabi.h"
#include "probe/bpf/treeabi.h"

#include <bpf/bpf_helpers.h>

const volatile struct abi_config config SEC(".rodata.config");

/* Shared by the objects, as maps are; user space writes it. */
volatile struct abi_control control SEC(".data.control") = {};

/* Indices that the drain gives back to a table's stack. */
volatile __u32 returned[ABI_RETURN] SEC(".data.returned") = {};

#define TABLE(name_, value_)                                                                       \
    struct {                                                                                       \
        __uint(type, BPF_MAP_TYPE_ARRAY);                                                          \
        __uint(map_flags, BPF_F_MMAPABLE);                                                         \
        __uint(max_entries, 1);                                                                    \
        __type(key, __u32);                                                                        \
        __type(value, value_);                                                                     \
    } name_ SEC(".maps")

/* The free indices of a table, low ones on top; the drain fills it and gives back what it recycles. */
#define POOL(name_)                                                                                \
    struct {                                                                                       \
        __uint(type, BPF_MAP_TYPE_STACK);                                                          \
        __uint(max_entries, 1);                                                                    \
        __uint(value_size, sizeof(__u32));                                                         \
    } name_ SEC(".maps")

/*
 * What is too large for the stack has a room on each CPU; where config.twice ABI_ROOMS, as whoever is in one may have been
 * preempted by whoever looks for one. Each begins with a struct room.
 */
struct room {
    __u64 owner; /* the address of its task, where config.twice; 0: none */
};

#define ROOMS(name_, value_)                                                                       \
    struct {                                                                                       \
        __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);                                                   \
        __uint(max_entries, 1);                                                                    \
        __type(key, __u32);                                                                        \
        __type(value, value_);                                                                     \
    } name_ SEC(".maps")

/* This CPU's first one of a map that has that owner, which is from now on `next`; NULL: there is none. */
static __always_inline void *find_room(void *map, __u64 owner, __u64 next)
{
#pragma clang loop unroll(disable)
    for (__u32 i = 0; i < ABI_ROOMS; i++) {
        __u32 place = i;
        struct room *room = bpf_map_lookup_elem(map, &place);

        if (room && (!config.twice || __sync_val_compare_and_swap(&room->owner, owner, next) == owner))
            return room;
    }
    return NULL;
}

/* One that nobody else uses until it is given back; NULL: there is none. */
static __always_inline void *take_room(void *map)
{
    return find_room(map, 0, bpf_get_current_task());
}

static __always_inline void give_room(struct room *room)
{
    if (config.twice)
        room->owner = 0;
}

TABLE(rows, struct abi_row);
TABLE(pages, struct abi_page);
TABLE(threads, struct abi_thread);
TABLE(processes, struct abi_process);
POOL(free_rows);
POOL(free_pages);
POOL(free_threads);
POOL(free_processes);

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, ABI_COUNTERS);
    __type(key, __u32);
    __type(value, __u64);
} counters SEC(".maps");

/* By thread, like its entry: bytes that it has received from the network and not written yet, while it is receiving. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, __u64);
} received SEC(".maps");

/* A TCP connection -> what programs have taken from it so far. */
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 1024);
    __type(key, __u64);
    __type(value, __u64);
} connections SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct abi_task);
} tasks SEC(".maps");

/* Thread -> the state of its call under way, for threads beyond control.states_max */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 2048);
    __type(key, __u32);
    __type(value, struct abi_task);
} spare_tasks SEC(".maps");

/* Slots of rows that are over. */
struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, ABI_SLOTS_MIN);
} slots SEC(".maps");

/* Slots begin at multiples of ABI_SLOT_NS by the wall clock: at which remainder by CLOCK_MONOTONIC; kept by the drain. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, __u64);
} slot_phase SEC(".maps");

/* tgid -> index into processes, of the living */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, __u32);
} by_tgid SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 896);
    __type(key, struct abi_shared_key);
    __type(value, struct abi_shared_row);
} shared SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, OP_COUNT);
    __type(key, __u32);
    __type(value, struct abi_shared_row);
} last SEC(".maps");

/* volume -> what it is; filled from mountinfo, and by the programs for what mountinfo does not show */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 4096);
    __type(key, __u64);
    __type(value, struct abi_volume);
} volumes SEC(".maps");

/* The file system types that are no storage; the one list is in user space. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 64);
    __type(key, char[ABI_FSTYPE_MAX]);
    __type(value, __u32);
} pseudo_types SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_LPM_TRIE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, 16384);
    __type(key, struct abi_mount_key);
    __type(value, struct abi_mount);
} mounts SEC(".maps");

/* mount namespace -> who is in it, for namespaces whose mounts the drain has not read as they are now */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1024);
    __type(key, __u32);
    __type(value, struct abi_namespace);
} namespaces SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 12288);
    __type(key, __u64);
    __type(value, struct abi_request);
} requests SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 12288);
    __type(key, __u64);
    __type(value, struct abi_position);
} positions SEC(".maps");

/* request queue -> job of whoever asked last for what needs the device's cache flushed */
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 1024);
    __type(key, __u64);
    __type(value, __u32);
} flushers SEC(".maps");

/* Where a station is: a hash of large values would have a spare one for each CPU. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 128);
    __type(key, struct abi_station_key);
    __type(value, __u32);
} station_places SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 128);
    __type(key, __u32);
    __type(value, struct abi_station);
} stations SEC(".maps");

/* Also, by their addresses, clients of remote procedures (struct rpc_clnt), with the volume that they are for: a map
   of their own would have a spare entry for each CPU. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1024);
    __type(key, __u64);
    __type(value, struct abi_remote);
} remote_requests SEC(".maps");

/* tgid of a FUSE server -> the volume it serves */
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 256);
    __type(key, __u32);
    __type(value, __u64);
} fuse_servers SEC(".maps");

/* Requests of io_uring and libaio that are under way. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 6144);
    __type(key, struct abi_async_key);
    __type(value, struct abi_async);
} async SEC(".maps");

/* tgid -> enum abi_async_user */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, 4096);
    __type(key, __u32);
    __type(value, __u32);
} async_users SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, 1024);
    __type(key, struct abi_aio_key);
    __type(value, struct abi_aio);
} aio_contexts SEC(".maps");

/* the volume of the file last opened into a slot of a ring's table */
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 1024);
    __type(key, struct abi_slot_key);
    __type(value, __u64);
} ring_slots SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, ABI_FILES_SETS);
    __type(key, __u32);
    __type(value, struct abi_files_set);
} files SEC(".maps");

/*
 * What was told in this epoch, by a hash of the file, its job and volume: the hash's upper bits, the epoch's lower bits,
 * and whether it was empty. Files with one place take it from each other, and are told again, which changes nothing.
 */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, ABI_FILES_KNOWN);
    __type(key, __u32);
    __type(value, __u64);
} files_known SEC(".maps");

/* What is to be told; the drain empties it ten times a second. */
struct {
    __uint(type, BPF_MAP_TYPE_QUEUE);
    __uint(max_entries, 4096);
    __uint(value_size, sizeof(struct abi_file_told));
} files_told SEC(".maps");

/* Trees: ABI_TREE() by key, the keys by number, what was counted, and the free numbers. Where somebody asks, user space
   gives them their sizes and maps the next two. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1);
    __type(key, struct abi_tree_key);
    __type(value, __u32);
} trees SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct abi_tree_key);
} tree_keys SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct abi_tree);
} tree_counts SEC(".maps");

POOL(free_trees);

struct scratch_tree {
    struct abi_tree_key key;
    struct abi_mount_key path;
    __u32 busy; /* somebody uses it, who may have been preempted by whoever looks */
    __u32 place;
    volatile __u32 names;  /* of the key that are whole; volatile, for registers with all their values are what the verifier walks */
    volatile __u32 filled; /* characters of the next one, */
    volatile __u32 dots;   /* and dots among them */
};

/* At [cpu * ABI_ROOMS]; none for each CPU where nobody asks. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct scratch_tree);
} scratch_trees SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_LPM_TRIE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, 32);
    __type(key, struct abi_name_key);
    __type(value, struct abi_name);
} job_names SEC(".maps");

/* what a name said -> its ticket; user space fetches them and keeps the map from filling */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 256);
    __type(key, struct abi_ticket);
    __type(value, __u32);
} tickets SEC(".maps");

/* ABI_CGROUP() -> news of it, which user space fetches */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 96);
    __type(key, __u64);
    __type(value, struct abi_cgroup);
} cgroup_news SEC(".maps");

struct scratch_path {
    struct room room;
    struct abi_mount_key key;
};
ROOMS(scratch_path, struct scratch_path);

struct scratch_volume {
    struct room room;
    struct abi_volume volume;
};
ROOMS(scratch_volume, struct scratch_volume);

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct abi_shared_row);
} empty_row SEC(".maps");

#endif
