/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which tree a file or a path is in. Of an open file and of a directory the kernel's own names tell, up to the volume's
 * root; of a path its text behind the mount point, or behind the directory that it is relative to. Symbolic links are
 * not followed, ".." is not resolved. 0 is the tree of all that cannot be told, and of all that found no room.
 */
#ifndef UNBLEND_PROBE_TREE_H
#define UNBLEND_PROBE_TREE_H

#include "probe/bpf/ownerabi.h"
#include "probe/bpf/task.bpf.h"
#include "probe/bpf/volume.bpf.h"

#define WALK_MAX 64 /* folders above a file */

/* A place on this CPU that nobody uses who has been preempted. */
static __always_inline struct scratch_tree *take_scratch(void)
{
    __u32 first = bpf_get_smp_processor_id() * ABI_ROOMS;

    for (__u32 i = 0; i < ABI_ROOMS; i++) {
        __u32 place = first + i;
        struct scratch_tree *s = bpf_map_lookup_elem(&scratch_trees, &place);

        if (s && !__sync_val_compare_and_swap(&s->busy, 0, 1)) {
            s->place = place;
            return s;
        }
    }
    return NULL;
}

/* What stands before the job that a process was given: the variable of the first rank, if user space finds so. */
static __always_inline __u32 outranking(const struct abi_process *process)
{
    bool may = !(process->job & ABI_JOB_FOUND) && ABI_TICKET_RANK(process->ticket) == 0;

    return may ? process->ticket : 0;
}

/* Room to make a key in, empty; NULL: there is none. */
static __always_inline struct scratch_tree *begin_tree(__u64 volume, __u32 process_index)
{
    struct abi_process *process = process_at(process_index);
    struct scratch_tree *s = take_scratch();

    if (!s)
        return NULL;
    s->names = s->filled = 0;
#pragma clang loop unroll(disable)
    for (__u32 i = 0; i < sizeof(s->key) / sizeof(__u64); i++)
        ((volatile __u64 *)&s->key)[i] = 0;
    s->key.volume = volume;
    s->key.job = process_index && process ? process->job : 0;
    s->key.holder = s->key.job && process ? outranking(process) : process_index;
    return s;
}

/* The number of the tree whose key has been made there, a new one if it has none; 0: there is none left. */
__noinline __u64 number_of_tree(__u32 place)
{
    struct scratch_tree *s = config.tree_depth ? bpf_map_lookup_elem(&scratch_trees, &place) : NULL;
    __u32 *known, fresh, index;

    if (!s)
        return 0;
    known = bpf_map_lookup_elem(&trees, &s->key);
    if (known)
        return *known;
    if (bpf_map_pop_elem(&free_trees, &fresh))
        return 0;
    index = ABI_TREE_INDEX(fresh);
    s->key.generation = ABI_TREE_GENERATION(fresh);
    bpf_map_update_elem(&tree_keys, &index, &s->key, BPF_ANY);
    s->key.generation = 0;
    if (!bpf_map_update_elem(&trees, &s->key, &fresh, BPF_NOEXIST))
        return fresh;
    bpf_map_push_elem(&free_trees, &fresh, BPF_ANY); /* another CPU was faster */
    known = bpf_map_lookup_elem(&trees, &s->key);
    return known ? *known : 0;
}

static __always_inline __u32 end_tree(struct scratch_tree *s, bool known)
{
    __u32 tree = known ? (__u32)number_of_tree(s->place) : 0;

    s->busy = 0;
    return tree;
}

/* Names the folder after those that are there already. */
static __always_inline void name_folder(struct scratch_tree *s, struct dentry *folder)
{
    __u32 place = s->names;

    if (!folder || place >= ABI_TREE_DEPTH || place >= config.tree_depth)
        return;
    bpf_probe_read_kernel_str(s->key.name[place], ABI_TREE_NAME, BPF_CORE_READ(folder, d_name.name));
    s->names = place + 1;
}

