/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The end of most calls: the like of which was counted before, so that all that is needed stands in the thread's memory.
 * Whatever does not is looked at closely (leave_any()), and nothing of it has been counted here.
 */
#ifndef UNBLEND_PROBE_QUICK_H
#define UNBLEND_PROBE_QUICK_H

#include "probe/bpf/direct.bpf.h"
#include "probe/bpf/enter.bpf.h"
#include "probe/bpf/sketch.bpf.h"
#include "probe/bpf/stat.bpf.h"

#define O_TMPFILE_BIT 020000000
#define FMODE_CREATED 0x100000

static __always_inline bool makes_a_file(const volatile struct abi_syscall *shape, struct pt_regs *regs, bool compat,
                                         struct file *file)
{
    __u64 flags = 0;

    if (shape->shape == ABI_SHAPE_OPEN_HOW)
        bpf_probe_read_user(&flags, sizeof(flags), (const void *)argument_in(regs, compat, shape->third));
    else if (shape->third >= 0)
        flags = argument_in(regs, compat, shape->third);
    return flags & O_TMPFILE_BIT || (file && LOAD(file, f_mode) & FMODE_CREATED);
}

/* Where a transfer by descriptor started. -1 to preadv2() is the file's own offset, too; that has moved on by now. */
static __always_inline __u64 start_of(const volatile struct abi_syscall *shape, struct pt_regs *regs, bool compat,
                                      __u64 file, long result)
{
    __u64 start = shape->third < 0 ? UINT64_MAX : offset_argument(shape, regs, compat);

    return start == UINT64_MAX ? offset_of(file) - result : start;
}

/* Where a struct statx has stx_mode, in the upper half of a word, and how far behind it stx_dev_major and _minor are. */
#define STATX_MODE_WORD (STATX_MODE - 4)
#define STATX_DEVICE    (STATX_DEVICES + 8 - STATX_MODE_WORD)
#define STATX_LENGTH    (STATX_SIZE - STATX_MODE_WORD)

/* The volume of a regular file or directory that a struct stat or statx describes, on the file system that the thread has
   used last; ABI_VOLUME_NONE when it does not. file_size: enum abi_file_size */
static __always_inline __u64 volume_of_plain_stat(const struct abi_thread *thread, const void *buffer, bool extended,
                                                  __u32 *file_size)
{
    __u64 words[STAT_SIZE / 8 + 1], seen[3], device;
    __u32 type;

    if (!glance(task_of(thread), buffer + (extended ? STATX_MODE_WORD : 0), extended ? STATX_DEVICE : STAT_MODE,
                extended ? STATX_LENGTH : STAT_SIZE, seen)) {
        if (extended || bpf_probe_read_user(words, sizeof(words), buffer))
            return ABI_VOLUME_NONE;
        seen[0] = words[0];
        seen[1] = words[STAT_MODE / 8];
        seen[2] = words[STAT_SIZE / 8];
    }
    type = (extended ? seen[0] >> 32 : seen[1]) & S_IFMT;
    device = extended ? (__u32)seen[1] << 20 | seen[1] >> 32 : decode_device(seen[0]);
    if ((type != S_IFREG && type != S_IFDIR) || thread->device != (ABI_VOLUME_FS | device))
        return ABI_VOLUME_NONE;
    *file_size = file_size_described(type, seen[2]);
    return volume_of_device(thread);
}

/* A stat by name has succeeded: what it describes is where it went, and its place among orders is returned. Not inlined, for
   the stack's sake (see enter_any()). */
static __noinline __u32 leave_stat(const volatile struct abi_syscall *shape, struct pt_regs *regs,
                                   struct abi_thread *thread)
{
    __u32 file_size = ABI_FILE_NO_SIZE;

    thread->pending_volume = volume_of_plain_stat(thread, (const void *)argument_of(regs, shape->third),
                                                  shape->shape == ABI_SHAPE_STATX, &file_size);
    return file_size | (is_of_open(shape, regs, false) ? ABI_OF_OPEN : 0);
}

/* The row of a call that is not to be looked at closely; NULL for one that is. */
static __always_inline struct abi_row *quick_row(const __u32 *index, __u64 now)
{
    struct abi_row *row = bpf_map_lookup_elem(&rows, index);

    return row && now < row->slot_end_ns ? row : NULL; /* the slot of row 0, which is none, is always over */
}

/* A latency below this takes few steps to its bucket; what took longer has time for a closer look. */
#define SHORT_BITS  16 /* as many as bucket_msb_of_16() takes */
#define SHORT_NS    (1u << SHORT_BITS)
#define SHORT_PAGES (BUCKETS_FOR_BITS(SHORT_BITS) / ABI_PAGE_BUCKETS) /* 7, so a mask of as many bits does */

static __always_inline bool is_short(__u64 latency_ns)
{
    return latency_ns - BUCKET_SUB < SHORT_NS - BUCKET_SUB;
}

/* Where a short latency is counted; NULL when the like of it was not counted before. */
static __always_inline __u32 *short_latency_of(struct abi_row *row, __u64 latency_ns)
{
    __u32 bucket = bucket_at(latency_ns, bucket_msb_of_16(latency_ns));
    __u32 *page = &row->latency_page[bucket / ABI_PAGE_BUCKETS & SHORT_PAGES];

    return *page ? bucket_in(page, bucket) : NULL;
}

