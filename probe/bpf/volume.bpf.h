/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a call goes. A descriptor's volume is its file's; a successful stat's is the st_dev it returned; any
 * other path's is the longest mount point that prefixes it, or the volume of the directory it is relative to.
 * Symbolic links are not followed.
 */
#ifndef UNBLEND_PROBE_VOLUME_H
#define UNBLEND_PROBE_VOLUME_H

#include "probe/bpf/file.bpf.h"
#include "probe/bpf/task.bpf.h"

#define S_IFMT   0170000
#define S_IFREG  0100000
#define S_IFDIR  0040000
#define S_IFLNK  0120000
#define S_IFBLK  0060000
#define S_IFIFO  0010000
#define S_IFSOCK 0140000
#define AT_FDCWD (-100)
#define S_DAX    (1U << 13)
#if defined(__TARGET_ARCH_arm64)
#define O_DIRECT 0200000
#else
#define O_DIRECT 040000
#endif

/* Superblocks that only the kernel mounts: memfds, shared anonymous memory, pipes, sockets. */
#define SB_INTERNAL (1UL << 22 | 1UL << 31) /* SB_KERNMOUNT, SB_NOUSER */

/* Which mounts a namespace has now. */
static __always_inline __u32 mounts_of(struct mnt_namespace *namespace)
{
    return ABI_MOUNTS_READ(bpf_core_field_exists(namespace->event) ? BPF_CORE_READ(namespace, event) : 0);
}

/*
 * Whether a task's absolute paths begin elsewhere than its namespace: chroot(2). Where a namespace begins is mounted on the
 * kernel's own root, which is empty, or is that.
 */
static __always_inline bool is_confined(struct task_struct *task, struct mnt_namespace *namespace)
{
    struct fs_struct *fs = task->fs;
    struct mount *mount, *first = namespace->root;

    if (fs->root.dentry != fs->root.mnt->mnt_root)
        return true;
    mount = (void *)BPF_CORE_READ(fs, root.mnt) - bpf_core_field_offset(struct mount, mnt); /* a pointer that is added to */
    return mount != first && BPF_CORE_READ(mount, mnt_parent) != first;
}

/* Which paths a task has: as abi_mount_key.namespace. */
static __always_inline __u32 number_of_paths(struct task_struct *task, struct mnt_namespace *namespace)
{
    __u32 number = namespace->ns.inum;
    struct dentry *root;
    __u64 hash;

    if (!is_confined(task, namespace))
        return number;
    root = task->fs->root.dentry;
    hash = ((__u64)root->d_sb->s_dev << 32) + root->d_inode->i_ino;
    return ABI_CONFINED((hash * 0x9e3779b97f4a7c15 ^ number) >> 32);
}

#define ANCESTORS_MAX 8

/* Has the mounts that a task sees, of which this is the number, read at the next drain, from an ancestor that is likely to be
   there still. */
static __always_inline void ask_for_numbered(struct task_struct *task, struct mnt_namespace *namespace, __u32 number)
{
    struct dentry *root = task->fs->root.dentry;
    struct abi_namespace asked = {.tgid = task->tgid, .read = mounts_of(namespace)};

    if (!number || bpf_map_lookup_elem(&namespaces, &number))
        return;
    if (number == ABI_CONFINED(number)) {
        asked.root = root->d_sb->s_dev;
        asked.root_inode = root->d_inode->i_ino;
    }
    for (int i = 0; i < ANCESTORS_MAX; i++) {
        task = task->real_parent;
        if (task->nsproxy->mnt_ns != namespace || task->fs->root.dentry != root)
            break;
        asked.tgid = task->tgid;
    }
    bpf_map_update_elem(&namespaces, &number, &asked, BPF_NOEXIST);
}

static __always_inline void ask_for_mounts(struct task_struct *task)
{
    struct mnt_namespace *namespace = task->nsproxy->mnt_ns;

    ask_for_numbered(task, namespace, number_of_paths(task, namespace));
}

/* Makes a superblock known, so that it has a name even when it is unmounted before anybody looks. */
static __always_inline struct abi_volume *learn_volume(__u64 key, struct super_block *super)
{
    struct file_system_type *type = BPF_CORE_READ(super, s_type);
    struct scratch_volume *s = take_room(&scratch_volume);
    struct abi_volume *volume;

    if (!s)
        return NULL;
    volume = &s->volume;
    __builtin_memset(volume, 0, sizeof(*volume));
    bpf_probe_read_kernel_str(volume->fstype, sizeof(volume->fstype), BPF_CORE_READ(type, name));
    volume->pseudo = bpf_map_lookup_elem(&pseudo_types, volume->fstype) != NULL;
    bpf_probe_read_kernel_str(volume->id, sizeof(volume->id), super->s_id);
    bpf_map_update_elem(&volumes, &key, volume, BPF_NOEXIST);
    if (!volume->pseudo)
        ask_for_mounts(bpf_get_current_task_btf()); /* it may be mounted nowhere else */
    give_room(&s->room);
    return bpf_map_lookup_elem(&volumes, &key);
}

