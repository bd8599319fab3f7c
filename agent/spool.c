/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/log.h"
#include "lib/path.h"
#include "lib/recording.h"
#include "probe/sampler.h"

struct spool {
    pthread_mutex_t lock;
    char *path;
    int directory, waiting, refused; /* descriptors of DIR, DIR/spool, DIR/refused */
    char stream[33];
    uint64_t acknowledged; /* highest number ever acknowledged or refused, as on disk */
    uint64_t last;         /* highest number given out */
    uint64_t *numbers;     /* waiting, ascending */
    unsigned count, capacity;
};

static void name_of(uint64_t seq, char name[24])
{
    snprintf(name, 24, "%020" PRIu64, seq);
}

/* All of it on disk under its name, or nothing. */
static int write_file(int directory, const char *name, const void *data, size_t size)
{
    _cleanup_close_ int fd = openat(directory, "new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ssize_t written;
    int err = 0;

    if (fd < 0)
        return -errno;
    written = write(fd, data, size);
    if (written < 0)
        err = -errno;
    else if ((size_t)written < size)
        err = -ENOSPC;
    if (!err && (fsync(fd) || renameat(directory, "new", directory, name) || fsync(directory)))
        err = -errno;
    if (err)
        unlinkat(directory, "new", 0);
    return err;
}

static int save_stream(struct spool *spool)
{
    char text[64];
    int length = snprintf(text, sizeof(text), "%s %" PRIu64 "\n", spool->stream,
                          spool->acknowledged);

    return write_file(spool->directory, "stream", text, (size_t)length);
}

/* A stream that is missing or damaged is replaced: a new one can never collide. */
static int load_stream(struct spool *spool)
{
    char text[64] = "";
    _cleanup_close_ int fd = openat(spool->directory, "stream", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

    if (length > 0 && sscanf(text, "%32[0-9a-f] %" SCNu64, spool->stream, &spool->acknowledged) == 2 &&
        strlen(spool->stream) == 32)
        return 0;
    if (length > 0)
        log_warning("state %s: the file stream is damaged, starting a new stream", spool->path);
    spool->acknowledged = 0;
    if (random_stream(spool->stream))
        return -EIO;
    return save_stream(spool);
}

static int remember(struct spool *spool, uint64_t seq)
{
    if (spool->count == spool->capacity) {
        unsigned capacity = spool->capacity ? spool->capacity * 2 : 64;
        uint64_t *grown = reallocarray(spool->numbers, capacity, sizeof(*grown));

        if (!grown)
            return -ENOMEM;
        spool->numbers = grown;
        spool->capacity = capacity;
    }
    spool->numbers[spool->count++] = seq;
    return 0;
}

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static int scan(struct spool *spool)
{
    int copy = dup(spool->waiting);
    DIR *directory = copy < 0 ? NULL : fdopendir(copy);
    const struct dirent *entry;
    int err = 0;

    if (!directory) {
        err = -errno;
        if (copy >= 0)
            close(copy);
        return err;
    }
    while (!err && (entry = readdir(directory))) {
        char *end;
        uint64_t seq = strtoull(entry->d_name, &end, 10);

        if (strcmp(entry->d_name, "new") == 0)
            unlinkat(spool->waiting, "new", 0); /* a crash in the middle of writing */
        else if (!*end && seq && strlen(entry->d_name) == 20)
            err = remember(spool, seq);
    }
    closedir(directory);
    if (spool->count)
        qsort(spool->numbers, spool->count, sizeof(*spool->numbers), ascending);
    spool->last = spool->count ? spool->numbers[spool->count - 1] : 0;
    if (spool->last < spool->acknowledged)
        spool->last = spool->acknowledged;
    return err;
}

static int make_directory(int parent, const char *name, int *fd)
{
    if (mkdirat(parent, name, 0700) && errno != EEXIST)
        return -errno;
    *fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return *fd < 0 ? -errno : 0;
}

int spool_open(const char *directory, struct spool **out)
{
    struct spool *spool = calloc(1, sizeof(*spool));
    int err;

    if (!spool)
        return -ENOMEM;
    pthread_mutex_init(&spool->lock, NULL);
    spool->directory = spool->waiting = spool->refused = -1;
    spool->path = strdup(directory);
    err = spool->path ? path_make_parents(directory, 0755) : -ENOMEM;
    if (!err)
        err = make_directory(AT_FDCWD, directory, &spool->directory);
    if (!err)
        err = make_directory(spool->directory, "spool", &spool->waiting);
    if (!err)
        err = make_directory(spool->directory, "refused", &spool->refused);
    if (!err)
        err = load_stream(spool);
    if (!err)
        err = scan(spool);
    if (err) {
        log_error("state directory %s: %s: give --state a directory that can be written", directory,
                  log_errno(err));
        spool_close(spool);
        return err;
    }
    *out = spool;
    return 0;
}

void spool_close(struct spool *spool)
{
    if (!spool)
        return;
    if (spool->directory >= 0)
        close(spool->directory);
    if (spool->waiting >= 0)
        close(spool->waiting);
    if (spool->refused >= 0)
        close(spool->refused);
    pthread_mutex_destroy(&spool->lock);
    free(spool->numbers);
    free(spool->path);
    free(spool);
}

static int write_batch(struct spool *spool, const struct batch *batch)
{
    _cleanup_free_ void *frame = NULL;
    char name[24];
    size_t size;
    int err = frame_encode(batch, &frame, &size);

    name_of(batch->seq, name);
    return err ? err : write_file(spool->waiting, name, frame, size);
}

int spool_append(struct spool *spool, struct batch *batch)
{
    int err;

    pthread_mutex_lock(&spool->lock);
    batch->seq = spool->last + 1;
    err = batch_set(batch, &batch->stream, spool->stream);
    if (!err)
        err = remember(spool, batch->seq);
    if (!err) {
        err = write_batch(spool, batch);
        if (err)
            spool->count--;
        else
            spool->last = batch->seq;
    }
    pthread_mutex_unlock(&spool->lock);
    return err;
}

unsigned spool_pending(struct spool *spool)
{
    unsigned count;

    pthread_mutex_lock(&spool->lock);
    count = spool->count;
    pthread_mutex_unlock(&spool->lock);
    return count;
}

/* The payload of a spooled batch, malloc'ed. 0, -errno, -EBADMSG for a damaged file. */
static int read_batch(const struct spool *spool, uint64_t seq, void **payload, size_t *size)
{
    char name[24];
    _cleanup_close_ int fd = -1;
    _cleanup_free_ char *data = NULL;
    const void *start;
    struct stat st;
    size_t used;

    name_of(seq, name);
    fd = openat(spool->waiting, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st))
        return -errno;
    if (st.st_size > (off_t)RECORDING_FRAME_MAX + 64)
        return -EBADMSG;
    data = malloc((size_t)st.st_size + 1);
    if (!data)
        return -ENOMEM;
    if (read(fd, data, (size_t)st.st_size) != st.st_size)
        return -EIO;
    if (frame_next(data, (size_t)st.st_size, &start, size, &used) != 1)
        return -EBADMSG;
    *payload = malloc(*size);
    if (!*payload)
        return -ENOMEM;
    memcpy(*payload, start, *size);
    return 0;
}

/* Takes a batch out of the list, and off the disk or aside. The cursor first: its number is never given out again. */
static int drop(struct spool *spool, uint64_t seq, bool keep)
{
    char name[24];
    int err = 0;

    name_of(seq, name);
    if (seq > spool->acknowledged) {
        spool->acknowledged = seq;
        err = save_stream(spool);
    }
    if (keep ? renameat(spool->waiting, name, spool->refused, name)
             : unlinkat(spool->waiting, name, 0))
        err = err ? err : -errno;
    for (unsigned i = 0; i < spool->count; i++)
        if (spool->numbers[i] == seq) {
            memmove(&spool->numbers[i], &spool->numbers[i + 1],
                    (--spool->count - i) * sizeof(*spool->numbers));
            break;
        }
    return err;
}

int spool_oldest(struct spool *spool, uint64_t *seq, void **payload, size_t *size)
{
    int err = 0;

    pthread_mutex_lock(&spool->lock);
    while (spool->count) {
        err = read_batch(spool, spool->numbers[0], payload, size);
        if (err != -EBADMSG)
            break;
        log_warning("state %s: batch %" PRIu64 " is damaged and has been set aside in refused/",
                    spool->path, spool->numbers[0]);
        drop(spool, spool->numbers[0], true);
        err = 0;
    }
    if (!err && spool->count)
        *seq = spool->numbers[0];
    err = err ? err : spool->count > 0;
    pthread_mutex_unlock(&spool->lock);
    return err;
}

int spool_acknowledge(struct spool *spool, uint64_t seq)
{
    int err;

    pthread_mutex_lock(&spool->lock);
    err = drop(spool, seq, false);
    pthread_mutex_unlock(&spool->lock);
    return err;
}

int spool_refuse(struct spool *spool, uint64_t seq)
{
    int err;

    pthread_mutex_lock(&spool->lock);
    err = drop(spool, seq, true);
    pthread_mutex_unlock(&spool->lock);
    return err;
}

static int restream_one(struct spool *spool, uint64_t seq)
{
    _cleanup_(batch_freep) struct batch *batch = NULL;
    _cleanup_free_ void *payload = NULL;
    struct codec_error error;
    size_t size;
    int err = read_batch(spool, seq, &payload, &size);

    if (!err)
        err = frame_decode(payload, size, &batch, &error);
    if (!err)
        err = batch_set(batch, &batch->stream, spool->stream);
    return err ? err : write_batch(spool, batch);
}

int spool_restream(struct spool *spool)
{
    char stream[33];
    int err = random_stream(stream);

    pthread_mutex_lock(&spool->lock);
    if (!err) {
        memcpy(spool->stream, stream, sizeof(stream));
        err = save_stream(spool);
    }
    for (unsigned i = 0; !err && i < spool->count; i++)
        err = restream_one(spool, spool->numbers[i]);
    pthread_mutex_unlock(&spool->lock);
    return err;
}
