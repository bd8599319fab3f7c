/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was there before the probe: run once over all open files. Their file systems get their names, even when they are
 * unmounted before anybody looks; the mount namespaces of their processes are read; and how far each file has been
 * read or written by its own offset is where its next transfer is expected.
 */
#include "probe/bpf/volume.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

SEC("iter/task_file")
int on_open_file(struct bpf_iter__task_file *context)
{
    struct task_struct *task = context->task;
    struct file *file = context->file;
    struct abi_position position = {};
    __u64 address = (__u64)file;

    if (!task || !file)
        return 0;
    if (volume_of_file(file) == ABI_VOLUME_NONE)
        return 0;
    ask_for_mounts(task);
    position.inode = (__u64)BPF_CORE_READ(file, f_inode) | ABI_SEEDED;
    position.end = BPF_CORE_READ(file, f_pos);
    bpf_map_update_elem(&positions, &address, &position, BPF_NOEXIST);
    return 0;
}

char LICENSE[] SEC("license") = "GPL";