/* Global like the other ones below, so that the verifier looks at it once and its stack is needed once. */
__noinline __u64 volume_of_super(__u64 address)
{
    struct super_block *super = (struct super_block *)address;
    __u64 key = ABI_VOLUME_FS | LOAD(super, s_dev);
    struct abi_volume *volume = bpf_map_lookup_elem(&volumes, &key);

    if (!volume) {
        if (LOAD(super, s_flags) & SB_INTERNAL)
            return ABI_VOLUME_NONE;
        volume = learn_volume(key, super);
    }
    return volume && volume->pseudo && !config.pseudo ? ABI_VOLUME_NONE : key;
}

/* What the file system stands for that a thread has used last. */
static __always_inline __u64 volume_of_device(const struct abi_thread *thread)
{
    return thread->pseudo ? ABI_VOLUME_NONE : thread->device;
}

/* A thread has used that device last, of that volume. */
static __always_inline void remember_device(struct abi_thread *thread, __u64 key, __u64 volume)
{
    thread->device = key;
    thread->pseudo = volume == ABI_VOLUME_NONE;
    thread->files_shift = 0;
}

/* The volume of a superblock, for the thread with that index (0: for none), which remembers the last one. */
static __always_inline __u64 volume_of_thread_super(__u64 address, __u32 thread_index)
{
    struct super_block *super = (struct super_block *)address;
    struct abi_thread *thread = thread_at(thread_index);
    __u64 key = ABI_VOLUME_FS | LOAD(super, s_dev), volume;

    if (thread && thread->device == key)
        return volume_of_device(thread);
    volume = volume_of_super(address);
    if (thread)
        remember_device(thread, key, volume);
    return volume;
}

__noinline __u64 volume_of_inode(__u64 inode_address, __u64 super_address, __u32 thread_index)
{
    struct inode *inode = (struct inode *)inode_address;

    switch (LOAD(inode, i_mode) & S_IFMT) {
    case S_IFREG:
    case S_IFDIR:
    case S_IFLNK:
        return volume_of_thread_super(super_address, thread_index);
    case S_IFBLK:
        return ABI_VOLUME_DEVICE | LOAD(inode, i_rdev);
    }
    return ABI_VOLUME_NONE;
}

static __always_inline __u64 volume_of_file(struct file *file)
{
    struct inode *inode = BPF_CORE_READ(file, f_inode);

    return volume_of_inode((__u64)inode, (__u64)BPF_CORE_READ(inode, i_sb), 0);
}

#define FMODE_WRITE 0x2

static __always_inline bool is_written(struct file *file)
{
    return LOAD(file, f_mode) & FMODE_WRITE;
}

/* Whether reads of it go past the page cache. */
static __always_inline bool is_uncached(struct file *file, struct inode *inode)
{
    return LOAD(file, f_flags) & O_DIRECT || LOAD(inode, i_flags) & S_DAX;
}

/* Whether its file system may copy to it by itself, without reading: by reflinks, or at a server. */
static __always_inline bool may_copy_itself(struct file *file)
{
    return BPF_CORE_READ(file, f_op, copy_file_range) || BPF_CORE_READ(file, f_op, remap_file_range);
}

/* Whether files of that mode and size are small, large, or none that has a size. */
static __always_inline __u32 file_size_described(__u32 mode, __u64 size)
{
    if ((mode & S_IFMT) != S_IFREG)
        return ABI_FILE_NO_SIZE;
    return ABI_FILE_SMALL + file_size_class(size);
}

static __always_inline __u32 file_size_of(struct inode *inode)
{
    __u64 size = LOAD(inode, i_size);

    return file_size_described(LOAD(inode, i_mode), size);
}

static __always_inline __u64 volume_of_directory(struct task_struct *task, int fd)
{
    struct file *file;

    if (fd == AT_FDCWD)
        return volume_of_super((__u64)BPF_CORE_READ(task, fs, pwd.dentry, d_sb));
    file = file_of(task, fd);
    return file ? volume_of_file(file) : ABI_VOLUME_NONE;
}

/* Of eight characters, 0x80 in each that is that one. */
static __always_inline __u64 find_all(__u64 word, __u8 c)
{
    const __u64 each = 0x0101010101010101, low = 0x7f * each;

    word ^= c * each;
    return ~(((word & low) + low) | word | low);
}

