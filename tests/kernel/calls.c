/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/kernel/call.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <linux/openat2.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "probe/syscall_number.h"

#define NO_FD     999999 /* beyond every table of descriptors */
#define PIPE_SIZE (1 << 20)
#define HERE      AT_FDCWD

/* Arguments that differ from worker to worker or from call to call; far from every real number. */
enum argument {
    DATA = 0x5a000000, /* descriptor of 64 KiB of data, */
    SINK,              /* of a file to write to, */
    DIRECT,            /* of the data without the page cache, */
    PLACE,             /* of the worker's directory, */
    PIPE_IN,           /* of a pipe's reading */
    PIPE_OUT,          /* and writing end, */
    SOCKET,            /* of a socket that nobody reads, */
    OWN,               /* and the one that was opened for this call */
    BUFFER,
    VECTOR, /* two pieces: 300 + 700 bytes */
    START,  /* pointer to an offset of 0, made new for each call */
    OPEN_HOW,
    MAPPING, /* of the data, shared */
    PATH_DATA, /* absolute; the others are relative to the directory */
    PATH_FILE, /* f0, f1, ... */
    PATH_DIRECTORY,
    PATH_NEW,
    PATH_MISSING, /* below what does not exist */
    LINK,
    EMPTY,
    KEY,
    XATTR,      /* where getxattrat() and setxattrat() find the value */
    HANDLE,     /* of a file; no valid one */
    ATTRIBUTES, /* none set */
};

struct xattr_place {
    uint64_t value;
    uint32_t size, flags;
};

#define READ_ONLY  O_RDONLY
#define WRITE_NEW  (O_WRONLY | O_CREAT)

