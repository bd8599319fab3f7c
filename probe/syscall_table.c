/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/syscall_table.h"

#include <string.h>
#include <sys/syscall.h>

/*
 * Calls that are younger than the oldest headers we build with; their numbers are the same on every
 * architecture (include/uapi/asm-generic/unistd.h).
 */
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#ifndef SYS_setxattrat
#define SYS_setxattrat    463
#define SYS_getxattrat    464
#define SYS_listxattrat   465
#define SYS_removexattrat 466
#endif
#ifndef SYS_file_getattr
#define SYS_file_getattr 468
#define SYS_file_setattr 469
#endif

#define CALL(op_, shape_, fd_, path_, third_)                                                      \
    {                                                                                              \
        .op = OP_##op_, .shape = ABI_SHAPE_##shape_, .fd = fd_, .path = path_, .third = third_     \
    }
#define FD(op_)          CALL(op_, FD, 0, -1, -1)
#define FD_AT(op_)       CALL(op_, FD, 0, -1, 3) /* with an offset of its own */
#define PATH(op_, path_) CALL(op_, PATH, -1, path_, -1)
#define AT(op_, fd_)     CALL(op_, PATH, fd_, fd_ + 1, -1)

static const struct abi_syscall table_[ABI_SYSCALLS] = {
    [SYS_read] = FD(READ),
    [SYS_pread64] = FD_AT(READ),
    [SYS_readv] = FD(READ),
    [SYS_preadv] = FD_AT(READ),
    [SYS_preadv2] = FD_AT(READ),
    [SYS_write] = FD(WRITE),
    [SYS_pwrite64] = FD_AT(WRITE),
    [SYS_writev] = FD(WRITE),
    [SYS_pwritev] = FD_AT(WRITE),
    [SYS_pwritev2] = FD_AT(WRITE),
    /* a transfer between two files is a read of one and a write of the other */
    [SYS_sendfile] = CALL(READ, TRANSFER, 1, 0, -1),
    [SYS_splice] = CALL(READ, TRANSFER, 0, 2, -1),
    [SYS_copy_file_range] = CALL(READ, TRANSFER, 0, 2, -1),

    [SYS_openat] = CALL(OPEN, OPEN, 0, 1, 2),
    [SYS_openat2] = CALL(OPEN, OPEN_HOW, 0, 1, 2),
    [SYS_open_by_handle_at] = CALL(OPEN, OPEN, 0, -1, 2),
    [SYS_close] = FD(CLOSE),
    [SYS_close_range] = CALL(CLOSE, CLOSE_RANGE, -1, -1, -1),

    [SYS_fstat] = FD(STAT),
    [SYS_newfstatat] = CALL(STAT, STAT, 0, 1, 2),
    [SYS_statx] = CALL(STAT, STATX, 0, 1, 4),
    [SYS_statfs] = PATH(STAT, 0),
    [SYS_fstatfs] = FD(STAT),
    [SYS_faccessat] = AT(STAT, 0),
    [SYS_faccessat2] = AT(STAT, 0),
    [SYS_readlinkat] = AT(STAT, 0),
    [SYS_getxattr] = PATH(STAT, 0),
    [SYS_lgetxattr] = PATH(STAT, 0),
    [SYS_fgetxattr] = FD(STAT),
    [SYS_listxattr] = PATH(STAT, 0),
    [SYS_llistxattr] = PATH(STAT, 0),
    [SYS_flistxattr] = FD(STAT),
    [SYS_getxattrat] = AT(STAT, 0),
    [SYS_listxattrat] = AT(STAT, 0),
    [SYS_file_getattr] = AT(STAT, 0),

    [SYS_lseek] = FD(SEEK),
    [SYS_getdents64] = FD(READDIR),

    [SYS_linkat] = AT(CREATE, 2),
    [SYS_symlinkat] = AT(CREATE, 1),
    [SYS_mknodat] = AT(CREATE, 0),
    [SYS_unlinkat] = AT(UNLINK, 0),
    [SYS_renameat2] = AT(RENAME, 0),
    [SYS_mkdirat] = AT(MKDIR, 0),

    [SYS_truncate] = PATH(TRUNCATE, 0),
    [SYS_ftruncate] = FD(TRUNCATE),
    [SYS_fallocate] = FD(TRUNCATE),

    [SYS_fchmod] = FD(SETATTR),
    [SYS_fchmodat] = AT(SETATTR, 0),
    [SYS_fchmodat2] = AT(SETATTR, 0),
    [SYS_fchown] = FD(SETATTR),
    [SYS_fchownat] = AT(SETATTR, 0),
    [SYS_utimensat] = AT(SETATTR, 0),
    [SYS_setxattr] = PATH(SETATTR, 0),
    [SYS_lsetxattr] = PATH(SETATTR, 0),
    [SYS_fsetxattr] = FD(SETATTR),
    [SYS_removexattr] = PATH(SETATTR, 0),
    [SYS_lremovexattr] = PATH(SETATTR, 0),
    [SYS_fremovexattr] = FD(SETATTR),
    [SYS_setxattrat] = AT(SETATTR, 0),
    [SYS_removexattrat] = AT(SETATTR, 0),
    [SYS_file_setattr] = AT(SETATTR, 0),

    [SYS_fsync] = FD(FSYNC),
    [SYS_fdatasync] = FD(FSYNC),
    [SYS_sync_file_range] = FD(FSYNC),
    [SYS_syncfs] = FD(FSYNC),
    [SYS_sync] = CALL(FSYNC, NOWHERE, -1, -1, -1),
    [SYS_msync] = CALL(FSYNC, NOWHERE, -1, -1, -1),

/* The older spellings, which only older architectures have. */
#ifdef SYS_renameat
    [SYS_renameat] = AT(RENAME, 0),
#endif
#ifdef SYS_open
    [SYS_open] = CALL(OPEN, OPEN, -1, 0, 1),
    [SYS_creat] = CALL(OPEN, OPEN, -1, 0, -1),
    [SYS_stat] = CALL(STAT, STAT, -1, 0, 1),
    [SYS_lstat] = CALL(STAT, STAT, -1, 0, 1),
    [SYS_access] = PATH(STAT, 0),
    [SYS_readlink] = PATH(STAT, 0),
    [SYS_getdents] = FD(READDIR),
    [SYS_link] = PATH(CREATE, 1),
    [SYS_symlink] = PATH(CREATE, 1),
    [SYS_mknod] = PATH(CREATE, 0),
    [SYS_unlink] = PATH(UNLINK, 0),
    [SYS_rmdir] = PATH(UNLINK, 0),
    [SYS_rename] = PATH(RENAME, 0),
    [SYS_mkdir] = PATH(MKDIR, 0),
    [SYS_chmod] = PATH(SETATTR, 0),
    [SYS_chown] = PATH(SETATTR, 0),
    [SYS_lchown] = PATH(SETATTR, 0),
    [SYS_utime] = PATH(SETATTR, 0),
    [SYS_utimes] = PATH(SETATTR, 0),
    [SYS_futimesat] = AT(SETATTR, 0),
#endif
};

void syscall_table(struct abi_syscall table[ABI_SYSCALLS])
{
    memcpy(table, table_, sizeof(table_));
}