/* Names the first folders on the way from the root to this one, in the key that is made there. 0 for one that is too
   deep. Global, like those that follow. */
__noinline int name_folders(__u32 scratch, __u64 address)
{
    struct scratch_tree *s = config.tree_depth ? bpf_map_lookup_elem(&scratch_trees, &scratch) : NULL;
    struct dentry *folder = (struct dentry *)address, *first = NULL, *second = NULL, *third = NULL, *fourth = NULL;

    if (!s)
        return 0;
#pragma clang loop unroll(disable)
    for (int i = 0; i < WALK_MAX; i++) {
        struct dentry *above = BPF_CORE_READ(folder, d_parent);

        if (!above)
            return 0;
        if (above == folder) {
            name_folder(s, first);
            name_folder(s, second);
            name_folder(s, third);
            name_folder(s, fourth);
            return 1;
        }
        fourth = third;
        third = second;
        second = first;
        first = folder;
        folder = above;
    }
    return 0;
}

/* The folder that an open file is in, or is. */
static __always_inline struct dentry *folder_of(struct file *file)
{
    struct dentry *entry = BPF_CORE_READ(file, f_path.dentry);
    struct inode *inode = BPF_CORE_READ(file, f_inode);

    return (LOAD(inode, i_mode) & S_IFMT) == S_IFDIR ? entry : BPF_CORE_READ(entry, d_parent);
}

/* Of an open file on that volume. Global like the next one, so that the verifier looks at it once; and where nobody asks
   for trees, it leaves nothing of them. */
__noinline __u64 tree_of_file(__u64 address, __u64 volume, __u32 process)
{
    struct scratch_tree *s;

    if (!config.tree_depth || (volume & ABI_VOLUME_FS) == 0)
        return 0;
    s = begin_tree(volume, process);
    return s ? end_tree(s, name_folders(s->place, (__u64)folder_of((struct file *)address))) : 0;
}

/* Ends the name that has been spelled. False for "..". */
static __always_inline bool end_name(struct scratch_tree *s)
{
    __u32 place = s->names, filled = s->filled, dots = s->dots;

    s->filled = s->dots = 0;
    if (dots == filled && dots == 2)
        return false;
    if (!filled || place >= ABI_TREE_DEPTH || place >= config.tree_depth)
        return true;
    if (dots == filled && dots == 1)
        s->key.name[place][0] = 0; /* here */
    else
        s->names = place + 1;
    return true;
}

#define PIECE_MAX 16

/*
 * Adds what a piece of the path from there on spells, as far as there is room in the key: 0 to go on, 1 at the end of the
 * path, -1 for one that leads back. Global, and piece by piece, so that the verifier looks at it once.
 */
__noinline int spell_piece(__u32 scratch, __u32 from)
{
    struct scratch_tree *s = config.tree_depth ? bpf_map_lookup_elem(&scratch_trees, &scratch) : NULL;

    if (!s)
        return -1;
    for (__u32 i = 0; i < PIECE_MAX; i++) {
        __u32 place = s->names, filled = s->filled, at = from + i;
        char c;

        if (at >= ABI_PATH_MAX)
            return 1;
        barrier_var(at); /* clang would add from and i apart, of which the verifier knows no bounds */
        c = s->path.path[at];
        if (!c)
            return 1;
        if (c == '/') {
            if (!end_name(s))
                return -1;
            continue;
        }
        if (place < ABI_TREE_DEPTH && place < config.tree_depth && filled < ABI_TREE_NAME - 1)
            s->key.name[place][filled] = c;
        s->filled = filled + 1;
        s->dots += c == '.';
    }
    return 0;
}

/* Adds the folders that a path names from there on: all but what is behind the last '/'. */
static __always_inline bool spell_folders(struct scratch_tree *s, __u32 from)
{
    __u32 begun;
    int result = 0;

    s->filled = s->dots = 0;
    for (int i = 0; i < ABI_PATH_MAX / PIECE_MAX + 1 && !result; i++) {
        result = spell_piece(s->place, from);
        from += PIECE_MAX;
    }
    if (result < 0 || (s->filled == 2 && s->dots == 2))
        return false;
    begun = s->names;
    if (begun < ABI_TREE_DEPTH)
        __builtin_memset(s->key.name[begun], 0, ABI_TREE_NAME);
    return true;
}

