/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/recording_file.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/log.h"
#include "lib/plausible.h"

static void log_open(const char *path, int err)
{
    if (err == -EPROTONOSUPPORT)
        log_error("cannot read %s: it is a recording of another version of Unblend: read it with that version", path);
    else if (err == -EBADMSG)
        log_error("cannot read %s: it is no Unblend recording: give what `unblend record` wrote", path);
    else
        log_error("cannot open %s: %s", path, log_why(err));
}

int recording_file_open(struct recording_file *file)
{
    int err = recording_open(file->path, &file->reader);

    if (err)
        log_open(file->path, err);
    file->bytes = S_ISREG(file->stat.st_mode) ? (double)file->stat.st_size : NAN;
    return err;
}

int recording_file_line_up(struct recording_file *file, unsigned threads)
{
    int err = S_ISREG(file->stat.st_mode) ? recording_order_find(&file->order, file->reader) : 0;

    if (err)
        log_error("cannot read %s: %s", file->path, log_why(err));
    /* where no thread can be started, it is decoded as it is read */
    else if (threads > 1 && !file->order.list)
        (void)decode_start(file->reader, threads, &file->decoder);
    return err;
}

/* The next frame's batch and place, whichever way it is read. */
static int read_next(struct recording_file *file, struct batch **out, struct frame_place *place,
                     struct codec_error *error)
{
    if (file->order.list)
        return recording_order_read(&file->order, file->reader, out, place, error);
    *place = (struct frame_place){
        .offset = file->decoder ? decode_tell(file->decoder) : recording_tell(file->reader),
        .number = (uint32_t)++file->number,
    };
    return file->decoder ? decode_next(file->decoder, out, error) : recording_read(file->reader, out, error);
}

/* What the collector would refuse and nobody can add up. 1 or -EBADMSG. */
static int check(struct batch **batch, struct codec_error *error)
{
    const uint32_t interval_ms = (*batch)->interval_ms;

    if (!interval_ms || interval_ms > INTERVAL_MS_MAX) {
        *error = (struct codec_error){.field = "interval_ms"};
        strcpy(error->why, interval_ms ? "is longer than a week" : "must not be 0");
    } else if (!batch_plausible(*batch, error)) {
        return 1;
    }
    batch_free(*batch);
    *batch = NULL;
    return -EBADMSG;
}

static void tell_damage(struct recording_file *file, const struct frame_place *place, const struct codec_error *error)
{
    char number[32] = "";

    if (file->sought && place->offset < file->looked)
        return; /* passed once more */
    file->looked = place->offset + 1;
    if (file->damages++)
        return;
    if (!file->sought)
        snprintf(number, sizeof(number), " %" PRIu32, place->number);
    log_warning("%s is damaged: frame%s at byte %" PRIu64 ": %s%s%s; what is intact before and behind it is used",
                file->path, number, place->offset, error->field, *error->field ? ": " : "", error->why);
}

int recording_file_next(struct recording_file *file, struct batch **out, bool *damaged)
{
    struct frame_place place;
    struct codec_error error;
    int got;

    for (;;) {
        got = read_next(file, out, &place, &error);
        if (got == 1)
            got = check(out, &error);
        if (got != -EBADMSG)
            break;
        tell_damage(file, &place, &error);
        *damaged = true;
    }
    if (got < 0)
        log_error("cannot read %s: %s", file->path, log_why(got));
    else if (got == 0 && file->damages > 1)
        log_warning("%s is damaged in %" PRIu64 " places, the first of which is told above", file->path, file->damages);
    if (got == 0)
        file->damages = 0; /* whoever goes back reads its end again */
    return got;
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

int recording_file_seek(struct recording_file *file, int64_t ns, int64_t *found)
{
    struct stat st;
    uint64_t best;
    int err = stat(file->path, &st) ? -errno : 0;

    decode_free(file->decoder); /* who goes to and fro reads little at a time */
    file->decoder = NULL;
    recording_order_clear(&file->order);
    file->sought = true;
    if (!err)
        err = find_batch(file->reader, ns, (uint64_t)st.st_size, &best, found);
    if (err == 1)
        return 1;
    if (!err)
        err = recording_seek(file->reader, best);
    if (err)
        log_error("cannot look for a time in %s: %s", file->path, log_why(err));
    return err;
}

double recording_file_read(const struct recording_file *file)
{
    if (file->order.list)
        return file->bytes * file->order.next / file->order.count;
    return (double)(file->decoder ? decode_tell(file->decoder) : recording_tell(file->reader));
}

void recording_file_close(struct recording_file *file)
{
    decode_free(file->decoder);
    recording_reader_free(file->reader);
    recording_order_clear(&file->order);
}