const struct call calls[] = {
    {"read", SYS_read, {DATA, BUFFER, 1000}, FRESH, 1000, OP_READ},
    {"read-nothing", SYS_read, {DATA, BUFFER, 0}, FRESH, 0, OP_READ},
    {"pread", SYS_pread64, {DATA, BUFFER, 4096, 8192}, FRESH, 4096, OP_READ},
    {"pread-end", SYS_pread64, {DATA, BUFFER, 4096, DATA_SIZE - 100}, FRESH, 100, OP_READ},
    {"pread-EINVAL", SYS_pread64, {DATA, BUFFER, 4096, -1}, FRESH, -EINVAL, OP_READ},
    {"readv", SYS_readv, {DATA, VECTOR, 2}, FRESH, 1000, OP_READ},
    {"preadv", SYS_preadv, {DATA, VECTOR, 2, 5}, FRESH, 1000, OP_READ},
    {"preadv2", SYS_preadv2, {DATA, VECTOR, 2, 5, 0, 0}, FRESH, 1000, OP_READ},
    {"read-EISDIR", SYS_read, {PLACE, BUFFER, 100}, FRESH, -EISDIR, OP_READ},
    {"read-EBADF", SYS_read, {NO_FD, BUFFER, 100}, FRESH, -EBADF, OP_NONE},
    {"read-pipe", SYS_read, {PIPE_IN, BUFFER, 100}, FULL_PIPE, 100, OP_NONE},
    {"write", SYS_write, {SINK, BUFFER, 1000}, FRESH, 1000, OP_WRITE},
    {"pwrite", SYS_pwrite64, {SINK, BUFFER, 5000, 10}, FRESH, 5000, OP_WRITE},
    {"writev", SYS_writev, {SINK, VECTOR, 2}, FRESH, 1000, OP_WRITE},
    {"pwritev", SYS_pwritev, {SINK, VECTOR, 2, 5}, FRESH, 1000, OP_WRITE},
    {"pwritev2", SYS_pwritev2, {SINK, VECTOR, 2, 5, 0, 0}, FRESH, 1000, OP_WRITE},
    {"write-pipe", SYS_write, {PIPE_OUT, BUFFER, 100}, FRESH, 100, OP_NONE},
    {"sendfile", SYS_sendfile, {SINK, DATA, START, 500}, FRESH, 500, OP_READ, OP_WRITE},
    {"sendfile-socket", SYS_sendfile, {SOCKET, DATA, START, 500}, FRESH, 500, OP_READ},
    {"splice-from", SYS_splice, {DATA, START, PIPE_OUT, 0, 100, 0}, FRESH, 100, OP_READ},
    {"splice-to", SYS_splice, {PIPE_IN, 0, SINK, START, 100, 0}, FULL_PIPE, 100, OP_WRITE},
    {"copy_file_range", SYS_copy_file_range, {DATA, START, SINK, 0, 700, 0}, FRESH, 700, OP_READ,
     OP_WRITE},
    {"openat", SYS_openat, {PLACE, PATH_FILE, READ_ONLY}, FILES, SOME, OP_OPEN},
    {"openat-O_CREAT", SYS_openat, {HERE, PATH_FILE, WRITE_NEW, 0600}, FILES, SOME, OP_OPEN},
    {"openat-create", SYS_openat, {PLACE, PATH_NEW, WRITE_NEW, 0600}, FRESH, SOME, OP_CREATE},
    {"openat-O_TMPFILE", SYS_openat, {PLACE, (long)".", O_TMPFILE | O_RDWR, 0600}, FRESH, SOME,
     OP_CREATE},
    {"openat-absolute", SYS_openat, {HERE, PATH_DATA, READ_ONLY}, FRESH, SOME, OP_OPEN,
     .opens_data = true},
    {"openat-ENOENT", SYS_openat, {PLACE, PATH_MISSING, READ_ONLY}, FRESH, -ENOENT, OP_OPEN},
    {"openat2", SYS_openat2, {PLACE, PATH_FILE, OPEN_HOW, sizeof(struct open_how)}, FILES, SOME,
     OP_OPEN},
    {"openat2-create", SYS_openat2, {PLACE, PATH_NEW, OPEN_HOW, sizeof(struct open_how)}, FRESH,
     SOME, OP_CREATE},
    {"close", SYS_close, {OWN}, OPENED, 0, OP_CLOSE},
    {"close-EBADF", SYS_close, {NO_FD}, FRESH, -EBADF, OP_NONE},
    {"close_range", SYS_close_range, {OWN, OWN, 0}, OPENED, 0, OP_CLOSE},
    {"fstat", SYS_fstat, {DATA, BUFFER}, FRESH, 0, OP_STAT},
    {"newfstatat", SYS_newfstatat, {PLACE, PATH_FILE, BUFFER, 0}, FILES, 0, OP_STAT},
    {"newfstatat-empty", SYS_newfstatat, {DATA, EMPTY, BUFFER, AT_EMPTY_PATH}, FRESH, 0, OP_STAT},
    {"newfstatat-absolute", SYS_newfstatat, {HERE, PATH_DATA, BUFFER, 0}, FRESH, 0, OP_STAT},
    {"newfstatat-ENOENT", SYS_newfstatat, {PLACE, PATH_MISSING, BUFFER, 0}, FRESH, -ENOENT,
     OP_STAT},
    {"statx", SYS_statx, {PLACE, PATH_FILE, 0, STATX_BASIC_STATS, BUFFER}, FILES, 0, OP_STAT},
    {"statx-ENOENT", SYS_statx, {HERE, PATH_MISSING, 0, STATX_BASIC_STATS, BUFFER}, FRESH, -ENOENT,
     OP_STAT},
    {"faccessat", SYS_faccessat, {PLACE, PATH_FILE, R_OK}, FILES, 0, OP_STAT},
    {"faccessat2", SYS_faccessat2, {PLACE, PATH_FILE, R_OK, 0}, FILES, 0, OP_STAT},
    {"readlinkat", SYS_readlinkat, {PLACE, LINK, BUFFER, 100}, FRESH, 4, OP_STAT},
    {"readlinkat-EINVAL", SYS_readlinkat, {PLACE, PATH_FILE, BUFFER, 100}, FILES, -EINVAL, OP_STAT},
    {"statfs", SYS_statfs, {PATH_DATA, BUFFER}, FRESH, 0, OP_STAT},
    {"fstatfs", SYS_fstatfs, {DATA, BUFFER}, FRESH, 0, OP_STAT},
    {"getxattr", SYS_getxattr, {PATH_DATA, KEY, BUFFER, 100}, FRESH, EITHER, OP_STAT},
    {"fgetxattr", SYS_fgetxattr, {DATA, KEY, BUFFER, 100}, FRESH, EITHER, OP_STAT},
    {"lgetxattr", SYS_lgetxattr, {PATH_DATA, KEY, BUFFER, 100}, FRESH, EITHER, OP_STAT},
    {"listxattr", SYS_listxattr, {PATH_DATA, BUFFER, 100}, FRESH, EITHER, OP_STAT},
    {"llistxattr", SYS_llistxattr, {PATH_DATA, BUFFER, 100}, FRESH, EITHER, OP_STAT},
    {"flistxattr", SYS_flistxattr, {DATA, BUFFER, 100}, FRESH, EITHER, OP_STAT},
    {"getxattrat", SYS_getxattrat, {PLACE, PATH_FILE, 0, KEY, XATTR, sizeof(struct xattr_place)}, FILES, EITHER,
     OP_STAT},
    {"listxattrat", SYS_listxattrat, {PLACE, PATH_FILE, 0, BUFFER, 100}, FILES, EITHER, OP_STAT},
    {"file_getattr", SYS_file_getattr, {PLACE, PATH_FILE, BUFFER, 24, 0}, FILES, EITHER, OP_STAT},
    {"name_to_handle_at", SYS_name_to_handle_at, {PLACE, PATH_FILE, HANDLE, BUFFER, 0}, FILES, EITHER, OP_STAT},
    {"open_by_handle_at", SYS_open_by_handle_at, {PLACE, HANDLE, READ_ONLY}, FILES, EITHER, OP_OPEN},
    {"lseek", SYS_lseek, {DATA, 100, SEEK_SET}, FRESH, 100, OP_SEEK},
    {"lseek-EINVAL", SYS_lseek, {DATA, -1, SEEK_SET}, FRESH, -EINVAL, OP_SEEK},
    {"lseek-ESPIPE", SYS_lseek, {PIPE_IN, 0, SEEK_SET}, FRESH, -ESPIPE, OP_NONE},
    {"getdents64", SYS_getdents64, {PLACE, BUFFER, 4096}, FRESH, EITHER, OP_READDIR},
    {"getdents64-ENOTDIR", SYS_getdents64, {DATA, BUFFER, 4096}, FRESH, -ENOTDIR, OP_READDIR},
    {"linkat", SYS_linkat, {PLACE, PATH_FILE, PLACE, PATH_NEW, 0}, FILES, 0, OP_CREATE},
    {"symlinkat", SYS_symlinkat, {(long)"data", PLACE, PATH_NEW}, FRESH, 0, OP_CREATE},
    {"mknodat", SYS_mknodat, {PLACE, PATH_NEW, S_IFREG | 0600, 0}, FRESH, 0, OP_CREATE},
    {"mknodat-EEXIST", SYS_mknodat, {PLACE, PATH_FILE, S_IFREG | 0600, 0}, FILES, -EEXIST,
     OP_CREATE},
    {"unlinkat", SYS_unlinkat, {PLACE, PATH_FILE, 0}, FILES, 0, OP_UNLINK},
    {"unlinkat-directory", SYS_unlinkat, {PLACE, PATH_DIRECTORY, AT_REMOVEDIR}, DIRECTORIES, 0,
     OP_UNLINK},
    {"unlinkat-ENOENT", SYS_unlinkat, {PLACE, PATH_MISSING, 0}, FRESH, -ENOENT, OP_UNLINK},
    {"renameat2", SYS_renameat2, {PLACE, PATH_FILE, HERE, PATH_NEW, 0}, FILES, 0, OP_RENAME},
    {"mkdirat", SYS_mkdirat, {PLACE, PATH_NEW, 0700}, FRESH, 0, OP_MKDIR},
    {"mkdirat-EEXIST", SYS_mkdirat, {PLACE, PATH_DIRECTORY, 0700}, DIRECTORIES, -EEXIST, OP_MKDIR},
    {"truncate", SYS_truncate, {PATH_FILE, 5}, FILES, 0, OP_TRUNCATE},
    {"ftruncate", SYS_ftruncate, {SINK, 5}, FRESH, 0, OP_TRUNCATE},
    {"fallocate", SYS_fallocate, {SINK, 0, 0, 8192}, FRESH, 0, OP_TRUNCATE},
    {"fchmod", SYS_fchmod, {SINK, 0600}, FRESH, 0, OP_SETATTR},
    {"fchmodat", SYS_fchmodat, {PLACE, PATH_FILE, 0600}, FILES, 0, OP_SETATTR},
    {"fchown", SYS_fchown, {SINK, -1, -1}, FRESH, 0, OP_SETATTR},
    {"fchownat", SYS_fchownat, {PLACE, PATH_FILE, -1, -1, 0}, FILES, 0, OP_SETATTR},
    {"utimensat", SYS_utimensat, {PLACE, PATH_FILE, 0, 0}, FILES, 0, OP_SETATTR},
    {"utimensat-ENOENT", SYS_utimensat, {PLACE, PATH_MISSING, 0, 0}, FRESH, -ENOENT, OP_SETATTR},
    {"setxattr", SYS_setxattr, {PATH_FILE, KEY, (long)"value", 5, 0}, FILES, EITHER, OP_SETATTR},
    {"fsetxattr", SYS_fsetxattr, {SINK, KEY, (long)"value", 5, 0}, FRESH, EITHER, OP_SETATTR},
    {"fremovexattr", SYS_fremovexattr, {SINK, KEY}, FRESH, EITHER, OP_SETATTR},
    {"lsetxattr", SYS_lsetxattr, {PATH_FILE, KEY, (long)"value", 5, 0}, FILES, EITHER, OP_SETATTR},
    {"removexattr", SYS_removexattr, {PATH_FILE, KEY}, FILES, EITHER, OP_SETATTR},
    {"lremovexattr", SYS_lremovexattr, {PATH_FILE, KEY}, FILES, EITHER, OP_SETATTR},
    {"setxattrat", SYS_setxattrat, {PLACE, PATH_FILE, 0, KEY, XATTR, sizeof(struct xattr_place)}, FILES, EITHER,
     OP_SETATTR},
    {"removexattrat", SYS_removexattrat, {PLACE, PATH_FILE, 0, KEY}, FILES, EITHER, OP_SETATTR},
    {"file_setattr", SYS_file_setattr, {PLACE, PATH_FILE, ATTRIBUTES, 24, 0}, FILES, EITHER, OP_SETATTR},
    {"fchmodat2", SYS_fchmodat2, {PLACE, PATH_FILE, 0600, 0}, FILES, EITHER, OP_SETATTR},
    {"fsync", SYS_fsync, {SINK}, FRESH, 0, OP_FSYNC},
    {"fdatasync", SYS_fdatasync, {SINK}, FRESH, 0, OP_FSYNC},
    {"sync_file_range", SYS_sync_file_range, {SINK, 0, 4096, 7}, FRESH, 0, OP_FSYNC},
    {"syncfs", SYS_syncfs, {SINK}, FRESH, 0, OP_FSYNC},
    {.name = "sync", .number = SYS_sync, .op = OP_FSYNC, .nowhere = true},
    {.name = "msync", .number = SYS_msync, .argument = {MAPPING, 4096, MS_SYNC}, .op = OP_FSYNC,
     .nowhere = true},
#ifdef SYS_open /* the older spellings */
    {"open", SYS_open, {PATH_FILE, READ_ONLY}, FILES, SOME, OP_OPEN},
    {"open-ENOENT", SYS_open, {PATH_MISSING, READ_ONLY}, FRESH, -ENOENT, OP_OPEN},
    {"open-create", SYS_open, {PATH_NEW, WRITE_NEW, 0600}, FRESH, SOME, OP_CREATE},
    {"creat", SYS_creat, {PATH_NEW, 0600}, FRESH, SOME, OP_CREATE},
    {"creat-again", SYS_creat, {PATH_FILE, 0600}, FILES, SOME, OP_OPEN},
    {"stat", SYS_stat, {PATH_FILE, BUFFER}, FILES, 0, OP_STAT},
    {"stat-ENOENT", SYS_stat, {PATH_MISSING, BUFFER}, FRESH, -ENOENT, OP_STAT},
    {"lstat", SYS_lstat, {LINK, BUFFER}, FRESH, 0, OP_STAT},
    {"access", SYS_access, {PATH_FILE, R_OK}, FILES, 0, OP_STAT},
    {"access-ENOENT", SYS_access, {PATH_MISSING, R_OK}, FRESH, -ENOENT, OP_STAT},
    {"readlink", SYS_readlink, {LINK, BUFFER, 100}, FRESH, 4, OP_STAT},
    {"getdents", SYS_getdents, {PLACE, BUFFER, 4096}, FRESH, EITHER, OP_READDIR},
    {"link", SYS_link, {PATH_FILE, PATH_NEW}, FILES, 0, OP_CREATE},
    {"symlink", SYS_symlink, {(long)"data", PATH_NEW}, FRESH, 0, OP_CREATE},
    {"mknod", SYS_mknod, {PATH_NEW, S_IFREG | 0600, 0}, FRESH, 0, OP_CREATE},
    {"unlink", SYS_unlink, {PATH_FILE}, FILES, 0, OP_UNLINK},
    {"unlink-EISDIR", SYS_unlink, {PATH_DIRECTORY}, DIRECTORIES, -EISDIR, OP_UNLINK},
    {"rmdir", SYS_rmdir, {PATH_DIRECTORY}, DIRECTORIES, 0, OP_UNLINK},
    {"rename", SYS_rename, {PATH_FILE, PATH_NEW}, FILES, 0, OP_RENAME},
    {"rename-ENOENT", SYS_rename, {PATH_MISSING, PATH_NEW}, FRESH, -ENOENT, OP_RENAME},
    {"mkdir", SYS_mkdir, {PATH_NEW, 0700}, FRESH, 0, OP_MKDIR},
    {"chmod", SYS_chmod, {PATH_FILE, 0600}, FILES, 0, OP_SETATTR},
    {"chown", SYS_chown, {PATH_FILE, -1, -1}, FILES, 0, OP_SETATTR},
    {"lchown", SYS_lchown, {PATH_FILE, -1, -1}, FILES, 0, OP_SETATTR},
    {"utime", SYS_utime, {PATH_FILE, 0}, FILES, 0, OP_SETATTR},
    {"utimes", SYS_utimes, {PATH_FILE, 0}, FILES, 0, OP_SETATTR},
    {"futimesat", SYS_futimesat, {PLACE, PATH_FILE, 0}, FILES, 0, OP_SETATTR},
#endif
#ifdef SYS_renameat
    {"renameat", SYS_renameat, {PLACE, PATH_FILE, HERE, PATH_NEW}, FILES, 0, OP_RENAME},
#endif
    {"fcntl-O_DIRECT", SYS_fcntl, {SINK, F_SETFL, O_RDWR}, FRESH, 0, OP_NONE},
    {"fault-to-read", TOUCH_TO_READ, {0}, COLD, 4096, OP_MMAP_FAULT},
    {"fault-to-write", TOUCH_TO_WRITE, {0}, COLD, 4096, OP_MMAP_FAULT},
    {"direct-read", SYS_pread64, {DIRECT, BUFFER, 4096, 0}, FRESH, 4096, OP_READ,
     .block = OP_BLOCK_READ},
    {"direct-write", SYS_pwrite64, {DIRECT, BUFFER, 4096, 0}, FRESH, 4096, OP_WRITE,
     .block = OP_BLOCK_WRITE},
#include "tests/kernel/async_list.h"
#if defined(__x86_64__)
#include "tests/kernel/compat_list.h"
#endif
};
const unsigned call_count = sizeof(calls) / sizeof(*calls);

