/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/callpath.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "probe/mountinfo.h"
#include "probe/volume.h"
#include "probe/volume_type.h"

#define PATH_BYTES 4096
#define ARGUMENTS  6

struct call {
    long number;
    unsigned long argument[ARGUMENTS];
};

/* "257 0xffffff9c 0x7ffd... ..."; "running" when it is in no call. */
static int read_call(pid_t tid, struct call *call)
{
    char path[32];
    _cleanup_fclose_ FILE *file = NULL;
    unsigned long *a = call->argument;

    snprintf(path, sizeof(path), "/proc/%d/syscall", tid);
    file = fopen(path, "re");
    if (!file)
        return -errno;
    if (fscanf(file, "%ld %lx %lx %lx %lx %lx %lx", &call->number, &a[0], &a[1], &a[2], &a[3], &a[4], &a[5]) != 7)
        return -EAGAIN;
    return 0;
}

/* A string in the thread's memory, page by page: what lies behind it may not be there. */
static int read_string(pid_t tid, unsigned long address, char *text, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), have = 0;

    while (have < size) {
        size_t piece = page - (address + have) % page;
        struct iovec local = {.iov_base = text + have}, remote;
        ssize_t got;

        if (piece > size - have)
            piece = size - have;
        local.iov_len = piece;
        remote = (struct iovec){.iov_base = (void *)(address + have), .iov_len = piece};
        got = process_vm_readv(tid, &local, 1, &remote, 1, 0);
        if (got <= 0)
            return got ? -errno : -EFAULT;
        if (memchr(text + have, '\0', (size_t)got))
            return 0;
        have += (size_t)got;
    }
    return -ENAMETOOLONG;
}

/* The path of a directory that the thread has, as the kernel's own names have it: nothing is asked of its file system. */
static int read_directory(pid_t tid, int fd, char *text, size_t size)
{
    char link[48];
    ssize_t length;

    if (fd == AT_FDCWD)
        snprintf(link, sizeof(link), "/proc/%d/cwd", tid);
    else
        snprintf(link, sizeof(link), "/proc/%d/fd/%d", tid, fd);
    length = readlink(link, text, size - 1);
    if (length < 0)
        return -errno;
    text[length] = '\0';
    return *text == '/' ? 0 : -EAGAIN; /* else it is none: a socket, an anonymous inode */
}

void callpath_normalize(char *path)
{
    char *to = path;

    for (const char *from = path; *from;) {
        size_t length;

        while (*from == '/')
            from++;
        length = strcspn(from, "/");
        if (length == 2 && from[0] == '.' && from[1] == '.') {
            while (to > path && *--to != '/')
                ;
        } else if (length && !(length == 1 && *from == '.')) {
            *to++ = '/';
            memmove(to, from, length);
            to += length;
        }
        from += length;
    }
    if (to == path)
        *to++ = '/';
    *to = '\0';
}

struct search {
    const char *path;
    size_t best;
    uint64_t volume;
};

static bool is_below(const char *path, const char *point, size_t length)
{
    if (length && point[length - 1] == '/')
        length--;
    return strncmp(path, point, length) == 0 && (!path[length] || path[length] == '/');
}

/* Of two mounts on one point the later one hides the other. */
static int compare(const struct mount *mount, void *context)
{
    struct search *search = context;
    size_t length = strlen(mount->point);

    if (length < search->best || !is_below(search->path, mount->point, length))
        return 0;
    search->best = length;
    search->volume = volume_type_is_pseudo(mount->fstype) ? ABI_VOLUME_UNKNOWN
                                                      : ABI_VOLUME_FS | (uint64_t)mount->major << 20 | mount->minor;
    return 0;
}

int callpath_volume(pid_t tid, enum operation op, const struct abi_syscall calls[ABI_SYSCALLS], uint64_t *volume)
{
    char path[2 * PATH_BYTES], name[PATH_BYTES], mounts[40];
    struct search search = {.path = path, .volume = ABI_VOLUME_UNKNOWN};
    const struct abi_syscall *shape;
    struct call call = {.number = -1};
    int err = read_call(tid, &call);

    if (err)
        return err;
    if (call.number < 0 || call.number >= ABI_SYSCALLS)
        return -EAGAIN;
    shape = &calls[call.number];
    if (shape->op != op || shape->shape < ABI_SHAPE_BY_PATH || shape->path < 0 || shape->path >= ARGUMENTS)
        return -EAGAIN; /* another call by now, or one of a 32-bit program */
    err = read_string(tid, call.argument[shape->path], name, sizeof(name));
    if (!err && *name != '/')
        err = read_directory(tid, shape->fd < 0 ? AT_FDCWD : (int)call.argument[shape->fd], path, PATH_BYTES);
    else
        *path = '\0';
    if (err)
        return err;
    snprintf(path + strlen(path), PATH_BYTES + 1, "/%s", name);
    callpath_normalize(path);
    snprintf(mounts, sizeof(mounts), "/proc/%d/mountinfo", tid);
    err = mountinfo_read(mounts, compare, &search);
    if (!err)
        *volume = search.volume;
    return err;
}
