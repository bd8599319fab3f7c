/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which files are opened: a sample by their hashes, in which large ones are sooner (lib/sketch.h), each told once an epoch,
   once more when it is no longer empty. */
#ifndef UNBLEND_PROBE_SKETCH_H
#define UNBLEND_PROBE_SKETCH_H

#include "probe/bpf/place.bpf.h"

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

/* The sample of a key: the one that is there, or else in the place of the one that was used least lately. */
static __always_inline struct abi_files *sample_of(const struct abi_files_key *key)
{
    __u32 set = mixed(key->volume ^ (__u64)key->job << 32 ^ key->process) & (ABI_FILES_SETS - 1);
    struct abi_files_set *ways = bpf_map_lookup_elem(&files, &set);
    struct abi_files *oldest;

    if (!ways)
        return NULL;
    oldest = &ways->way[0];
    for (int i = 0; i < ABI_FILES_WAYS; i++) {
        struct abi_files *way = &ways->way[i];

        if (way->key.volume == key->volume && way->key.job == key->job && way->key.process == key->process)
            return way;
        if (way->used < oldest->used)
            oldest = way;
    }
    *oldest = (struct abi_files){.key = *key};
    return oldest;
}

/* A new epoch begins with more files than the one before ended with: there may be fewer of them now. */
static __always_inline struct abi_files *files_of(const struct abi_files_key *key, __u64 now)
{
    __u32 epoch = now >> ABI_EPOCH_SHIFT;
    struct abi_files *known = sample_of(key);

    if (!known)
        return NULL;
    known->used = now >> 30;
    if (known->epoch != epoch) {
        known->epoch = epoch;
        known->told = 0;
        known->shift -= known->shift ? 1 : 0;
    }
    return known;
}

/* What stands in files_known for a file with that hash: the same but for the lowest bit as long as the epoch lasts. */
static __always_inline __u64 mark_of_file(__u64 hash, __u64 now, bool empty)
{
    __u64 epoch = now >> ABI_EPOCH_SHIFT;

    return (hash & ~(ABI_FILES_KNOWN - 1)) | ((epoch << 1 | empty) & (ABI_FILES_KNOWN - 1));
}

/* One that was empty is told of once more when it no longer is: it was made then, and is read now. */
static __always_inline bool was_told(__u64 before, __u64 mark)
{
    return before >> 1 == mark >> 1 && before <= mark;
}

/* A number that is used again is another file, where the file system tells them apart. */
static __always_inline __u64 hash_of_file(struct inode *inode)
{
    return mixed(LOAD(inode, i_ino) ^ mixed(LOAD(inode, i_generation)));
}

static __always_inline bool is_left_out(__u64 hash, __u32 shift)
{
    return hash & ((1ULL << (shift & 63)) - 1);
}

/* How many bits of its hash less have to be zero, of a file that is so large: 1 and the logarithm of how many times as large
   as the least of them it is. */
static __always_inline __u32 bits_less(__u64 bytes)
{
    __u64 large = bytes >> ABI_FILES_LARGE;
    __u32 bits = !!large;

    if (large >> (ABI_FILES_LARGE_MAX - 1))
        return ABI_FILES_LARGE_MAX;
#pragma unroll
    for (int half = 16; half; half /= 2)
        if (large >> half) {
            bits += half;
            large >>= half;
        }
    return bits;
}

/* A regular file was opened or made, by a process of a job. The shift of its sample. Global, so that the verifier looks at
   it once. */
__noinline int tell_file(__u64 address, __u64 volume, __u64 process_job, __u64 now, __u32 tree)
{
    struct inode *inode = (struct inode *)address;
    __u32 process = process_job >> 32, job = process_job;
    struct abi_process *owner = process_at(process);
    struct abi_file_told told = {.key = {.volume = volume}, .process = process, .tree = tree};
    struct abi_files *sample;
    __u64 hash, mark, *known;
    __u32 place, less;

    if (process && owner && owner->ticket)
        job = 0; /* its environment names another one, which not all processes of this one share */
    told.key.job = job;
    told.key.process = job ? 0 : process;
    told.hash = hash_of_file(inode);
    sample = files_of(&told.key, now);
    if (!sample)
        return 0;
    told.bytes = LOAD(inode, i_size);
    less = bits_less(told.bytes);
    if (sample->shift > less && is_left_out(told.hash, sample->shift - less))
        return sample->shift;
    /* A place in the table of processes is another one's soon; its start is its own. And execve changes its job. */
    hash = job || !owner ? (__u64)job << 32 : owner->start_ns ^ (__u64)owner->ticket << 32;
    hash = mixed(told.hash ^ volume ^ hash);
    mark = mark_of_file(hash, now, !told.bytes);
    place = hash & (ABI_FILES_KNOWN - 1);
    known = bpf_map_lookup_elem(&files_known, &place);
    if (!known || was_told(*known, mark))
        return sample->shift;
    told.shift = sample->shift;
    if (bpf_map_push_elem(&files_told, &told, 0)) {
        sample->shift += sample->shift < ABI_FILES_SHIFT_MAX; /* the drain has fallen behind */
        return sample->shift;
    }
    *known = mark;
    if (++sample->told >= ABI_FILES_TOLD && sample->shift < ABI_FILES_SHIFT_MAX) {
        sample->shift++;
        sample->told = ABI_FILES_TOLD / 2;
    }
    return sample->shift;
}

/* The same by a thread, on its device: most files, but for large ones, are not in the sample, as it knows for the second. */
static __always_inline void tell_next_file(struct abi_thread *thread, const __u64 *inode, __u64 now)
{
    __u16 second = now >> 30;
    struct abi_process *process;

    if (thread->files_shift && thread->files_second == second &&
        is_left_out(hash_of_file((struct inode *)*inode), thread->files_shift) &&
        !((__u64)LOAD((struct inode *)*inode, i_size) >> ABI_FILES_LARGE))
        return;
    process = process_at(thread->process);
    if (!process)
        return;
    thread->files_shift = tell_file(as_number(inode), thread->device,
                                    (__u64)thread->process << 32 | given_job(process->job), now, 0);
    thread->files_second = second;
}

#endif