const char *call_not_fired(void)
{
    static const struct {
        long number;
        const char *name;
    } known[] = {
#define SYSCALL(name, shape) {SYS_##name, #name},
#include "probe/syscall_list.h"
#undef SYSCALL
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        bool fired = strncmp(known[i].name, "io_", 3) == 0; /* libaio's: by the calls that go that way */

        for (unsigned k = 0; k < call_count; k++)
            fired |= calls[k].number == known[i].number;
        if (!fired)
            return known[i].name;
    }
    return NULL;
}

/* What a worker has; each thread is one. */
static _Thread_local struct {
    char data_path[256];
    int data, sink, direct, place, pipe[2], socket[2];
    int own[FIRED];
    void *mapping;
    struct iovec vector[2];
    struct open_how how;
    struct xattr_place xattr;
    struct {
        unsigned bytes;
        int type;
        unsigned char handle[64];
    } handle;
    uint64_t attributes[3];
    int cold;
    char *pages;
    loff_t start;
    char path[2][16];
    unsigned paths;
} my = {.data = -1, .pipe = {-1, -1}, .socket = {-1, -1}};

static _Thread_local char buffer[8192] __attribute__((aligned(4096)));

static int make_data(void)
{
    my.data = openat(my.place, "data", O_RDWR | O_CREAT | O_TRUNC, 0600);
    my.sink = openat(my.place, "sink", O_RDWR | O_CREAT, 0600);
    for (int at = 0; at < DATA_SIZE; at += (int)sizeof(buffer))
        if (pwrite(my.data, buffer, sizeof(buffer), at) != sizeof(buffer))
            return -errno;
    /* On the disk before anything reads it from there; tmpfs has no such thing and -EINVAL is fine. */
    fsync(my.data);
    my.direct = openat(my.place, "data", O_RDWR | O_DIRECT);
    my.mapping = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, my.data, 0);
    return my.sink < 0 || my.mapping == MAP_FAILED || symlinkat("data", my.place, "link") ? -errno : 0;
}

