/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "probe/selftest.h"

/* Arguments that are known only when the call is fired; far from every real number. */
enum argument {
    DIRECTORY = 0x5a000000, /* descriptors */
    FILE_,
    NAME,
    COPY,    /* a descriptor of its own for each call */
    BUFFER,
    HOW,     /* struct open_how */
    HANDLE,  /* struct file_handle of no bytes */
    ROOT,    /* "/" */
    MISSING, /* a path below what does not exist */
    KEY,     /* the name of an extended attribute that nobody has */
    NO_KEY,  /* none that is allowed */
};

#define HERE AT_FDCWD

struct shot {
    unsigned number;
    long argument[6];
};

#define SHOT(name, ...) {SYS_##name, {__VA_ARGS__}}
static const struct shot shots[] = {
    SHOT(read, FILE_, BUFFER, 0),
    SHOT(pread64, FILE_, BUFFER, 0, 0),
    SHOT(readv, FILE_, BUFFER, 0),
    SHOT(preadv, FILE_, BUFFER, 0, 0, 0),
    SHOT(preadv2, FILE_, BUFFER, 0, 0, 0, 0),
    SHOT(write, FILE_, BUFFER, 0),
    SHOT(pwrite64, FILE_, BUFFER, 0, 0),
    SHOT(writev, FILE_, BUFFER, 0),
    SHOT(pwritev, FILE_, BUFFER, 0, 0, 0),
    SHOT(pwritev2, FILE_, BUFFER, 0, 0, 0, 0),
    SHOT(sendfile, FILE_, FILE_, 0, 0),
    SHOT(splice, FILE_, 0, FILE_, 0, 0, 0),
    SHOT(copy_file_range, FILE_, 0, FILE_, 0, 0, 0),
    SHOT(openat, HERE, MISSING, O_RDONLY),
    SHOT(openat2, HERE, MISSING, HOW, sizeof(struct open_how)),
    SHOT(open_by_handle_at, DIRECTORY, HANDLE, O_RDONLY),
    SHOT(close, COPY),
    SHOT(close_range, COPY, COPY, 0),
    SHOT(fstat, FILE_, BUFFER),
    SHOT(newfstatat, HERE, ROOT, BUFFER, 0),
    SHOT(statx, HERE, ROOT, 0, STATX_BASIC_STATS, BUFFER),
    SHOT(statfs, MISSING, BUFFER),
    SHOT(fstatfs, NAME, BUFFER),
    SHOT(faccessat, HERE, ROOT, F_OK),
    SHOT(faccessat2, HERE, ROOT, F_OK, 0),
    SHOT(readlinkat, HERE, ROOT, BUFFER, 1),
    SHOT(getxattr, ROOT, KEY, BUFFER, 0),
    SHOT(lgetxattr, ROOT, KEY, BUFFER, 0),
    SHOT(fgetxattr, FILE_, KEY, BUFFER, 0),
    SHOT(listxattr, MISSING, BUFFER, 0),
    SHOT(llistxattr, MISSING, BUFFER, 0),
    SHOT(flistxattr, NAME, BUFFER, 0),
    SHOT(lseek, FILE_, 0, SEEK_CUR),
    SHOT(getdents64, DIRECTORY, BUFFER, 0),
    SHOT(name_to_handle_at, HERE, MISSING, HANDLE, BUFFER, 0),
    SHOT(linkat, HERE, MISSING, HERE, MISSING, 0),
    SHOT(symlinkat, MISSING, HERE, MISSING),
    SHOT(mknodat, HERE, MISSING, S_IFREG, 0),
    SHOT(unlinkat, HERE, MISSING, 0),
    SHOT(renameat2, HERE, MISSING, HERE, MISSING, 0),
    SHOT(mkdirat, HERE, MISSING, 0700),
    SHOT(truncate, MISSING, 0),
    SHOT(ftruncate, FILE_, 0),
    SHOT(fallocate, FILE_, 0, 0, 1),
    SHOT(fchmod, NAME, 0700),
    SHOT(fchmodat, HERE, MISSING, 0700),
    SHOT(fchown, NAME, -1, -1),
    SHOT(fchownat, HERE, MISSING, -1, -1, 0),
    SHOT(utimensat, HERE, MISSING, 0, 0),
    SHOT(setxattr, MISSING, KEY, BUFFER, 0, 0),
    SHOT(lsetxattr, MISSING, KEY, BUFFER, 0, 0),
    SHOT(fsetxattr, NAME, NO_KEY, BUFFER, 0, 0),
    SHOT(removexattr, MISSING, KEY),
    SHOT(lremovexattr, MISSING, KEY),
    SHOT(fremovexattr, NAME, NO_KEY),
    SHOT(fsync, NAME),
    SHOT(fdatasync, NAME),
    SHOT(sync_file_range, NAME, 0, 0, 0),
    SHOT(syncfs, NAME),
    SHOT(msync, 0, 0, MS_ASYNC),
#ifdef SYS_renameat
    SHOT(renameat, HERE, MISSING, HERE, MISSING),
#endif
#ifdef SYS_open
    SHOT(open, MISSING, O_RDONLY),
    SHOT(creat, MISSING, 0600),
    SHOT(stat, ROOT, BUFFER),
    SHOT(lstat, ROOT, BUFFER),
    SHOT(access, ROOT, F_OK),
    SHOT(readlink, ROOT, BUFFER, 1),
    SHOT(getdents, DIRECTORY, BUFFER, 0),
    SHOT(link, MISSING, MISSING),
    SHOT(symlink, MISSING, MISSING),
    SHOT(mknod, MISSING, S_IFREG, 0),
    SHOT(unlink, MISSING),
    SHOT(rmdir, MISSING),
    SHOT(rename, MISSING, MISSING),
    SHOT(mkdir, MISSING, 0700),
    SHOT(chmod, MISSING, 0700),
    SHOT(chown, MISSING, -1, -1),
    SHOT(lchown, MISSING, -1, -1),
    SHOT(utime, MISSING, 0),
    SHOT(utimes, MISSING, 0),
    SHOT(futimesat, HERE, MISSING, 0),
#endif
};

