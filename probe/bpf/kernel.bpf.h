/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel types that the programs touch, and of them only the fields they touch. Offsets come from the
 * running kernel's BTF when the programs are loaded (CO-RE), so nothing here needs to match a kernel.
 */
#ifndef UNBLEND_PROBE_KERNEL_H
#define UNBLEND_PROBE_KERNEL_H

typedef unsigned char __u8;
typedef signed char __s8;
typedef unsigned short __u16;
typedef short __s16;
typedef unsigned int __u32;
typedef int __s32;
typedef unsigned long long __u64;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;
#define true  1
#define false 0
#define NULL  ((void *)0)

/* From the kernel's user API (linux/bpf.h), which never changes a number. */
enum {
    BPF_MAP_TYPE_HASH = 1,
    BPF_MAP_TYPE_ARRAY = 2,
    BPF_MAP_TYPE_PROG_ARRAY = 3,
    BPF_MAP_TYPE_PERCPU_ARRAY = 6,
    BPF_MAP_TYPE_LRU_HASH = 9,
    BPF_MAP_TYPE_LPM_TRIE = 11,
    BPF_MAP_TYPE_QUEUE = 22,
    BPF_MAP_TYPE_STACK = 23,
    BPF_MAP_TYPE_RINGBUF = 27,
    BPF_MAP_TYPE_TASK_STORAGE = 29,
};
enum {
    BPF_ANY = 0,
    BPF_NOEXIST = 1,
    BPF_F_NO_PREALLOC = 1,
    BPF_F_MMAPABLE = 1024,
    BPF_LOCAL_STORAGE_GET_F_CREATE = 1,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
    unsigned long r15, di, si, dx, r10, r8, r9, orig_ax, ax, bx, cx, bp, ip;
    unsigned short cs;
};
struct thread_info {
    unsigned int status;
};
#elif defined(__TARGET_ARCH_arm64)
struct pt_regs {
    __u64 regs[31];
    __u64 orig_x0;
    __s32 syscallno;
};
struct thread_info {
    unsigned long flags;
};
#endif

typedef struct {
    int counter;
} atomic_t;

struct super_block;
struct file_system_type {
    const char *name;
};

struct super_block {
    __u32 s_dev;
    unsigned long s_flags;
    unsigned long s_magic;
    void *s_fs_info;
    struct file_system_type *s_type;
    char s_id[32];
};

struct inode {
    unsigned short i_mode;
    unsigned int i_flags;
    struct super_block *i_sb;
    __u32 i_rdev;
    long long i_size;
    unsigned long i_ino;
    __u32 i_generation;
};

typedef struct {
    int owned;
} socket_lock_t;

struct sock {
    socket_lock_t sk_lock;
};

struct tcp_sock {
    __u32 copied_seq;
    __u32 rcv_nxt;
    __u64 bytes_received;
};

struct vm_area_struct {
    struct file *vm_file;
};

enum fault_flag {
    FAULT_FLAG_WRITE = 1,
};

struct vm_fault {
    struct vm_area_struct *vma;
    enum fault_flag flags;
};

struct address_space {
    struct inode *host;
};

enum pageflags {
    PG_head = 6,
};

struct folio { /* one or more struct page in a row */
    struct address_space *mapping;
};
struct page {
    int _refcount;
    struct address_space *mapping; /* where there is no struct folio */
};

struct qstr {
    const unsigned char *name;
};

struct dentry {
    struct dentry *d_parent;
    struct qstr d_name;
    struct super_block *d_sb;
    struct inode *d_inode;
};

struct vfsmount {
    struct dentry *mnt_root;
    struct super_block *mnt_sb;
};

struct path {
    struct vfsmount *mnt;
    struct dentry *dentry;
};

struct file_operations {
    void *copy_file_range;
    void *remap_file_range;
};

struct file {
    const struct file_operations *f_op;
    unsigned int f_mode;
    unsigned int f_flags;
    long long f_pos;
    struct inode *f_inode;
    struct path f_path;
};

struct fdtable {
    unsigned int max_fds;
    struct file **fd;
    unsigned long *open_fds;
};

struct files_struct {
    struct fdtable *fdt;
};

/* Of this one only: its first member is a pointer to an open file. */
struct kiocb {
    struct file *ki_filp;
};

struct fs_struct {
    struct path root;
    struct path pwd;
};

struct ns_common {
    unsigned int inum;
};

struct list_head {
    struct list_head *next;
};

struct mount {
    struct mount *mnt_parent;
    struct vfsmount mnt;
    struct list_head mnt_mounts; /* those below it, by their mnt_child */
    struct list_head mnt_child;
};

struct mnt_namespace {
    struct ns_common ns;
    struct mount *root;
    __u64 event; /* counts the changes of its mounts */
};

struct nsproxy {
    struct mnt_namespace *mnt_ns;
};

struct signal_struct {
    atomic_t live;
};

typedef struct {
    unsigned long sig[1];
} sigset_t;

struct sigpending {
    sigset_t signal;
};

typedef struct {
    __u32 val;
} kuid_t;

struct kernfs_node {
    __u64 id;
};

struct cgroup_root {
    int hierarchy_id;
};

struct cgroup {
    int level;
    struct kernfs_node *kn;
    struct cgroup_root *root;
};

struct cgroup_subsys_state {
    struct cgroup *cgroup;
};

struct css_set {
    struct cgroup_subsys_state *subsys[1]; /* more, depending on the kernel's configuration */
    struct cgroup *dfl_cgrp;
};

struct kioctx_table;
struct mm_struct {
    void *pgd;
    struct kioctx_table *ioctx_table;
    unsigned long env_start;
    unsigned long env_end;
};

struct cred {
    kuid_t uid;
};

struct task_struct {
    struct thread_info thread_info;
    unsigned int flags;
    int pid;
    int tgid;
    unsigned long min_flt;
    unsigned long maj_flt;
    __u64 start_boottime;
    char comm[16];
    struct task_struct *group_leader;
    struct task_struct *real_parent;
    struct mm_struct *mm;
    struct css_set *cgroups;
    struct files_struct *files;
    struct fs_struct *fs;
    struct nsproxy *nsproxy;
    struct signal_struct *signal;
    struct sigpending pending;
    const struct cred *cred;
};

struct linux_binprm;

struct bpf_iter__task_file {
    struct task_struct *task;
    struct file *file;
};

enum req_flag_bits {
    __REQ_SYNC = 11,
    __REQ_PREFLUSH = 18,
};

struct gendisk {
    int major;
    int first_minor;
};

struct request_queue {
    struct gendisk *disk;
};

struct block_device {
    struct gendisk *bd_disk;
};

struct bio {
    struct block_device *bi_bdev;
    unsigned int bi_opf;
};

struct fuse_in_header {
    __u32 len;
    __u32 opcode;
};

struct fuse_out_header {
    __u32 len;
    __s32 error;
};

struct fuse_mount {
    struct super_block *sb;
};

struct fuse_req {
    struct {
        struct fuse_in_header h;
    } in;
    struct {
        struct fuse_out_header h;
    } out;
    struct fuse_mount *fm;
};

struct request {
    struct request_queue *q;
    struct gendisk *rq_disk; /* before 5.17 */
    unsigned int cmd_flags;
    unsigned int __data_len;
    struct {
        int counter;
    } ref; /* 0: nobody's, until it is given out again */
};

#pragma clang attribute pop

#endif