int worker_place(const char *directory, unsigned number)
{
    char path[200];

    snprintf(path, sizeof(path), "%s/%u", directory, number);
    snprintf(my.data_path, sizeof(my.data_path), "%s/data", path);
    /* A working directory of its own, though it is a thread. */
    if (unshare(CLONE_FS) || mkdir(path, 0700))
        return -errno;
    my.place = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    my.vector[0] = (struct iovec){buffer, 300};
    my.vector[1] = (struct iovec){buffer + 300, 700};
    for (int i = 0; i < FIRED; i++)
        my.own[i] = -1;
    return my.place < 0 ? -errno : make_data();
}

static const char *numbered(char kind, int i)
{
    char *path = my.path[my.paths++ % 2];

    snprintf(path, sizeof(my.path[0]), "%c%d", kind, i);
    return path;
}

static void clear_place(void)
{
    for (int i = 0; i < FIRED; i++) {
        unlinkat(my.place, numbered('f', i), 0);
        unlinkat(my.place, numbered('n', i), 0);
        unlinkat(my.place, numbered('n', i), AT_REMOVEDIR);
        unlinkat(my.place, numbered('d', i), AT_REMOVEDIR);
        if (my.own[i] >= 0)
            close(my.own[i]);
        my.own[i] = -1;
    }
    lseek(my.place, 0, SEEK_SET);
    lseek(my.data, 0, SEEK_SET);
    lseek(my.sink, 0, SEEK_SET);
}

