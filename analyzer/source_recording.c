/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/source.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/cleanup.h"
#include "lib/log.h"
#include "lib/recording.h"

struct file {
    const char *path;
    struct recording_reader *reader;
    struct batch *ahead; /* read, not handed out yet; NULL when the file is used up */
};

struct recordings {
    struct source source; /* first: it is what the caller holds */
    const struct source_window *window;
    bool *damaged;
    unsigned count;
    struct file files[];
};

/* Reads the file's next batch that the window lets through. 0 or -errno (logged). */
static int advance(struct recordings *recordings, struct file *file)
{
    struct codec_error error;
    int got;

    for (;;) {
        got = recording_read(file->reader, &file->ahead, &error);
        if (got == -EBADMSG) {
            log_warning("%s is damaged: %s%s%s; what is intact before and behind it is used",
                        file->path, error.field, *error.field ? ": " : "", error.why);
            *recordings->damaged = true;
            continue;
        }
        if (got == 1) {
            got = source_filter(recordings->window, file->ahead);
            if (got == 1)
                return 0;
            batch_free(file->ahead);
            file->ahead = NULL;
            if (got == 0)
                continue;
        }
        if (got < 0)
            log_error("cannot read %s: %s", file->path, log_errno(got));
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

static void recordings_free(struct source *source)
{
    struct recordings *recordings = (struct recordings *)source;

    for (unsigned i = 0; i < recordings->count; i++) {
        batch_free(recordings->files[i].ahead);
        recording_reader_free(recordings->files[i].reader);
    }
    free(recordings);
}

static void log_open(const char *path, int err)
{
    if (err == -EBADMSG)
        log_error("cannot read %s: it is no Unblend recording", path);
    else
        log_error("cannot open %s: %s", path, log_errno(err));
}

int source_recording(char *const *paths, unsigned count, const struct source_window *window,
                     bool *damaged, struct source **out)
{
    struct recordings *recordings;
    int err = 0;

    recordings = calloc(1, sizeof(*recordings) + count * sizeof(struct file));
    if (!recordings) {
        log_error("cannot open the recordings: %s", log_errno(-ENOMEM));
        return -ENOMEM;
    }
    recordings->source = (struct source){recordings_next, recordings_free};
    recordings->window = window;
    recordings->damaged = damaged;
    *damaged = false;
    while (!err && recordings->count < count) {
        struct file *file = &recordings->files[recordings->count];

        file->path = paths[recordings->count];
        err = recording_open(file->path, &file->reader);
        if (err) {
            log_open(file->path, err);
            break;
        }
        recordings->count++;
        err = advance(recordings, file);
    }
    if (err) {
        recordings_free(&recordings->source);
        return err;
    }
    *out = &recordings->source;
    return 0;
}
