/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/kernel/argument.h"
#include "tests/kernel/call.h"

#define PIPE_SIZE (1 << 20)

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
    my.how = (struct open_how){.flags = O_RDONLY};
    if (call->op == OP_CREATE)
        my.how = (struct open_how){.flags = O_WRONLY | O_CREAT, .mode = 0600};
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
    struct xattr_place xattr;
    uint64_t attributes[3];
    unsigned handle[18]; /* its size, its type, and the rest */
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
    case XATTR:
        low->xattr = (struct xattr_place){.value = (uintptr_t)low->buffer, .size = my.xattr.size};
        return (long)&low->xattr;
    case HANDLE:
        memcpy(low->handle, &my.handle, sizeof(my.handle));
        return (long)low->handle;
    case ATTRIBUTES:
        return (long)low->attributes;
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
