/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/compress.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "lib/cleanup.h"

/* Decoders for "Content-Encoding: zstd" must take windows up to 8 MiB and should take no larger
 * ones (RFC 9659). */
#define WINDOW_LOG_MAX 23

#define FIRST_ROOM 65536

int encoding_by_name(const char *name, enum encoding *out)
{
    if (!name || strcasecmp(name, "identity") == 0)
        *out = ENCODING_NONE;
    else if (strcasecmp(name, "zstd") == 0)
        *out = ENCODING_ZSTD;
    else if (strcasecmp(name, "gzip") == 0 || strcasecmp(name, "x-gzip") == 0)
        *out = ENCODING_GZIP;
    else
        return -EINVAL;
    return 0;
}

static void free_cctx(ZSTD_CCtx **c)
{
    ZSTD_freeCCtx(*c);
}

static void free_dctx(ZSTD_DCtx **d)
{
    ZSTD_freeDCtx(*d);
}

int compress_zstd(const void *data, size_t size, void **out, size_t *out_size)
{
    _cleanup_(free_cctx) ZSTD_CCtx *context = ZSTD_createCCtx();
    _cleanup_free_ char *memory = NULL;
    size_t room = ZSTD_compressBound(size);
    size_t length;

    if (!context || ZSTD_isError(room) || !(memory = malloc(room + 1)))
        return -ENOMEM;
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    length = ZSTD_compress2(context, memory, room, data, size);
    if (ZSTD_isError(length))
        return -ENOMEM; /* with room for the worst case, nothing else can fail */
    memory[length] = '\0';
    *out = take_pointer(memory);
    *out_size = length;
    return 0;
}

/* What comes out, growing towards the limit and one byte beyond, which tells that it was passed. */
struct sink {
    char *data;
    size_t size;
    size_t room;
    size_t limit;
};

static void sink_free(struct sink *sink)
{
    free(sink->data);
}

static int sink_grow(struct sink *sink)
{
    size_t most = sink->limit + 1;
    size_t room = sink->room ? sink->room : FIRST_ROOM / 2;
    char *grown;

    if (sink->size > sink->limit)
        return -EFBIG;
    room = room > most / 2 ? most : room * 2;
    grown = realloc(sink->data, room + 1);
    if (!grown)
        return -ENOMEM;
    sink->data = grown;
    sink->room = room;
    return 0;
}

static int unpack_none(struct sink *sink, const void *data, size_t size)
{
    if (size > sink->limit)
        return -EFBIG;
    sink->data = malloc(size + 1);
    if (!sink->data)
        return -ENOMEM;
    if (size)
        memcpy(sink->data, data, size);
    sink->size = size;
    return 0;
}

static int unpack_zstd(struct sink *sink, const void *data, size_t size)
{
    _cleanup_(free_dctx) ZSTD_DCtx *context = ZSTD_createDCtx();
    ZSTD_inBuffer in = {.src = data, .size = size};
    size_t more = 1; /* 0 between frames */

    if (!context)
        return -ENOMEM;
    ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
    while (in.pos < in.size || more) {
        ZSTD_outBuffer out;
        size_t in_before = in.pos;
        int err = sink->size == sink->room ? sink_grow(sink) : 0;

        if (err)
            return err;
        out = (ZSTD_outBuffer){.dst = sink->data, .size = sink->room, .pos = sink->size};
        more = ZSTD_decompressStream(context, &out, &in);
        if (ZSTD_isError(more))
            return ZSTD_getErrorCode(more) == ZSTD_error_memory_allocation ? -ENOMEM : -EBADMSG;
        if (more && in.pos == in_before && out.pos == sink->size && in.pos == in.size)
            return -EBADMSG; /* cut off */
        sink->size = out.pos;
    }
    return sink->size > sink->limit ? -EFBIG : 0;
}

static int inflate_members(z_stream *stream, struct sink *sink)
{
    int result = Z_OK;

    while (result != Z_STREAM_END || stream->avail_in) {
        size_t room;
        int err = sink->size == sink->room ? sink_grow(sink) : 0;

        if (err)
            return err;
        if (result == Z_STREAM_END && inflateReset(stream) != Z_OK)
            return -EBADMSG;
        room = sink->room - sink->size;
        stream->avail_out = room > UINT_MAX ? UINT_MAX : (uInt)room;
        stream->next_out = (Bytef *)sink->data + sink->size;
        result = inflate(stream, Z_NO_FLUSH);
        if (result == Z_MEM_ERROR)
            return -ENOMEM;
        if (result != Z_OK && result != Z_STREAM_END)
            return -EBADMSG; /* Z_BUF_ERROR: cut off, there always is room */
        sink->size = (size_t)((char *)stream->next_out - sink->data);
    }
    return sink->size > sink->limit ? -EFBIG : 0;
}

static int unpack_gzip(struct sink *sink, const void *data, size_t size)
{
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)size};
    int err;

    if (size > UINT_MAX)
        return -EFBIG;
    if (inflateInit2(&stream, MAX_WBITS + 16) != Z_OK) /* + 16: a gzip header, and no other */
        return -ENOMEM;
    err = inflate_members(&stream, sink);
    inflateEnd(&stream);
    return err;
}

int decompress(enum encoding encoding, const void *data, size_t size, size_t limit, void **out,
               size_t *out_size)
{
    _cleanup_(sink_free) struct sink sink = {.limit = limit < SIZE_MAX / 4 ? limit : SIZE_MAX / 4};
    int err = -EINVAL;

    switch (encoding) {
    case ENCODING_NONE:
        err = unpack_none(&sink, data, size);
        break;
    case ENCODING_ZSTD:
        err = unpack_zstd(&sink, data, size);
        break;
    case ENCODING_GZIP:
        err = unpack_gzip(&sink, data, size);
        break;
    }
    if (err)
        return err;
    sink.data[sink.size] = '\0';
    *out_size = sink.size;
    *out = take_pointer(sink.data);
    return 0;
}