/* Of OP_READ 0, of OP_WRITE 1; without a branch, which clang would make of a comparison. */
static __always_inline __u32 is_write(__u32 op)
{
    _Static_assert(OP_READ == 1 && OP_WRITE == 2, "the upper of two bits tells them apart");
    return op >> 1 & 1;
}

/* A file's first transfer of that kind is counted where those of files like it were, if they are the thread's last ones or
   hardly older. */
static __always_inline bool begin_row(struct abi_thread *thread, struct abi_file *mine, __u32 writes)
{
    __u32 index = thread->head[OP_READ + writes], file_size = writes ? 0 : mine->file_size;

    for (int i = 0; i < ABI_FILE_SIZES; i++) {
        struct abi_row *row = bpf_map_lookup_elem(&rows, &index);

        if (!row)
            return false;
        if (row->volume == mine->volume && row->file_size == file_size) {
            mine->row[writes] = index;
            mine->size = ABI_SIZE_NONE;
            return true;
        }
        index = row->next;
    }
    return false;
}

/* A transfer of the size that the file's last one had, in that row, jumps: it is counted where the like of it was before, if that
   is known. */
static __always_inline void count_jump(struct abi_file *mine, struct abi_row *row, __u32 bytes)
{
    __u32 *jumped;

    if (config.tree_depth) {
        count_jumps(row, bytes, 1);
        return;
    }
    if (!mine->jump_page) {
        mine->jump_page = count_jumps(row, bytes, 1);
        return;
    }
    jumped = bucket_in(&mine->jump_page, mine->size_bucket);
    if (jumped)
        *jumped += 1;
}

/*
 * Where transfers of that size are counted is where the next ones of the thread's file are, too; false when none was
 * counted before. Not inlined, for the stack's sake.
 */
static __noinline bool learn_size(struct abi_thread *thread, __u32 bytes)
{
    struct abi_file *mine = file_at(thread, thread->quick_place);
    __u32 writes = is_write(thread->pending_op), bucket = bucket_of(bytes), *page;
    struct abi_row *row;

    if (!mine->row[writes] && !begin_row(thread, mine, writes))
        return false;
    row = bpf_map_lookup_elem(&rows, &mine->row[writes]);
    if (!row)
        return false;
    if (bucket >= ABI_SIZE_BUCKETS)
        bucket = ABI_SIZE_BUCKETS - 1;
    barrier_var(bucket); /* clang would use a copy from before the check, of which Linux 6.1 knows no bounds */
    page = &row->size_page[bucket / ABI_PAGE_BUCKETS];
    if (!*page)
        return false;
    mine->size = ABI_SIZE_KEY(bytes, writes);
    if (mine->size_page != *page && !config.tree_depth)
        mine->jump_page = 0;
    mine->size_page = *page;
    mine->size_bucket = bucket % ABI_PAGE_BUCKETS;
    return true;
}

/* What a quick open has led to: its place is taken, and it is one of the files that are opened. */
static __always_inline void keep_opened(struct abi_thread *thread, struct pt_regs *regs, __u32 place,
                                        const struct opened *opened, bool regular, __u64 now)
{
    __u64 file = (__u64)opened->file, inode = (__u64)opened->inode;
    struct abi_file *mine = file_at(thread, place);
    bool owns = mine->file == file && mine->owned; /* the file that was at this address before: `positions` says so */
    __u32 index = *running_here(regs);

    take_place(thread, index, place, file, inode, (__u64)opened->super);
    settle(mine, thread->device, file_size_of(opened->inode));
    mine->uncached = is_uncached(opened->file, opened->inode);
    mine->written = is_written(opened->file);
    mine->tree = 0;
    mine->end = 0;
    if (!regular)
        return;
    mine->owned = owns || forget_position(file, inode, ABI_OWNER(index, place));
    tell_next_file(thread, &mine->inode, now);
}

/* An open that succeeded, of a file or directory where the thread was last. Not inlined, for the stack's sake. */
static __noinline bool leave_open(const volatile struct abi_syscall *shape, struct pt_regs *regs,
                                  struct abi_thread *thread, long result, __u64 latency_ns)
{
    __u64 now = thread->pending_ns + latency_ns;
    __u32 *latency, *size = NULL;
    struct opened opened;
    struct inode *inode;
    struct abi_row *row;
    bool regular;

    if (!look_up(task_of(thread), (int)result, &opened) || !is_where_last(thread, &opened))
        return false;
    row = quick_row(&thread->head[makes_a_file(shape, regs, false, opened.file) ? OP_CREATE : OP_OPEN], now);
    if (!row || row->volume != thread->device)
        return false;
    latency = short_latency_of(row, latency_ns);
    if (!latency)
        return false;
    inode = opened.inode;
    regular = (LOAD(inode, i_mode) & S_IFMT) == S_IFREG;
    if (regular) {
        size = known_bucket(row->size_page, bucket_of(LOAD(inode, i_size)), ABI_SIZE_BUCKETS);
        if (!size)
            return false;
    }
    add(row, latency, latency_ns);
    if (size)
        *size += 1;
    keep_opened(thread, regs, (__u32)result & (ABI_FILE_CACHE - 1), &opened, regular, now);
    return true;
}

#endif