/* What a relative path begins with, if it is on that volume; an empty one means the descriptor itself. */
static __always_inline struct dentry *directory_on(struct task_struct *task, int fd, __u64 volume)
{
    struct file *file = fd == AT_FDCWD ? NULL : file_of(task, fd);
    struct dentry *folder = NULL;

    if (fd == AT_FDCWD)
        folder = BPF_CORE_READ(task, fs, pwd.dentry);
    else if (file)
        folder = folder_of(file);
    return folder && (ABI_VOLUME_FS | BPF_CORE_READ(folder, d_sb, s_dev)) == volume ? folder : NULL;
}

static __always_inline bool name_path(struct scratch_tree *s, int fd, __u64 path)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct abi_mount *mount;
    struct dentry *folder;
    long length = read_path(&s->path, path);

    if (length > 1 && s->path.path[0] == '/') {
        mount = mount_of_prefix(task, &s->path, (__u32)length - 1);
        if (length <= ABI_PATH_MAX)
            s->path.path[length - 1] = 0; /* the last name is a file's */
        if (!mount || mount->volume != s->key.volume || !mount->length)
            return false;
        s->key.root = mount->root;
        return spell_folders(s, mount->length);
    }
    folder = directory_on(task, fd, s->key.volume);
    return folder && name_folders(s->place, (__u64)folder) && (length <= 1 || spell_folders(s, 0));
}

/* Of a path, the directory it is relative to in fd, that was found to lead to that volume. */
__noinline __u64 tree_of_path(int fd, __u64 path, __u64 volume, __u32 process)
{
    struct scratch_tree *s;

    if (!config.tree_depth || (volume & ABI_VOLUME_FS) == 0)
        return 0;
    s = begin_tree(volume, process);
    return s ? end_tree(s, name_path(s, fd, path)) : 0;
}

/* What an operation counts as, beside its kind. */
static __always_inline bool is_metadata(__u32 op)
{
    return op == OP_OPEN || op == OP_CLOSE || (op >= OP_STAT && op <= OP_SETATTR && op != OP_SEEK);
}

/* One operation in a tree. 0 when the number is another one's by now. Global, as it is called from many places. */
__noinline int count_in_tree(__u32 tree, __u32 op, __u64 bytes, __u64 latency_ns)
{
    __u32 mask = config.tree_stripe_mask;
    __u32 index = ABI_TREE_INDEX(tree) * (mask + 1) + (bpf_get_smp_processor_id() & mask);
    struct abi_tree *counts;

    if (!config.tree_depth || !tree)
        return 1;
    counts = bpf_map_lookup_elem(&tree_counts, &index);
    if (!counts || counts->generation != ABI_TREE_GENERATION(tree))
        return 0;
    if (op == OP_READ) {
        __sync_fetch_and_add(&counts->count[ABI_TREE_READS], 1);
        __sync_fetch_and_add(&counts->count[ABI_TREE_READ_BYTES], bytes);
    } else if (op == OP_WRITE) {
        __sync_fetch_and_add(&counts->count[ABI_TREE_WRITES], 1);
        __sync_fetch_and_add(&counts->count[ABI_TREE_WRITE_BYTES], bytes);
    } else if (is_metadata(op)) {
        __sync_fetch_and_add(&counts->count[ABI_TREE_METADATA], 1);
        if (op == OP_OPEN || op == OP_CREATE)
            __sync_fetch_and_add(&counts->count[ABI_TREE_OPENS], 1);
    } else {
        return 1;
    }
    __sync_fetch_and_add(&counts->count[ABI_TREE_WAIT_NS], latency_ns);
    return 1;
}

#endif
