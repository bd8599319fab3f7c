/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/bundle.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/compress.h"
#include "lib/sha256.h"

#define FRAME_WANTED (4u << 20) /* bytes of lines, before they are compressed */

struct head {
    char magic[8];
    uint8_t key[SITE_KEY_SIZE];
    uint8_t id[16];
} __attribute__((packed));

struct frame {
    uint32_t length;
    uint8_t last;
    uint8_t signature[SITE_SIGNATURE_SIZE];
} __attribute__((packed));

/* What is signed. */
struct claim {
    char purpose[16];
    uint8_t key[SITE_KEY_SIZE];
    uint8_t id[16];
    uint64_t number;
    uint8_t last;
    uint32_t length;
    uint8_t sha256[SHA256_SIZE];
} __attribute__((packed));

struct bundle_writer {
    int fd;
    const struct site_key *key;
    struct head head;
    uint64_t number;
    char *lines;
    size_t size, capacity;
};

struct bundle_reader {
    FILE *file;
    struct head head;
    uint64_t number;
    bool ended;
};

static void make_claim(const struct head *head, uint64_t number, const struct frame *frame, const void *payload,
                       struct claim *out)
{
    memcpy(out->purpose, "unblend.bundle/1", sizeof(out->purpose));
    memcpy(out->key, head->key, sizeof(out->key));
    memcpy(out->id, head->id, sizeof(out->id));
    out->number = htole64(number);
    out->last = frame->last;
    out->length = frame->length;
    sha256(payload, le32toh(frame->length), out->sha256);
}

static int write_all(int fd, const void *data, size_t size)
{
    const char *at = data;

    while (size) {
        ssize_t written = write(fd, at, size);

        if (written < 0 && errno != EINTR)
            return -errno;
        if (written > 0) {
            at += written;
            size -= (size_t)written;
        }
    }
    return 0;
}

int bundle_create(int fd, const struct site_key *key, struct bundle_writer **out)
{
    struct bundle_writer *writer = calloc(1, sizeof(*writer));
    int err;

    if (!writer)
        return -ENOMEM;
    writer->fd = fd;
    writer->key = key;
    memcpy(writer->head.magic, BUNDLE_MAGIC, sizeof(writer->head.magic));
    memcpy(writer->head.key, key->public_key, sizeof(writer->head.key));
    err = getrandom(writer->head.id, sizeof(writer->head.id), 0) < 0 ? -errno : 0;
    if (!err)
        err = write_all(fd, &writer->head, sizeof(writer->head));
    if (err)
        free(writer);
    else
        *out = writer;
    return err;
}

static int write_frame(struct bundle_writer *writer, bool last)
{
    _cleanup_free_ void *payload = NULL;
    struct frame frame = {.last = last};
    struct claim claim;
    size_t size;
    int err = compress_zstd(writer->lines ? writer->lines : "", writer->size, &payload, &size);

    if (err)
        return err;
    if (size > BUNDLE_FRAME_MAX)
        return -EFBIG;
    frame.length = htole32((uint32_t)size);
    make_claim(&writer->head, writer->number, &frame, payload, &claim);
    err = site_key_sign(writer->key, &claim, sizeof(claim), frame.signature);
    if (!err)
        err = write_all(writer->fd, &frame, sizeof(frame));
    if (!err)
        err = write_all(writer->fd, payload, size);
    writer->number++;
    writer->size = 0;
    return err;
}

int bundle_add(struct bundle_writer *writer, const char *json, size_t size)
{
    int err = writer->size && writer->size + size > FRAME_WANTED ? write_frame(writer, false) : 0;

    if (err)
        return err;
    if (writer->size + size + 1 > writer->capacity) {
        size_t room = 2 * (writer->size + size + 1);
        char *grown = realloc(writer->lines, room);

        if (!grown)
            return -ENOMEM;
        writer->lines = grown;
        writer->capacity = room;
    }
    memcpy(writer->lines + writer->size, json, size);
    writer->lines[writer->size + size] = '\n';
    writer->size += size + 1;
    return 0;
}

int bundle_finish(struct bundle_writer *writer)
{
    return write_frame(writer, true);
}

void bundle_writer_free(struct bundle_writer *writer)
{
    if (!writer)
        return;
    free(writer->lines);
    free(writer);
}

int bundle_open(const char *path, struct bundle_reader **out)
{
    struct bundle_reader *reader = calloc(1, sizeof(*reader));
    int err = 0;

    if (!reader)
        return -ENOMEM;
    reader->file = fopen(path, "re");
    if (!reader->file)
        err = -errno;
    else if (fread(&reader->head, sizeof(reader->head), 1, reader->file) != 1 ||
             memcmp(reader->head.magic, BUNDLE_MAGIC, sizeof(reader->head.magic)) != 0)
        err = ferror(reader->file) ? -EIO : -EBADMSG;
    if (err)
        bundle_reader_free(reader);
    else
        *out = reader;
    return err;
}

void bundle_reader_free(struct bundle_reader *reader)
{
    if (!reader)
        return;
    if (reader->file)
        fclose(reader->file);
    free(reader);
}

const uint8_t *bundle_key(const struct bundle_reader *reader)
{
    return reader->head.key;
}

int bundle_next(struct bundle_reader *reader, void **lines, size_t *size)
{
    _cleanup_free_ void *payload = NULL;
    struct frame frame;
    struct claim claim;
    size_t length;
    int err;

    if (reader->ended)
        return getc(reader->file) == EOF && !ferror(reader->file) ? 0 : -EBADMSG;
    if (fread(&frame, sizeof(frame), 1, reader->file) != 1)
        return ferror(reader->file) ? -EIO : -EBADMSG;
    length = le32toh(frame.length);
    if (length > BUNDLE_FRAME_MAX || frame.last > 1)
        return -EBADMSG;
    payload = malloc(length + 1);
    if (!payload)
        return -ENOMEM;
    if (fread(payload, 1, length, reader->file) != length)
        return ferror(reader->file) ? -EIO : -EBADMSG;
    make_claim(&reader->head, reader->number, &frame, payload, &claim);
    err = site_key_verify(reader->head.key, &claim, sizeof(claim), frame.signature);
    if (!err)
        err = decompress(ENCODING_ZSTD, payload, length, BUNDLE_PLAIN_MAX, lines, size);
    if (err)
        return err == -ENOMEM ? err : -EBADMSG;
    reader->number++;
    reader->ended = frame.last;
    return 1;
}

int bundle_rewind(struct bundle_reader *reader)
{
    reader->number = 0;
    reader->ended = false;
    return fseek(reader->file, sizeof(reader->head), SEEK_SET) ? -errno : 0;
}
