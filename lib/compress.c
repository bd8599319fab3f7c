/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/compress.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
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
#define DCTX_KEEP  (512u << 10)

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

static pthread_key_t dctx_key;
static pthread_once_t dctx_once = PTHREAD_ONCE_INIT;
static bool has_dctx_key;

static void free_dctx(void *context)
{
    ZSTD_freeDCtx(context);
}

static void make_dctx_key(void)
{
    has_dctx_key = pthread_key_create(&dctx_key, free_dctx) == 0;
}

/* Making one takes longer than what a node sends: a thread keeps its own. NULL without memory. */
static ZSTD_DCtx *take_dctx(void)
{
    ZSTD_DCtx *context;

    pthread_once(&dctx_once, make_dctx_key);
    context = has_dctx_key ? pthread_getspecific(dctx_key) : NULL;
    if (!context)
        return ZSTD_createDCtx();
    pthread_setspecific(dctx_key, NULL);
    ZSTD_DCtx_reset(context, ZSTD_reset_session_and_parameters);
    return context;
}

/* One that has grown by a large window is not kept. */
static void leave_dctx(ZSTD_DCtx **context)
{
    if (!*context || !has_dctx_key || ZSTD_sizeof_DCtx(*context) > DCTX_KEEP || pthread_setspecific(dctx_key, *context))
        ZSTD_freeDCtx(*context);
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
    unsigned long long hint; /* of all that comes; not to be trusted */
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
    if (!sink->room && sink->hint && sink->hint < room)
        room = (size_t)sink->hint;
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
    _cleanup_(leave_dctx) ZSTD_DCtx *context = take_dctx();
    ZSTD_inBuffer in = {.src = data, .size = size};
    size_t more = 1; /* 0 between frames */

    if (!context)
        return -ENOMEM;
    /* Most frames say how much they hold; of those that are small, nothing is moved afterwards. */
    sink->hint = ZSTD_getFrameContentSize(data, size);
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

int decompress_start(const void *data, size_t size, void *out, size_t room, size_t *got)
{
    _cleanup_(leave_dctx) ZSTD_DCtx *context = take_dctx();
    ZSTD_inBuffer in = {.src = data, .size = size};
    ZSTD_outBuffer to = {.dst = out, .size = room};

    if (!context)
        return -ENOMEM;
    ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
    while (to.pos < to.size) {
        size_t in_before = in.pos, before = to.pos, more = ZSTD_decompressStream(context, &to, &in);

        if (ZSTD_isError(more))
            return ZSTD_getErrorCode(more) == ZSTD_error_memory_allocation ? -ENOMEM : -EBADMSG;
        if (in.pos == in_before && to.pos == before)
            break;
    }
    *got = to.pos;
    return 0;
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
