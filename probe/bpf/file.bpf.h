/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a descriptor to its open file, inode and superblock. Where the kernel turns an address into a typed pointer
 * (CAN_CAST) the JIT loads through it, and a load that faults gives 0; elsewhere a helper is called for each.
 */
#ifndef UNBLEND_PROBE_FILE_H
#define UNBLEND_PROBE_FILE_H

#include "probe/bpf/maps.bpf.h"

#include <bpf/bpf_core_read.h>

#ifdef CAN_CAST
extern void *bpf_rdonly_cast(const void *object, __u32 type) __ksym;
#define CAST(type, address) ((type *)bpf_rdonly_cast((const void *)(address), bpf_core_type_id_kernel(type)))
#define LOAD(object, field) (CAST(typeof(*(object)), object)->field)
#else
#define LOAD(object, field) BPF_CORE_READ(object, field)
#endif

/* The open file behind a descriptor; NULL for a bad one. */
static __always_inline struct file *file_of(struct task_struct *task, int fd)
{
    struct fdtable *table = task->files->fdt;
    struct file *file = NULL;

    if ((__u32)fd >= table->max_fds)
        return NULL;
    bpf_probe_read_kernel(&file, sizeof(file), table->fd + fd);
    return file;
}

/* What a descriptor leads to. */
struct opened {
    struct file *file;
    struct inode *inode;
    struct super_block *super;
};

#define FDS_MIN 64 /* no table of descriptors has fewer places: as many as a long has bits */

/* What is open at a place that the table has; false when nothing is. */
static __always_inline bool look_in(struct fdtable *table, __u32 fd, struct opened *opened)
{
    struct inode *inode;
    struct file *file = NULL;

#ifdef CAN_CAST
    /* The verifier knows no arrays of pointers, so one is taken for a structure that begins with one. */
    file = CAST(struct kiocb, table->fd + fd)->ki_filp;
    if (!file)
        return false;
    inode = file->f_inode;
    opened->super = inode->i_sb;
#else
    bpf_probe_read_kernel(&file, sizeof(file), table->fd + fd);
    if (!file)
        return false;
    inode = BPF_CORE_READ(file, f_inode);
    opened->super = BPF_CORE_READ(inode, i_sb);
#endif
    opened->file = file;
    opened->inode = inode;
    return true;
}

/* False for a bad descriptor. */
static __always_inline bool look_up(struct task_struct *task, int fd, struct opened *opened)
{
    struct fdtable *table = task->files->fdt;

    return (__u32)fd < table->max_fds && look_in(table, (__u32)fd, opened);
}

/* The file's own offset. */
static __always_inline __u64 offset_of(__u64 file)
{
#ifdef CAN_CAST
    return CAST(struct file, file)->f_pos;
#else
    return BPF_CORE_READ((struct file *)file, f_pos);
#endif
}

#endif
