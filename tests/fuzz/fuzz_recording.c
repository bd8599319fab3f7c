/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A damaged recording: reading ends, appending keeps every batch that could be read. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "lib/recording.h"

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[32];
static int file = -1;

/* Puts right checksums where frames would be, as no fuzzer finds those by itself. */
static void mend(uint8_t *bytes, size_t size)
{
    size_t at = 8;

    while (size > 8 && size - 8 > at) {
        uint32_t length, crc;

        memcpy(&length, bytes + at, 4);
        if (!length || length > size - at - 8)
            return;
        crc = (uint32_t)crc32(crc32(0, bytes + at, 4), bytes + at + 8, length);
        memcpy(bytes + at + 4, &crc, 4);
        at += 8 + (size_t)length;
    }
}

/* Batches, and damaged places; -1 when it is no recording. */
static int read_all(size_t size, unsigned *damages)
{
    struct recording_reader *reader;
    int batches = 0, err = recording_open(path, &reader);
    unsigned steps = 0;

    *damages = 0;
    if (err) {
        CHECK(err == -EBADMSG || err == -EPROTONOSUPPORT);
        return -1;
    }
    for (;;) {
        struct codec_error error = {{0}, {0}};
        struct batch *batch = NULL;
        int result = recording_read(reader, &batch, &error);

        CHECK(steps++ <= size);
        if (result == 0)
            break;
        CHECK(result == 1 || result == -EBADMSG);
        CHECK((result == 1) == (batch != NULL) && (result == 1 || error.why[0]));
        batches += result == 1;
        *damages += result != 1;
        batch_free(batch);
    }
    recording_reader_free(reader);
    return batches;
}

/* When batches begin is read without decoding them, as long as that can be. */
static void read_starts(size_t size)
{
    struct recording_reader *reader;
    unsigned steps = 0;

    if (recording_open(path, &reader))
        return;
    for (;;) {
        struct codec_error error = {{0}, {0}};
        const void *payload;
        size_t length;
        int64_t start_ns;
        int result = recording_frame(reader, &payload, &length, &error);

        CHECK(steps++ <= size);
        if (result == 0)
            break;
        CHECK(result == 1 || result == -EBADMSG);
        if (result == 1) {
            int err = frame_start(payload, length, &start_ns);

            CHECK(!err || err == -EBADMSG);
        }
    }
    recording_reader_free(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct recording_writer *writer;
    unsigned damages, damages_after;
    uint64_t cut;
    uint8_t *bytes;
    int before, err;

    if (size < 1)
        return 0;
    if (file < 0) {
        file = memfd_create("recording", MFD_CLOEXEC);
        snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    }
    bytes = malloc(size);
    CHECK(bytes);
    memcpy(bytes, data + 1, size - 1);
    if (data[0] & 1)
        mend(bytes, size - 1);
    CHECK(!ftruncate(file, 0) && pwrite(file, bytes, size - 1, 0) == (ssize_t)size - 1);
    free(bytes);
    before = read_all(size, &damages);
    read_starts(size);
    err = recording_append(path, &writer, &cut);
    CHECK(!err || (err == -EBADMSG && before < 0));
    if (err)
        return 0;
    CHECK(cut <= size - 1);
    CHECK(!recording_close(writer));
    CHECK(read_all(size, &damages_after) == (before < 0 ? 0 : before));
    CHECK(damages_after <= damages);
    return 0;
}
