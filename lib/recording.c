/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/recording.h"

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
#include "lib/porter.h"
#include "lib/scan.h"

struct recording_writer {
    int fd;
    off_t end;   /* of the last frame that was written whole */
    bool ragged; /* the file may have more than that */
    bool made;   /* there was none */
};

struct recording_reader {
    struct scan scan;
};

static void writer_freep(struct recording_writer **writer)
{
    if (!*writer)
        return;
    if ((*writer)->fd >= 0)
        close((*writer)->fd);
    free(*writer);
}

static int writer_new(const char *path, int flags, struct recording_writer **out)
{
    _cleanup_(writer_freep) struct recording_writer *writer = calloc(1, sizeof(*writer));

    if (!writer)
        return -ENOMEM;
    writer->fd = porter_open(path, flags | O_CREAT | O_CLOEXEC, 0666);
    if (writer->fd < 0)
        return writer->fd;
    /* Two writers would cut off each other's frames. A file system without locks has to do without.
     */
    if (flock(writer->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        return -EBUSY;
    *out = take_pointer(writer);
    return 0;
}

/* Back to the end of the last whole frame. 0 or -errno. */
static int trim(struct recording_writer *writer)
{
    if (ftruncate(writer->fd, writer->end) || lseek(writer->fd, writer->end, SEEK_SET) < 0)
        return -errno;
    writer->ragged = false;
    return 0;
}

/* All or nothing. 0 or -errno. */
static int append(struct recording_writer *writer, const void *data, size_t size)
{
    size_t written = 0;
    int err = writer->ragged ? trim(writer) : 0;

    if (err)
        return err;
    /* One call as a rule; when the disk is nearly full, a second one tells why the first fell
     * short. */
    while (written < size) {
        ssize_t n = write(writer->fd, (const char *)data + written, size - written);

        if (n > 0) {
            written += (size_t)n;
            continue;
        }
        if (n < 0 && errno == EINTR)
            continue;
        err = n < 0 ? -errno : -EIO;
        writer->ragged = written > 0;
        if (writer->ragged)
            (void)trim(writer); /* if that fails now, it is tried again before the next frame */
        return err;
    }
    writer->end += (off_t)size;
    return 0;
}

static int write_magic(struct recording_writer *writer)
{
    return append(writer, RECORDING_MAGIC, sizeof(RECORDING_MAGIC) - 1);
}

int recording_create(const char *path, struct recording_writer **out)
{
    _cleanup_(writer_freep) struct recording_writer *writer = NULL;
    struct stat st;
    int err = writer_new(path, O_WRONLY | O_EXCL, &writer);
    bool made = !err;

    if (err == -EEXIST)
        err = writer_new(path, O_WRONLY, &writer);
    if (err)
        return err;
    writer->made = made;
    if (fstat(writer->fd, &st))
        return -errno;
    /* A pipe has nothing to be emptied of. */
    if (S_ISREG(st.st_mode) && ftruncate(writer->fd, 0))
        return -errno;
    err = write_magic(writer);
    if (err)
        return err;
    *out = take_pointer(writer);
    return 0;
}

/* Finds the end of the last intact frame, and the file's. 0, -errno, -EBADMSG for what is no
 * recording. */
static int find_end(int fd, off_t *intact, off_t *end)
{
    _cleanup_(scan_clear) struct scan scan = {.fd = fd};
    const void *payload;
    uint64_t damaged;
    size_t size, got;
    int result = scan_magic(&scan, &got);

    *intact = 0;
    *end = (off_t)got;
    if (result == -EBADMSG && got < sizeof(RECORDING_MAGIC) - 1)
        return 0; /* empty, or torn before the first frame */
    if (result)
        return result == -EPROTONOSUPPORT ? -EBADMSG : result; /* nobody goes on with another version's */
    *intact = (off_t)scan.offset;
    while ((result = scan_next(&scan, &payload, &size, &damaged)) == 1 || result == -EBADMSG)
        if (result == 1)
            *intact = (off_t)scan.offset;
    *end = lseek(fd, 0, SEEK_END);
    return *end < 0 ? -errno : result;
}

int recording_append(const char *path, struct recording_writer **out, uint64_t *cut)
{
    _cleanup_(writer_freep) struct recording_writer *writer = NULL;
    off_t end;
    int err = writer_new(path, O_RDWR, &writer);

    if (!err)
        err = find_end(writer->fd, &writer->end, &end);
    if (!err)
        err = trim(writer);
    if (err)
        return err;
    *cut = (uint64_t)(end - writer->end);
    if (!writer->end)
        err = write_magic(writer);
    if (err)
        return err;
    *out = take_pointer(writer);
    return 0;
}

int recording_write(struct recording_writer *writer, const struct batch *batch)
{
    _cleanup_free_ void *frame = NULL;
    size_t size;
    int err = frame_encode(batch, &frame, &size);

    return err ? err : append(writer, frame, size);
}

bool recording_is_new(const struct recording_writer *writer)
{
    return writer->made;
}

int recording_fd(const struct recording_writer *writer)
{
    return writer->fd;
}

int recording_close(struct recording_writer *writer)
{
    int err = writer->ragged ? trim(writer) : 0;

    /* EINVAL: a pipe, which has no disk behind it */
    if (fsync(writer->fd) && errno != EINVAL && !err)
        err = -errno;
    flock(writer->fd, LOCK_UN); /* now, whoever else may have the descriptor for a moment more */
    if (close(writer->fd) && !err)
        err = -errno;
    free(writer);
    return err;
}

int recording_open(const char *path, struct recording_reader **out)
{
    struct recording_reader *reader = calloc(1, sizeof(*reader));
    size_t got;
    int err;

    if (!reader)
        return -ENOMEM;
    reader->scan.fd = open(path, O_RDONLY | O_CLOEXEC);
    err = reader->scan.fd < 0 ? -errno : scan_magic(&reader->scan, &got);
    if (err) {
        recording_reader_free(reader);
        return err;
    }
    *out = reader;
    return 0;
}

static const char *damage_reason(const struct scan *scan)
{
    if (scan->given_up)
        return ": the search for the next one was given up there";
    if (scan->ended && scan->start == scan->end)
        return ": the file was cut off there or damaged";
    return "";
}

int recording_frame(struct recording_reader *reader, const void **payload, size_t *size, struct codec_error *error)
{
    uint64_t damaged;
    int result = scan_next(&reader->scan, payload, size, &damaged);

    if (result == -EBADMSG) {
        *error = (struct codec_error){0};
        snprintf(error->why, sizeof(error->why),
                 "bytes %" PRIu64 " to %" PRIu64 " are no intact frame%s", damaged,
                 reader->scan.offset, damage_reason(&reader->scan));
    }
    return result;
}

int recording_read(struct recording_reader *reader, struct batch **out, struct codec_error *error)
{
    const void *payload;
    size_t size;
    int result = recording_frame(reader, &payload, &size, error);

    if (result != 1)
        return result;
    result = frame_decode(payload, size, out, error);
    return result ? result : 1;
}

uint64_t recording_tell(const struct recording_reader *reader)
{
    return reader->scan.offset;
}

int recording_seek(struct recording_reader *reader, uint64_t offset)
{
    struct scan *scan = &reader->scan;

    if (lseek(scan->fd, (off_t)offset, SEEK_SET) < 0)
        return -errno;
    *scan = (struct scan){.fd = scan->fd, .buffer = scan->buffer, .room = scan->room, .offset = offset};
    return 0;
}

void recording_reader_free(struct recording_reader *reader)
{
    if (!reader)
        return;
    if (reader->scan.fd >= 0)
        close(reader->scan.fd);
    scan_clear(&reader->scan);
    free(reader);
}
