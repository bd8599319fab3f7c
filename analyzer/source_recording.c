/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/source.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/decode_ahead.h"
#include "analyzer/twice.h"

#include "lib/cleanup.h"
#include "lib/log.h"
#include "lib/recording.h"

#define THREADED_FILES 2 /* more of them are decoded as they are read */

struct file {
    const char *path;
    struct recording_reader *reader;
    struct decode_ahead *decoder; /* NULL: nobody decodes ahead, and the reader is ours */
    struct stat stat; /* before it was opened; zeroed where that failed */
    double bytes; /* NAN of what is no file on a disk */
    uint64_t looked; /* up to there damage has been told of */
    struct batch *ahead; /* read, not handed out yet; NULL when the file is used up */
};

struct recordings {
    struct source source; /* first: it is what the caller holds */
    const struct source_window *window;
    bool *damaged;
    struct twice twice; /* of several files */
    unsigned count, wanted; /* those that are open, and all of them */
    struct file files[];
};

/* What two files hold, as a copy does, would count twice. 0 or -errno (logged). */
static int look_twice(struct recordings *recordings, const struct file *file)
{
    unsigned other;
    int got = recordings->wanted > 1
                  ? twice_look(&recordings->twice, (unsigned)(file - recordings->files), file->ahead, &other)
                  : 0;

    if (got < 0)
        log_error("cannot read %s: %s", file->path, log_why(got));
    if (got == 1)
        log_error("%s holds what %s holds, and it counts once: leave one of them out", file->path,
                  recordings->files[other].path);
    return got == 1 ? -EINVAL : got;
}

/* Reads the file's next batch that the window lets through. 0 or -errno (logged). */
static int advance(struct recordings *recordings, struct file *file)
{
    struct codec_error error;
    int got;

    for (;;) {
        got = file->decoder ? decode_next(file->decoder, &file->ahead, &error)
                            : recording_read(file->reader, &file->ahead, &error);
        if (got == -EBADMSG && !file->decoder && recording_tell(file->reader) <= file->looked)
            continue;
        if (got == -EBADMSG) {
            if (!file->decoder)
                file->looked = recording_tell(file->reader);
            log_warning("%s is damaged: %s%s%s; what is intact before and behind it is used",
                        file->path, error.field, *error.field ? ": " : "", error.why);
            *recordings->damaged = true;
            continue;
        }
        if (got == 1) {
            got = source_filter(recordings->window, file->ahead);
            if (got == 1)
                return look_twice(recordings, file);
            batch_free(file->ahead);
            file->ahead = NULL;
            if (got == 0)
                continue;
        }
        if (got < 0)
            log_error("cannot read %s: %s", file->path, log_why(got));
        return got;
    }
}

static int recordings_next(struct source *source, struct batch **out)
{
    struct recordings *recordings = (struct recordings *)source;
    struct file *first = NULL;
    struct batch *batch;
    int err;

    for (unsigned i = 0; i < recordings->count; i++) {
        struct file *file = &recordings->files[i];

        if (file->ahead && (!first || file->ahead->start_ns < first->ahead->start_ns))
            first = file;
    }
    if (!first)
        return 0;
    batch = take_pointer(first->ahead);
    err = advance(recordings, first);
    if (err) {
        batch_free(batch);
        return err;
    }
    *out = batch;
    return 1;
}

/* The next intact batch's beginning and place. 1, 0 at the end, -errno. */
static int peek(struct recording_reader *reader, uint64_t *offset, int64_t *start_ns)
{
    struct codec_error error;
    struct batch *batch;
    int got;

    do {
        *offset = recording_tell(reader);
        got = recording_read(reader, &batch, &error);
    } while (got == -EBADMSG);
    if (got == 1) {
        *start_ns = batch->start_ns;
        batch_free(batch);
    }
    return got;
}

/* Halves the file until the batch lies in what is left, which is then read through. */
#define SEEK_STEP 65536

static int find_batch(struct recording_reader *reader, int64_t ns, uint64_t end, uint64_t *best, int64_t *found)
{
    uint64_t low = sizeof(RECORDING_MAGIC) - 1, offset = low;
    int64_t start_ns = 0;
    int got = recording_seek(reader, low);

    *best = low;
    while (!got && end > low + SEEK_STEP) {
        uint64_t middle = low + (end - low) / 2;

        got = recording_seek(reader, middle);
        if (!got)
            got = peek(reader, &offset, &start_ns);
        if (got < 0)
            return got;
        if (got == 1 && offset < end && start_ns <= ns)
            low = offset;
        else
            end = middle;
        got = recording_seek(reader, low);
    }
    for (bool first = true; !got; first = false) {
        got = peek(reader, &offset, &start_ns);
        if (got != 1 || (!first && start_ns > ns))
            return got < 0 ? got : first;
        *best = offset;
        *found = start_ns;
        got = 0;
    }
    return got;
}