/* Calls younger than the headers have one number everywhere; all take a directory and a path, and then only more. */
static const unsigned by_path[] = {452 /* fchmodat2 */, 463, 464, 465, 466 /* ...xattrat */,
                                   468, 469 /* file_getattr, file_setattr */};

static long actual(long argument, const struct selftest_files *files)
{
    static char buffer[4096];
    static const struct open_how how;
    static const struct {
        unsigned bytes;
        int type;
    } handle;

    switch (argument) {
    case DIRECTORY:
        return files->directory;
    case FILE_:
        return files->file;
    case NAME:
        return files->name;
    case BUFFER:
        return (long)buffer;
    case HOW:
        return (long)&how;
    case HANDLE:
        return (long)&handle;
    case ROOT:
        return (long)"/";
    case MISSING:
        return (long)"/.unblend-does-not-exist/file";
    case KEY:
        return (long)"user.unblend.does.not.exist";
    case NO_KEY:
        return (long)"";
    }
    return argument;
}

static const struct shot *find(unsigned number)
{
    static const struct shot path = {0, {HERE, MISSING, 0, 0, 0, 0}};

    for (unsigned i = 0; i < sizeof(shots) / sizeof(*shots); i++)
        if (shots[i].number == number)
            return &shots[i];
    for (unsigned i = 0; i < sizeof(by_path) / sizeof(*by_path); i++)
        if (by_path[i] == number)
            return &path;
    return NULL;
}

bool selftest_fires(unsigned number)
{
    return find(number) != NULL;
}

bool selftest_fire(unsigned number, const struct selftest_files *files, long *result)
{
    const struct shot *shot = find(number);
    long argument[6];
    int copy = -1;

    if (!shot)
        return false;
    for (int i = 0; i < 6; i++) {
        if (shot->argument[i] == COPY && copy < 0)
            copy = dup(files->directory);
        argument[i] = shot->argument[i] == COPY ? copy : actual(shot->argument[i], files);
    }
    *result = syscall(number, argument[0], argument[1], argument[2], argument[3], argument[4],
                      argument[5]);
    if (*result < 0)
        *result = -errno;
    return true;
}