static int make_channels(bool full)
{
    const int room = PIPE_SIZE;

    for (int i = 0; i < 2; i++) {
        if (my.pipe[i] >= 0)
            close(my.pipe[i]);
        if (my.socket[i] >= 0)
            close(my.socket[i]);
    }
    if (pipe(my.pipe) || socketpair(AF_UNIX, SOCK_STREAM, 0, my.socket))
        return -errno;
    /* A splice takes a page of the pipe however small it is. */
    if (fcntl(my.pipe[1], F_SETPIPE_SZ, PIPE_SIZE) < 0)
        return -errno;
    if (setsockopt(my.socket[0], SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room)))
        setsockopt(my.socket[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
    for (int i = 0; full && i < FIRED; i++)
        if (write(my.pipe[1], buffer, 100) != 100)
            return -EIO;
    return 0;
}

/* A page for each touch, on the disk and not in memory. Mapped until the next time, so that nobody drops anything. */
static int make_cold(void)
{
    if (!my.cold)
        my.cold = openat(my.place, "cold", O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (my.pages)
        munmap(my.pages, FIRED * 4096L);
    for (int i = 0; i < FIRED; i++)
        if (pwrite(my.cold, buffer, 4096, i * 4096L) != 4096)
            return -errno;
    if (fsync(my.cold) || posix_fadvise(my.cold, 0, 0, POSIX_FADV_DONTNEED))
        return -errno;
    my.pages = mmap(NULL, FIRED * 4096L, PROT_READ | PROT_WRITE, MAP_SHARED, my.cold, 0);
    return my.pages == MAP_FAILED || madvise(my.pages, FIRED * 4096L, MADV_RANDOM) ? -errno : 0;
}

int worker_prepare(const struct call *call)
{
    int err = make_channels(call->preparation == FULL_PIPE);

    if (!err && call->preparation == COLD)
        err = make_cold();

    way_forget();
    clear_place();
    my.how = (struct open_how){.flags = READ_ONLY};
    if (call->op == OP_CREATE)
        my.how = (struct open_how){.flags = WRITE_NEW, .mode = 0600};
    for (int i = 0; !err && i < FIRED; i++) {
        if (call->preparation == FILES)
            err = mknodat(my.place, numbered('f', i), S_IFREG | 0600, 0) ? -errno : 0;
        else if (call->preparation == DIRECTORIES)
            err = mkdirat(my.place, numbered('d', i), 0700) ? -errno : 0;
        else if (call->preparation == OPENED)
            my.own[i] = openat(my.place, "data", O_RDONLY);
    }
    return err ? err : fchdir(my.place) ? -errno : 0;
}

/* What a 32-bit call can point to: below 4 GB, and laid out as such a program has it. */
static struct low {
    char path[8][256];
    char buffer[sizeof(buffer)];
    struct {
        uint32_t base, length;
    } vector[2];
    struct open_how how;
    loff_t start;
} *low_memory(void)
{
#ifdef MAP_32BIT
    static _Thread_local struct low *low;

    if (!low) {
        low = mmap(NULL, sizeof(*low), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
        low = low == MAP_FAILED ? NULL : low;
    }
    return low;
#else
    return NULL;
#endif
}

static long lowered(long argument, long value)
{
    static _Thread_local unsigned paths;
    struct low *low = low_memory();
    char *path;

    if (!low)
        return value;
    switch (argument) {
    case BUFFER:
        return (long)low->buffer;
    case VECTOR:
        for (int i = 0; i < 2; i++) {
            low->vector[i].base = (uint32_t)(uintptr_t)low->buffer;
            low->vector[i].length = (uint32_t)my.vector[i].iov_len;
        }
        return (long)low->vector;
    case START:
        low->start = 0;
        return (long)&low->start;
    case OPEN_HOW:
        low->how = my.how;
        return (long)&low->how;
    }
    if (value >= 0 && value <= UINT32_MAX)
        return value;
    if (value < 0)
        return (uint32_t)value;
    path = low->path[paths++ % 8]; /* else it is a string */
    snprintf(path, sizeof(low->path[0]), "%s", (const char *)value);
    return (long)path;
}

static long actual(long argument, int i)
{
    switch (argument) {
    case DATA:
        return my.data;
    case SINK:
        return my.sink;
    case DIRECT:
        return my.direct;
    case PLACE:
        return my.place;
    case PIPE_IN:
        return my.pipe[0];
    case PIPE_OUT:
        return my.pipe[1];
    case SOCKET:
        return my.socket[0];
    case OWN:
        return my.own[i];
    case BUFFER:
        return (long)buffer;
    case VECTOR:
        return (long)my.vector;
    case START:
        my.start = 0;
        return (long)&my.start;
    case OPEN_HOW:
        return (long)&my.how;
    case MAPPING:
        return (long)my.mapping;
    case PATH_DATA:
        return (long)my.data_path;
    case PATH_FILE:
        return (long)numbered('f', i);
    case PATH_DIRECTORY:
        return (long)numbered('d', i);
    case PATH_NEW:
        return (long)numbered('n', i);
    case PATH_MISSING:
        return (long)"missing/file";
    case LINK:
        return (long)"link";
    case EMPTY:
        return (long)"";
    case KEY:
        return (long)"user.key";
    case XATTR:
        my.xattr = (struct xattr_place){.value = (uintptr_t)buffer, .size = 5};
        return (long)&my.xattr;
    case HANDLE:
        my.handle.bytes = sizeof(my.handle.handle);
        return (long)&my.handle;
    case ATTRIBUTES:
        return (long)my.attributes;
    }
    return argument;
}

static long touch(long how, int i)
{
    volatile char *page = my.pages + i * 4096L;

    if (how == TOUCH_TO_WRITE)
        *page = 1;
    else
        (void)*page;
    return 4096;
}

struct outcome worker_fire(const struct call *call)
{
    struct outcome outcome = {0};

    for (int i = 0; i < FIRED; i++) {
        long a[6], result;

        for (int n = 0; n < 6; n++)
            a[n] = actual(call->argument[n], i);
        for (int n = 0; call->way == WAY_COMPAT && n < 6; n++)
            a[n] = lowered(call->argument[n], a[n]);
        result = call->number < 0 ? touch(call->number, i)
                                  : way_fire(call->way, call->number, a, i == FIRED - 1);
        if (result < 0)
            outcome.failed++;
        else
            outcome.bytes += (uint64_t)result;
        if (call->op == OP_CLOSE)
            my.own[i] = -1;
        if (call->result == SOME && result >= 0)
            my.own[i] = (int)result;
        else if (call->result != EITHER && result != call->result) {
            outcome.unexpected = result;
            outcome.surprised = true;
        }
    }
    if (call->op != OP_READ && call->op != OP_WRITE && call->op != OP_MMAP_FAULT)
        outcome.bytes = 0;
    return outcome;
}