/* Whether a path of that length, with its NUL, has "//" or "/./" in it. */
static __always_inline bool is_untidy(const struct abi_mount_key *key, __u32 length)
{
    __u64 slash = 0, dot = 0; /* what the last eight end with */

#pragma clang loop unroll(disable)
    for (__u32 i = 0; i < ABI_PATH_MAX / sizeof(__u64); i++) {
        __u64 word, slashes, begun, dots;

        if (i * sizeof(word) >= length)
            return false;
        word = ((const volatile __u64 *)key->path)[i];
        slashes = find_all(word, '/');
        begun = slashes << 8 | slash;
        dots = begun & find_all(word, '.');
        if ((begun | dots << 8 | dot) & slashes)
            return true;
        slash = slashes >> 56;
        dot = dots >> 56;
    }
    return false;
}

/* The character there, 0 for one outside. The place is hidden from clang, which would not compare it once more. */
static __always_inline char character_at(const struct abi_mount_key *key, __u32 at)
{
    barrier_var(at);
    return at < ABI_PATH_MAX ? key->path[at] : 0;
}

/*
 * Leaves out of the path in the key what leads nowhere, as mount points are compared with the rest. The length with its
 * NUL. The number of what is kept stands in the key, for registers with all their values are what the verifier walks.
 */
__noinline int tidy_path(struct abi_mount_key *key, __u32 length)
{
    volatile __u32 *kept;

    if (!key || !is_untidy(key, length))
        return length;
    kept = &key->prefix_bits;
    *kept = 0;
#pragma clang loop unroll(disable)
    for (__u32 i = 0; i < ABI_PATH_MAX; i++) {
        char c = key->path[i], last;
        __u32 at = *kept;

        last = c == '/' ? character_at(key, at - 1) : 0;
        if (last == '/')
            continue;
        if (last == '.' && character_at(key, at - 2) == '/') {
            *kept = at - 1;
            continue;
        }
        barrier_var(at);
        if (at >= ABI_PATH_MAX)
            break;
        key->path[at] = c;
        if (!c)
            return at + 1;
        *kept = at + 1;
    }
    return ABI_PATH_MAX;
}

/* The longest mount point that prefixes the path in the key, length bytes without the NUL; NULL: none is known. */
static __always_inline struct abi_mount *mount_of_prefix(struct task_struct *task, struct abi_mount_key *key,
                                                         __u32 length)
{
    struct mnt_namespace *namespace = task->nsproxy->mnt_ns;
    struct abi_mount *mount;

    key->namespace = number_of_paths(task, namespace);
    /* "/mnt" must match the mount point "/mnt/" and not "/mn/"; a longer path is cut where the key ends. */
    if (length < ABI_PATH_MAX)
        key->path[length] = '/';
    key->prefix_bits = (sizeof(key->namespace) + length + 1) * 8;
    if (key->prefix_bits > (sizeof(*key) - sizeof(key->prefix_bits)) * 8)
        key->prefix_bits = (sizeof(*key) - sizeof(key->prefix_bits)) * 8;
    mount = bpf_map_lookup_elem(&mounts, key);
    /* What was mounted since, in a container that is being made above all, nobody else tells. */
    if (!mount || (mount->read && mount->read != mounts_of(namespace)))
        ask_for_numbered(task, namespace, key->namespace);
    return mount;
}

static __always_inline __u64 volume_of_prefix(struct task_struct *task, struct abi_mount_key *key, __u32 length)
{
    struct abi_mount *mount = mount_of_prefix(task, key, length);

    return mount ? mount->volume : ABI_VOLUME_UNKNOWN;
}

/* Puts a path into the key, an absolute one tidied, and returns its length with its NUL: negative for NULL, as for all that
   cannot be read, which costs a page fault to find out. */
static __always_inline long read_path(struct abi_mount_key *key, __u64 path)
{
    long length = -1;

    if (path)
        length = bpf_probe_read_user_str(key->path, sizeof(key->path), (const void *)path);
    if (length > 2 && key->path[0] == '/')
        length = tidy_path(key, length);
    return length;
}

/* fd: the directory of a relative path; an empty path or none at all means the descriptor itself. */
static __always_inline __u64 volume_in(struct abi_mount_key *key, int fd, __u64 path)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct file *file;
    long length = read_path(key, path);

    if (length > 1 && key->path[0] == '/')
        return volume_of_prefix(task, key, (__u32)length - 1);
    if (length > 1)
        return volume_of_directory(task, fd);
    if (fd == AT_FDCWD)
        return length == 1 ? volume_of_directory(task, fd) : ABI_VOLUME_UNKNOWN;
    file = file_of(task, fd);
    return file ? volume_of_file(file) : ABI_VOLUME_NONE;
}

__noinline __u64 volume_of_path(int fd, __u64 path)
{
    struct scratch_path *s = take_room(&scratch_path);
    __u64 volume;

    if (!s)
        return ABI_VOLUME_UNKNOWN;
    volume = volume_in(&s->key, fd, path);
    give_room(&s->room);
    return volume;
}

#endif
