/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which files are opened: a sample by their hashes, each told once an epoch, once more when it is no longer empty. */
#ifndef UNBLEND_PROBE_SKETCH_H
#define UNBLEND_PROBE_SKETCH_H

#include "probe/bpf/task.bpf.h"

#include <bpf/bpf_core_read.h>

/* The finalizer of MurmurHash3 (A. Appleby, public domain): every bit of the result depends on every bit. */
static __always_inline __u64 mixed(__u64 number)
{
    number ^= number >> 33;
    number *= 0xff51afd7ed558ccdULL;
    number ^= number >> 33;
    number *= 0xc4ceb9fe1a85ec53ULL;
    return number ^ number >> 33;
}

/* A new epoch begins with more files than the one before ended with: there may be fewer of them now. */
static __always_inline struct abi_files *files_of(const struct abi_files_key *key, __u64 epoch)
{
    struct abi_files *known = bpf_map_lookup_elem(&files, key), fresh = {.epoch = epoch};

    if (!known) {
        bpf_map_update_elem(&files, key, &fresh, BPF_NOEXIST);
        return bpf_map_lookup_elem(&files, key);
    }
    if (known->epoch != epoch) {
        known->epoch = epoch;
        known->told = 0;
        known->shift -= known->shift ? 1 : 0;
    }
    return known;
}

/* A regular file was opened or made, by a process of a job. Not inlined, for the stack's sake. */
static __noinline int tell_file(struct inode *inode, __u64 volume, __u64 process_job, __u64 now, __u32 tree)
{
    __u32 process = process_job >> 32, job = process_job;
    struct abi_process *owner = process_at(process);
    struct abi_file_told told = {.key = {.volume = volume}, .process = process, .tree = tree};
    __u64 epoch = now >> ABI_EPOCH_SHIFT, place, known, *before;
    struct abi_files *files;

    if (process && owner && owner->ticket)
        job = 0; /* its environment names another one, which not all processes of this one share */
    told.key.job = job;
    told.key.process = job ? 0 : process;
    /* A number that is used again is another file, where the file system tells them apart. */
    told.hash = mixed(LOAD(inode, i_ino) ^ mixed(LOAD(inode, i_generation)));
    files = files_of(&told.key, epoch);
    if (!files || told.hash & ((1ULL << (files->shift & 63)) - 1))
        return 0;
    /* A place in the table of processes is another one's soon; its start is its own. And execve changes its job. */
    place = job || !owner ? (__u64)job << 32 : owner->start_ns ^ (__u64)owner->ticket << 32;
    place = mixed(told.hash ^ volume ^ place);
    told.bytes = LOAD(inode, i_size);
    /* One that was empty is told of once more when it no longer is: it was made then, and is read now. */
    known = epoch << 1 | !told.bytes;
    before = bpf_map_lookup_elem(&files_known, &place);
    if (before && *before >> 1 == epoch && *before <= known)
        return 0;
    told.shift = files->shift;
    if (bpf_map_push_elem(&files_told, &told, 0)) {
        files->shift += files->shift < ABI_FILES_SHIFT_MAX; /* the drain has fallen behind */
        return 0;
    }
    bpf_map_update_elem(&files_known, &place, &known, BPF_ANY);
    if (++files->told >= ABI_FILES_TOLD && files->shift < ABI_FILES_SHIFT_MAX) {
        files->shift++;
        files->told = ABI_FILES_TOLD / 2;
    }
    return 0;
}

#endif
