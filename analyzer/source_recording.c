/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/source.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/recording_file.h"
#include "analyzer/twice.h"

#include "lib/cleanup.h"
#include "lib/log.h"

#define THREADED_FILES 2 /* more of them are decoded as they are read */

struct recordings {
    struct source source; /* first: it is what the caller holds */
    const struct source_window *window;
    bool *damaged;
    struct twice twice;
    unsigned count, wanted; /* those that are open, and all of them */
    struct input {
        struct recording_file file;
        struct batch *ahead; /* read, not handed out yet; NULL when the file is used up */
        uint64_t again;      /* batches that were left out, as they had come before */
    } inputs[];
};

/* What two files hold, as a copy does, would count twice; of what one holds twice the first counts. 1, 0 when it is
   left out, or -errno (logged). Whoever goes to and fro meets everything again. */
static int look_twice(struct recordings *recordings, struct input *input)
{
    const unsigned own = (unsigned)(input - recordings->inputs);
    unsigned other;
    int got = recordings->window ? twice_look(&recordings->twice, own, input->ahead, &other) : 0;

    if (got < 0)
        log_error("cannot read %s: %s", input->file.path, log_why(got));
    if (got == 1 && other != own) {
        log_error("%s holds what %s holds, and it counts once: leave one of them out", input->file.path,
                  recordings->inputs[other].file.path);
        return -EINVAL;
    }
    input->again += got == 1;
    return got < 0 ? got : !got;
}

/* Reads the file's next batch that the window lets through. 0 or -errno (logged). */
static int advance(struct recordings *recordings, struct input *input)
{
    int got;

    while ((got = recording_file_next(&input->file, &input->ahead, recordings->damaged)) == 1) {
        got = source_filter(recordings->window, input->ahead);
        if (got < 0)
            log_error("cannot read %s: %s", input->file.path, log_why(got));
        if (got == 1)
            got = look_twice(recordings, input);
        if (got == 1)
            return 0;
        batch_free(input->ahead);
        input->ahead = NULL;
        if (got < 0)
            return got;
    }
    if (got == 0 && input->again)
        log_warning("%s holds %" PRIu64 " batch%s more than once, and each counts once, as it comes first",
                    input->file.path, input->again, input->again == 1 ? "" : "es");
    return got;
}

static int recordings_next(struct source *source, struct batch **out)
{
    struct recordings *recordings = (struct recordings *)source;
    struct input *first = NULL;
    struct batch *batch;
    int err;

    for (unsigned i = 0; i < recordings->count; i++) {
        struct input *input = &recordings->inputs[i];

        if (input->ahead && (!first || input->ahead->start_ns < first->ahead->start_ns))
            first = input;
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

static int recordings_seek(struct source *source, int64_t ns, int64_t *found)
{
    struct recordings *recordings = (struct recordings *)source;
    struct input *input = &recordings->inputs[0];
    int err = recording_file_seek(&input->file, ns, found);

    if (err)
        return err;
    batch_free(input->ahead);
    input->ahead = NULL;
    return advance(recordings, input);
}

static double recordings_share(struct source *source)
{
    const struct recordings *recordings = (struct recordings *)source;
    double read = 0, all = 0;

    for (unsigned i = 0; i < recordings->count; i++) {
        read += recording_file_read(&recordings->inputs[i].file);
        all += recordings->inputs[i].file.bytes;
    }
    return isnan(all) ? NAN : fmin(read / all, 1); /* it may grow while it is read */
}

static void recordings_free(struct source *source)
{
    struct recordings *recordings = (struct recordings *)source;

    for (unsigned i = 0; i < recordings->count; i++) {
        batch_free(recordings->inputs[i].ahead);
        recording_file_close(&recordings->inputs[i].file);
    }
    twice_clear(&recordings->twice);
    free(recordings);
}

/* Whoever reads all of it has it in the order of time, decoded by every processor; others go to and fro. */
static int line_up(const struct recordings *recordings, struct recording_file *file)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    bool few = recordings->wanted <= THREADED_FILES && processors > 1;

    return recordings->window ? recording_file_line_up(file, few ? (unsigned)processors : 1) : 0;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* What one recording holds would count twice. */
static bool is_twice(const struct recordings *recordings, const struct input *input)
{
    for (const struct input *before = recordings->inputs; S_ISREG(input->file.stat.st_mode) && before < input; before++)
        if (is_same(&before->file.stat, &input->file.stat))
            return true;
    return false;
}

/* Opens the next of them. 0 or -errno (logged). */
static int open_next(struct recordings *recordings, const char *path)
{
    struct input *input = &recordings->inputs[recordings->count];
    struct recording_file *file = &input->file;
    int err;

    file->path = path;
    if (stat(path, &file->stat))
        file->stat = (struct stat){0};
    if (is_twice(recordings, input)) {
        log_error("%s is named twice, and what it holds counts once: leave one of them out", path);
        return -EINVAL;
    }
    err = recording_file_open(file);
    if (err)
        return err;
    recordings->count++;
    err = line_up(recordings, file);
    return err ? err : advance(recordings, input);
}

int source_recording(char *const *paths, unsigned count, const struct source_window *window,
                     bool *damaged, struct source **out)
{
    struct recordings *recordings;
    int err = 0;

    recordings = calloc(1, sizeof(*recordings) + count * sizeof(struct input));
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
    while (!err && recordings->count < count)
        err = open_next(recordings, paths[recordings->count]);
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
