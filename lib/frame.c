/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/recording.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "lib/cleanup.h"
#include "lib/compress.h"
#include "lib/packed.h"

#define HEADER_SIZE 8

static uint32_t checksum(const unsigned char length[4], const void *payload, size_t size)
{
    uLong crc = crc32(0, length, 4);

    return (uint32_t)crc32_z(crc, payload, size);
}

/* Header and payload, malloc'ed. 0, -ENOMEM or -EFBIG. */
static int make_frame(const void *payload, size_t payload_size, void **out, size_t *size)
{
    unsigned char *frame;
    uint32_t word;

    if (payload_size > RECORDING_FRAME_MAX)
        return -EFBIG;
    frame = malloc(HEADER_SIZE + payload_size);
    if (!frame)
        return -ENOMEM;
    word = htole32((uint32_t)payload_size);
    memcpy(frame, &word, 4);
    word = htole32(checksum(frame, payload, payload_size));
    memcpy(frame + 4, &word, 4);
    memcpy(frame + HEADER_SIZE, payload, payload_size);
    *out = frame;
    *size = HEADER_SIZE + payload_size;
    return 0;
}

int frame_encode(const struct batch *batch, void **out, size_t *size)
{
    _cleanup_free_ char *json = NULL;
    _cleanup_free_ void *payload = NULL;
    size_t json_size, payload_size;
    int err = codec_encode(batch, &json, &json_size);

    if (err)
        return err;
    if (json_size > RECORDING_BATCH_MAX)
        return -EFBIG;
    err = compress_zstd(json, json_size, &payload, &payload_size);
    return err ? err : make_frame(payload, payload_size, out, size);
}

int frame_pack(const struct batch *batch, void **out, size_t *size)
{
    _cleanup_free_ void *payload = NULL;
    size_t payload_size;
    int err = packed_encode(batch, &payload, &payload_size);

    return err ? err : make_frame(payload, payload_size, out, size);
}

int frame_next(const void *buffer, size_t size, const void **payload, size_t *payload_size,
               size_t *used)
{
    const unsigned char *frame = buffer;
    uint32_t length, crc;

    if (size < HEADER_SIZE)
        return 0;
    memcpy(&length, frame, 4);
    memcpy(&crc, frame + 4, 4);
    length = le32toh(length);
    if (!length || length > RECORDING_FRAME_MAX)
        return -EBADMSG;
    if (size - HEADER_SIZE < length)
        return 0;
    if (checksum(frame, frame + HEADER_SIZE, length) != le32toh(crc))
        return -EBADMSG;
    *payload = frame + HEADER_SIZE;
    *payload_size = length;
    *used = HEADER_SIZE + (size_t)length;
    return 1;
}

int frame_decode(const void *payload, size_t size, struct batch **out, struct codec_error *error)
{
    _cleanup_free_ void *json = NULL;
    size_t json_size;
    int err = decompress(ENCODING_ZSTD, payload, size, RECORDING_BATCH_MAX, &json, &json_size);

    if (err == -ENOMEM)
        return err;
    if (err) {
        *error = (struct codec_error){0};
        snprintf(error->why, sizeof(error->why), "%s",
                 err == -EFBIG ? "is larger than a batch may be" : "is no intact zstd data");
        return -EBADMSG;
    }
    return codec_decode(json, json_size, out, error);
}
