/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system calls that count, SYSCALL(name, its shape), for probe/syscall_table.c to include more than once: so no
 * include guard.
 */
SYSCALL(read, FD(READ))
SYSCALL(pread64, FD_AT(READ))
SYSCALL(readv, FD(READ))
SYSCALL(preadv, FD_AT(READ))
SYSCALL(preadv2, FD_AT(READ))
SYSCALL(write, FD(WRITE))
SYSCALL(pwrite64, FD_AT(WRITE))
SYSCALL(writev, FD(WRITE))
SYSCALL(pwritev, FD_AT(WRITE))
SYSCALL(pwritev2, FD_AT(WRITE))
/* a transfer between two files is a read of one and a write of the other */
SYSCALL(sendfile, CALL(READ, TRANSFER, 1, 0, 8))
SYSCALL(splice, CALL(READ, TRANSFER, 0, 2, 8))
SYSCALL(copy_file_range, CALL(READ, TRANSFER, 0, 2, 8))

SYSCALL(openat, CALL(OPEN, OPEN, 0, 1, 2))
SYSCALL(openat2, CALL(OPEN, OPEN_HOW, 0, 1, 2))
SYSCALL(open_by_handle_at, CALL(OPEN, OPEN, 0, -1, 2))
SYSCALL(close, FD(CLOSE))
SYSCALL(close_range, CALL(CLOSE, CLOSE_RANGE, -1, -1, -1))

SYSCALL(fstat, FD(STAT))
SYSCALL(newfstatat, CALL(STAT, STAT, 0, 1, 2))
SYSCALL(statx, CALL(STAT, STATX, 0, 1, 4))
SYSCALL(statfs, PATH(STAT, 0))
SYSCALL(fstatfs, FD(STAT))
SYSCALL(faccessat, AT(STAT, 0))
SYSCALL(faccessat2, AT(STAT, 0))
SYSCALL(readlinkat, AT(STAT, 0))
SYSCALL(getxattr, PATH(STAT, 0))
SYSCALL(lgetxattr, PATH(STAT, 0))
SYSCALL(fgetxattr, FD(STAT))
SYSCALL(listxattr, PATH(STAT, 0))
SYSCALL(llistxattr, PATH(STAT, 0))
SYSCALL(flistxattr, FD(STAT))
SYSCALL(getxattrat, AT(STAT, 0))
SYSCALL(listxattrat, AT(STAT, 0))
SYSCALL(file_getattr, AT(STAT, 0))
SYSCALL(name_to_handle_at, AT(STAT, 0))

/* seen, and not counted */
SYSCALL(fcntl, CALL(SETATTR, FCNTL, 0, -1, -1))

SYSCALL(lseek, FD(SEEK))
SYSCALL(getdents64, FD(READDIR))

SYSCALL(linkat, AT(CREATE, 2))
SYSCALL(symlinkat, AT(CREATE, 1))
SYSCALL(mknodat, AT(CREATE, 0))
SYSCALL(unlinkat, AT(UNLINK, 0))
SYSCALL(renameat2, AT(RENAME, 0))
SYSCALL(mkdirat, AT(MKDIR, 0))

SYSCALL(truncate, PATH(TRUNCATE, 0))
SYSCALL(ftruncate, FD(TRUNCATE))
SYSCALL(fallocate, FD(TRUNCATE))

SYSCALL(fchmod, FD(SETATTR))
SYSCALL(fchmodat, AT(SETATTR, 0))
SYSCALL(fchmodat2, AT(SETATTR, 0))
SYSCALL(fchown, FD(SETATTR))
SYSCALL(fchownat, AT(SETATTR, 0))
SYSCALL(utimensat, AT(SETATTR, 0))
SYSCALL(setxattr, PATH(SETATTR, 0))
SYSCALL(lsetxattr, PATH(SETATTR, 0))
SYSCALL(fsetxattr, FD(SETATTR))
SYSCALL(removexattr, PATH(SETATTR, 0))
SYSCALL(lremovexattr, PATH(SETATTR, 0))
SYSCALL(fremovexattr, FD(SETATTR))
SYSCALL(setxattrat, AT(SETATTR, 0))
SYSCALL(removexattrat, AT(SETATTR, 0))
SYSCALL(file_setattr, AT(SETATTR, 0))

SYSCALL(fsync, FD(FSYNC))
SYSCALL(fdatasync, FD(FSYNC))
SYSCALL(sync_file_range, FD(FSYNC))
SYSCALL(syncfs, FD(FSYNC))
SYSCALL(sync, CALL(FSYNC, NOWHERE, -1, -1, -1))
SYSCALL(msync, CALL(FSYNC, NOWHERE, -1, -1, -1))

/* libaio's requests count, and not these */
SYSCALL(io_setup, AIO(SETUP, 1))
SYSCALL(io_destroy, AIO(DESTROY, -1))
SYSCALL(io_submit, AIO(SUBMIT, 2))
SYSCALL(io_getevents, AIO(GETEVENTS, 3))
SYSCALL(io_pgetevents, AIO(GETEVENTS, 3))

/* The older spellings, which only older architectures have. */
#ifdef SYS_renameat
SYSCALL(renameat, AT(RENAME, 0))
#endif
#ifdef SYS_open
SYSCALL(open, CALL(OPEN, OPEN, -1, 0, 1))
SYSCALL(creat, CALL(OPEN, OPEN, -1, 0, -1))
SYSCALL(stat, CALL(STAT, STAT, -1, 0, 1))
SYSCALL(lstat, CALL(STAT, STAT, -1, 0, 1))
SYSCALL(access, PATH(STAT, 0))
SYSCALL(readlink, PATH(STAT, 0))
SYSCALL(getdents, FD(READDIR))
SYSCALL(link, PATH(CREATE, 1))
SYSCALL(symlink, PATH(CREATE, 1))
SYSCALL(mknod, PATH(CREATE, 0))
SYSCALL(unlink, PATH(UNLINK, 0))
SYSCALL(rmdir, PATH(UNLINK, 0))
SYSCALL(rename, PATH(RENAME, 0))
SYSCALL(mkdir, PATH(MKDIR, 0))
SYSCALL(chmod, PATH(SETATTR, 0))
SYSCALL(chown, PATH(SETATTR, 0))
SYSCALL(lchown, PATH(SETATTR, 0))
SYSCALL(utime, PATH(SETATTR, 0))
SYSCALL(utimes, PATH(SETATTR, 0))
SYSCALL(futimesat, AT(SETATTR, 0))
#endif
