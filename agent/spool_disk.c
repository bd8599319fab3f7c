/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/spool_disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/path.h"
#include "lib/porter.h"
#include "lib/recording.h"

#define DIGITS 20
#define TORN   "new" /* what a file is called until all of it is safe */

#define READ_FLAGS (O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)

static void name_of(uint64_t number, char name[24])
{
    snprintf(name, 24, "%020" PRIu64, number);
}

int spool_disk_open(const char *path, struct spool_disk *disk)
{
    struct spool_disk opened = {-1, -1, -1};
    int err = porter_directory(path, &opened.directory);

    /* On the descriptor of the directory: works on a read-only disk, and ends with the process. A file system
       without locks has to do without. */
    if (!err && flock(opened.directory, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        err = -EBUSY;
    if (!err)
        err = path_directory_at(opened.directory, "spool", &opened.waiting);
    if (!err)
        err = path_directory_at(opened.directory, "refused", &opened.refused);
    if (err) {
        spool_disk_close(&opened);
        return err;
    }
    *disk = opened;
    return 0;
}

void spool_disk_close(struct spool_disk *disk)
{
    if (disk->directory >= 0)
        flock(disk->directory, LOCK_UN); /* now, whoever else may have the descriptor for a moment more */
    cleanup_close(&disk->refused);
    cleanup_close(&disk->waiting);
    cleanup_close(&disk->directory);
    *disk = (struct spool_disk){-1, -1, -1};
}

static int give_files(int directory, uid_t uid, gid_t gid)
{
    int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;
    int err = 0;

    if (!stream) {
        err = -errno;
        cleanup_close(&fd);
        return err;
    }
    while (!err && (entry = readdir(stream))) {
        _cleanup_close_ int file = openat(fd, entry->d_name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        struct stat st;

        /* One that has another name elsewhere may be anybody's. */
        if (file >= 0 && !fstat(file, &st) && S_ISREG(st.st_mode) && st.st_nlink == 1 && st.st_uid != uid &&
            fchownat(file, "", uid, gid, AT_EMPTY_PATH))
            err = -errno;
    }
    closedir(stream);
    return err;
}

int spool_disk_give(const struct spool_disk *disk, uid_t uid, gid_t gid)
{
    const int directories[] = {disk->waiting, disk->refused, disk->directory};
    int err = 0;

    for (unsigned i = 0; i < 3 && !err; i++) {
        err = give_files(directories[i], uid, gid);
        if (!err && fchown(directories[i], uid, gid))
            err = -errno;
    }
    return err;
}

int spool_disk_scan(const struct spool_disk *disk, int (*found)(void *context, uint64_t number, uint64_t size),
                    void *context)
{
    int fd = openat(disk->waiting, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;
    int err = 0;

    if (!directory) {
        err = -errno;
        cleanup_close(&fd);
        return err;
    }
    unlinkat(disk->directory, TORN, 0);
    while (!err && (entry = readdir(directory))) {
        uint64_t number = strtoull(entry->d_name, NULL, 10);
        struct stat st;

        if (strcmp(entry->d_name, TORN) == 0)
            unlinkat(disk->waiting, TORN, 0);
        else if (number && strlen(entry->d_name) == DIGITS && strspn(entry->d_name, "0123456789") == DIGITS &&
                 fstatat(disk->waiting, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
            err = found(context, number, (uint64_t)st.st_size);
    }
    closedir(directory);
    return err;
}

static int write_all(int fd, const char *data, size_t size)
{
    while (size) {
        ssize_t written = write(fd, data, size);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? -errno : -ENOSPC;
        data += written;
        size -= (size_t)written;
    }
    return 0;
}

/* Nobody's but ours, whatever has that name: as long as we are root, the directory is somebody's who is not. */
static int make_torn(int directory)
{
    unlinkat(directory, TORN, 0);
    return openat(directory, TORN, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

/*
 * Written and flushed under another name, renamed, and the directory flushed. When only the last step fails, a new
 * file is taken back; should even that fail, it is there as far as anybody can tell, and a second one with the same
 * counts would be worse than one that a power cut may take.
 */
static int replace(int directory, const char *name, const void *data, size_t size, bool is_new)
{
    _cleanup_close_ int fd = make_torn(directory);
    int err;

    if (fd < 0)
        return -errno;
    err = write_all(fd, data, size);
    if (!err && (fsync(fd) || renameat(directory, TORN, directory, name)))
        err = -errno;
    if (err) {
        unlinkat(directory, TORN, 0);
        return err;
    }
    if (!fsync(directory))
        return 0;
    err = -errno;
    return is_new && unlinkat(directory, name, 0) ? 0 : err;
}

int spool_disk_write(const struct spool_disk *disk, uint64_t number, const void *frame, size_t size)
{
    char name[24];

    name_of(number, name);
    return replace(disk->waiting, name, frame, size, faccessat(disk->waiting, name, F_OK, 0) != 0);
}

/* A whole file, malloc'ed. */
static int read_file(int directory, const char *name, void **out, size_t *size)
{
    _cleanup_close_ int fd = openat(directory, name, READ_FLAGS);
    _cleanup_free_ char *data = NULL;
    struct stat st;

    if (fd < 0 || fstat(fd, &st))
        return -errno;
    if (st.st_size > (off_t)RECORDING_FRAME_MAX + 64)
        return -EBADMSG;
    data = malloc((size_t)st.st_size + 1);
    if (!data)
        return -ENOMEM;
    if (read(fd, data, (size_t)st.st_size) != st.st_size)
        return -EBADMSG; /* a bad sector stays bad: it must not stop those behind it */
    *size = (size_t)st.st_size;
    *out = take_pointer(data);
    return 0;
}

static int read_frame(int directory, const char *name, void **payload, size_t *size)
{
    _cleanup_free_ void *data = NULL;
    const void *start;
    size_t length = 0, used;
    int err = read_file(directory, name, &data, &length);

    if (err)
        return err;
    if (frame_next(data, length, &start, size, &used) != 1 || used != length)
        return -EBADMSG;
    *payload = malloc(*size);
    if (!*payload)
        return -ENOMEM;
    memcpy(*payload, start, *size);
    return 0;
}

int spool_disk_read(const struct spool_disk *disk, uint64_t number, void **payload, size_t *size)
{
    char name[24];

    name_of(number, name);
    return read_frame(disk->waiting, name, payload, size);
}

int spool_disk_remove(const struct spool_disk *disk, uint64_t number)
{
    char name[24];

    name_of(number, name);
    return unlinkat(disk->waiting, name, 0) ? -errno : 0;
}

int spool_disk_set_aside(const struct spool_disk *disk, uint64_t number)
{
    char name[24];

    name_of(number, name);
    return renameat(disk->waiting, name, disk->refused, name) ? -errno : 0;
}

int spool_disk_save(const struct spool_disk *disk, const char *name, const void *data, size_t size)
{
    return replace(disk->directory, name, data, size, false);
}

int spool_disk_load(const struct spool_disk *disk, const char *name, char *text, size_t size)
{
    _cleanup_close_ int fd = openat(disk->directory, name, READ_FLAGS);
    ssize_t length = fd < 0 ? -1 : read(fd, text, size - 1);

    if (length < 0)
        return -errno;
    text[length] = '\0';
    return 0;
}

int spool_disk_load_frame(const struct spool_disk *disk, const char *name, struct batch **out)
{
    _cleanup_free_ void *payload = NULL;
    struct codec_error error;
    size_t size;
    int err = read_frame(disk->directory, name, &payload, &size);

    return err ? err : frame_decode(payload, size, out, &error);
}

int spool_disk_forget(const struct spool_disk *disk, const char *name)
{
    return unlinkat(disk->directory, name, 0) && errno != ENOENT ? -errno : 0;
}
