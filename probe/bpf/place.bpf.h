/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The places of files in a thread's memory, one for each descriptor that differs in its low bits (ABI_FILE_CACHE). A
 * place is good for a descriptor while that leads to the same file, inode and superblock; what is not there is learnt.
 */
#ifndef UNBLEND_PROBE_PLACE_H
#define UNBLEND_PROBE_PLACE_H

#include "probe/bpf/order.bpf.h"
#include "probe/bpf/tree.bpf.h"

static __always_inline bool holds(const struct abi_file *mine, __u64 file, __u64 inode, __u64 super)
{
    return mine->file == file && mine->inode == inode && mine->super == super;
}

/* Read back from where it is kept: functions that the verifier looks at once take no pointers as numbers. */
static __always_inline __u64 as_number(const __u64 *address)
{
    return *(const volatile __u64 *)address;
}

/* The place of a descriptor has another file from now on, of which nothing else is known yet. */
static __always_inline struct abi_file *take_place(struct abi_thread *thread, __u32 thread_index, __u32 place,
                                                   __u64 file, __u64 inode, __u64 super)
{
    struct abi_file *mine = file_at(thread, place);

    if (mine->file == file)
        mine->owned = 0; /* the file that was there before is gone, and nobody asks for its end */
    else
        release_place(thread_index, place);
    mine->file = file;
    mine->inode = inode;
    mine->super = super;
    return mine;
}

/* The volume of the file in a place, and how large it is. A thread's transfers have the same rows on all files that are
   alike in both. */
static __always_inline void settle(struct abi_file *mine, __u64 volume, __u32 file_size)
{
    if (mine->volume == volume && mine->file_size == file_size)
        return;
    mine->volume = volume;
    mine->file_size = file_size;
    mine->row[0] = mine->row[1] = 0;
    mine->size = ABI_SIZE_NONE;
}

/* The volume of a file, which takes its place in the memory of the thread with that index (0: it has none). */
__noinline __u64 learn_file(__u32 thread_index, __u32 place, __u64 file, __u64 inode)
{
    struct abi_thread *thread = thread_at(thread_index);
    struct abi_file *mine;
    __u64 super;

    if (!thread)
        return volume_of_inode(inode, (__u64)BPF_CORE_READ((struct inode *)inode, i_sb), 0);
    mine = file_at(thread, place);
    super = (__u64)LOAD((struct inode *)inode, i_sb);
    if (holds(mine, file, inode, super))
        return mine->volume;
    take_place(thread, thread_index, place, file, inode, super);
    settle(mine, volume_of_inode(as_number(&mine->inode), as_number(&mine->super), thread_index),
           file_size_of((struct inode *)as_number(&mine->inode)));
    mine->uncached = is_uncached((struct file *)as_number(&mine->file), (struct inode *)as_number(&mine->inode));
    mine->written = is_written((struct file *)as_number(&mine->file));
    mine->tree = config.tree_depth ? tree_of_file(as_number(&mine->file), mine->volume, thread->process) : 0;
    return mine->volume;
}

/* What a seek or a close is of. */
static __always_inline __u32 kind_of_opened(const struct opened *opened)
{
    return is_written(opened->file) ? ABI_FILE_NO_SIZE : file_size_of(opened->inode);
}

/* The same by what the thread remembers of the call under way. */
static __always_inline __u32 kind_at(struct abi_thread *thread, __u32 place)
{
    const struct abi_file *mine = file_at(thread, place);

    if (place > ABI_BY_PATH)
        return place - ABI_ELSEWHERE(0);
    return mine->written ? ABI_FILE_NO_SIZE : mine->file_size;
}

/* How large the file is of the call under way, which only asks for that. */
static __always_inline __u32 file_size_at(struct abi_thread *thread, __u32 place)
{
    if (place > ABI_BY_PATH)
        return place - ABI_ELSEWHERE(0);
    return file_size_of((struct inode *)as_number(&file_at(thread, place)->inode));
}

/* The thread's place for a descriptor is to be learnt anew. */
static __always_inline void forget_file(const struct abi_task *state, int fd)
{
    struct abi_thread *thread = thread_at(state->thread);

    if (!thread)
        return;
    release_place(state->thread, (__u32)fd);
    file_at(thread, (__u32)fd)->file = 0;
}

/* The volume of a descriptor, whose file is the state's from now on; ABI_VOLUME_NONE when it is no storage. */
static __always_inline __u64 resolve_descriptor(struct abi_task *state, struct task_struct *task, int fd)
{
    struct opened opened;
    __u64 volume;

    state->file = 0;
    if (!look_up(task, fd, &opened))
        return ABI_VOLUME_NONE;
    state->file = (__u64)opened.file;
    state->inode = (__u64)opened.inode;
    state->place = (__u32)fd % ABI_FILE_CACHE;
    volume = learn_file(state->thread, state->place, as_number(&state->file), as_number(&state->inode));
    if (config.tree_depth && !state->thread)
        state->tree = tree_of_file(as_number(&state->file), volume, state->process);
    return volume;
}

/*
 * Whether what was opened lies on the file system that the thread has used last, as storage: then its volume is known
 * without learning the file. Trees are told by file.
 */
static __always_inline bool is_where_last(const struct abi_thread *thread, const struct opened *opened)
{
    struct super_block *super = opened->super;
    struct inode *inode = opened->inode;
    __u32 type;

    if (config.tree_depth || thread->pseudo || thread->device != (ABI_VOLUME_FS | LOAD(super, s_dev)))
        return false;
    type = LOAD(inode, i_mode) & S_IFMT;
    return type == S_IFREG || type == S_IFDIR;
}

#endif