static int recordings_seek(struct source *source, int64_t ns, int64_t *found)
{
    struct recordings *recordings = (struct recordings *)source;
    struct file *file = &recordings->files[0];
    struct stat st;
    uint64_t best;
    int err = stat(file->path, &st) ? -errno : 0;

    decode_free(file->decoder); /* who goes to and fro reads little at a time */
    file->decoder = NULL;

    if (!err)
        err = find_batch(file->reader, ns, (uint64_t)st.st_size, &best, found);
    if (err == 1)
        return 1;
    if (!err)
        err = recording_seek(file->reader, best);
    if (err) {
        log_error("cannot look for a time in %s: %s", file->path, log_why(err));
        return err;
    }
    batch_free(file->ahead);
    file->ahead = NULL;
    return advance(recordings, file);
}

static double recordings_share(struct source *source)
{
    const struct recordings *recordings = (struct recordings *)source;
    double read = 0, all = 0;

    for (unsigned i = 0; i < recordings->count; i++) {
        const struct file *file = &recordings->files[i];

        read += (double)(file->decoder ? decode_tell(file->decoder) : recording_tell(file->reader));
        all += file->bytes;
    }
    return isnan(all) ? NAN : fmin(read / all, 1); /* it may grow while it is read */
}

static void recordings_free(struct source *source)
{
    struct recordings *recordings = (struct recordings *)source;

    for (unsigned i = 0; i < recordings->count; i++) {
        batch_free(recordings->files[i].ahead);
        decode_free(recordings->files[i].decoder);
        recording_reader_free(recordings->files[i].reader);
    }
    twice_clear(&recordings->twice);
    free(recordings);
}

/* Whoever reads all of it has every processor decode; where that cannot be, it is decoded as it is read. */
static void hurry(struct recordings *recordings, struct file *file, unsigned count)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);

    if (recordings->window && count <= THREADED_FILES && processors > 1)
        (void)decode_start(file->reader, (unsigned)processors, &file->decoder);
}

static void log_open(const char *path, int err)
{
    if (err == -EPROTONOSUPPORT)
        log_error("cannot read %s: it is a recording of another version of Unblend: read it with that version", path);
    else if (err == -EBADMSG)
        log_error("cannot read %s: it is no Unblend recording: give what `unblend record` wrote", path);
    else
        log_error("cannot open %s: %s", path, log_why(err));
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* What one recording holds would count twice. */
static bool is_twice(const struct recordings *recordings, const struct file *file)
{
    for (const struct file *before = recordings->files; S_ISREG(file->stat.st_mode) && before < file; before++)
        if (is_same(&before->stat, &file->stat))
            return true;
    return false;
}

int source_recording(char *const *paths, unsigned count, const struct source_window *window,
                     bool *damaged, struct source **out)
{
    struct recordings *recordings;
    int err = 0;

    recordings = calloc(1, sizeof(*recordings) + count * sizeof(struct file));
    if (!recordings) {
        log_error("cannot open the recordings: %s", log_why(-ENOMEM));
        return -ENOMEM;
    }
    recordings->source = (struct source){.next = recordings_next, .free = recordings_free, .share = recordings_share};
    if (count == 1)
        recordings->source.seek = recordings_seek;
    recordings->window = window;
    recordings->damaged = damaged;
    recordings->wanted = count;
    *damaged = false;
    while (!err && recordings->count < count) {
        struct file *file = &recordings->files[recordings->count];

        file->path = paths[recordings->count];
        if (stat(file->path, &file->stat))
            file->stat = (struct stat){0};
        if (is_twice(recordings, file)) {
            log_error("%s is named twice, and what it holds counts once: leave one of them out", file->path);
            err = -EINVAL;
            break;
        }
        err = recording_open(file->path, &file->reader);
        if (err) {
            log_open(file->path, err);
            break;
        }
        recordings->count++;
        file->bytes = S_ISREG(file->stat.st_mode) ? (double)file->stat.st_size : NAN;
        hurry(recordings, file, count);
        err = advance(recordings, file);
    }
    if (err) {
        recordings_free(&recordings->source);
        return err;
    }
    *out = &recordings->source;
    return 0;
}

int source_spare(char *const *paths, unsigned count, const char *out)
{
    struct stat written, read;

    if (!out || stat(out, &written) || !S_ISREG(written.st_mode))
        return 0;
    for (unsigned i = 0; i < count; i++)
        if (!stat(paths[i], &read) && is_same(&read, &written)) {
            log_error("output: %s is a recording that is to be read: give another file", out);
            return -EINVAL;
        }
    return 0;
}
