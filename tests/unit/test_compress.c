/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "lib/cleanup.h"
#include "lib/compress.h"
#include "tests/unit/sample.h"

/* Half noise, half repetition. */
static char *material(size_t size)
{
    char *data = malloc(size + 1);
    uint64_t random = 5;

    assert_non_null(data);
    for (size_t i = 0; i < size; i++)
        data[i] = i / 512 % 2 ? 'x' : (char)sample_random(&random);
    return data;
}

static void gzip_member(const void *data, size_t size, char *to, size_t *to_size)
{
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)data,
                       .avail_in = (uInt)size,
                       .next_out = (Bytef *)to,
                       .avail_out = (uInt)*to_size};

    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    *to_size = stream.total_out;
    deflateEnd(&stream);
}

/* Comes out as it went in at the limit, and not at all beyond it. */
static void check_limits(enum encoding encoding, const void *packed, size_t packed_size,
                         const void *data, size_t size)
{
    _cleanup_free_ void *out = NULL, *none = NULL;
    size_t out_size = 99;

    assert_int_equal(decompress(encoding, packed, packed_size, size, &out, &out_size), 0);
    assert_int_equal(out_size, size);
    assert_memory_equal(out, data, size);
    assert_int_equal(((char *)out)[size], '\0');
    if (size)
        assert_int_equal(decompress(encoding, packed, packed_size, size - 1, &none, &out_size),
                         -EFBIG);
    assert_null(none);
}

static void what_goes_in_comes_out(void **state)
{
    static const size_t sizes[] = {0, 1, 2, 1000, 65535, 65536, 65537, 131072, 3000000, 12000000};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        _cleanup_free_ char *data = material(sizes[i]);
        _cleanup_free_ void *zstd = NULL;
        size_t gzip_size = sizes[i] + 20000, zstd_size;
        _cleanup_free_ char *gzip = malloc(gzip_size);

        assert_int_equal(compress_zstd(data, sizes[i], &zstd, &zstd_size), 0);
        check_limits(ENCODING_ZSTD, zstd, zstd_size, data, sizes[i]);
        gzip_member(data, sizes[i], gzip, &gzip_size);
        check_limits(ENCODING_GZIP, gzip, gzip_size, data, sizes[i]);
        check_limits(ENCODING_NONE, data, sizes[i], data, sizes[i]);
    }
}

static void refuse(enum encoding encoding, const void *packed, size_t size)
{
    void *out = NULL;
    size_t out_size;

    assert_int_equal(decompress(encoding, packed, size, 1 << 20, &out, &out_size), -EBADMSG);
    assert_null(out);
}

static void cuts_and_tails_are_refused(void **state)
{
    _cleanup_free_ char *data = material(3000);
    _cleanup_free_ void *zstd = NULL;
    char gzip[8000];
    size_t zstd_size, gzip_size = sizeof(gzip);

    assert_int_equal(compress_zstd(data, 3000, &zstd, &zstd_size), 0);
    gzip_member(data, 3000, gzip, &gzip_size);
    for (size_t size = 0; size < zstd_size; size++)
        refuse(ENCODING_ZSTD, zstd, size);
    for (size_t size = 0; size < gzip_size; size++)
        refuse(ENCODING_GZIP, gzip, size);
    gzip[gzip_size] = 'x';
    refuse(ENCODING_GZIP, gzip, gzip_size + 1);
    zstd = realloc(zstd, zstd_size + 1);
    ((char *)zstd)[zstd_size] = 'x';
    refuse(ENCODING_ZSTD, zstd, zstd_size + 1);
    refuse(ENCODING_ZSTD, gzip, gzip_size);
    refuse(ENCODING_GZIP, zstd, zstd_size);
}

/* A flipped bit is noticed, or lies where it changes nothing (the time in gzip's header, say). */
static void no_flip_changes_what_comes_out(void **state)
{
    _cleanup_free_ char *data = material(700);
    _cleanup_free_ void *zstd = NULL;
    char gzip[2000], *packed[2];
    size_t sizes[2] = {0, sizeof(gzip)};
    unsigned refused[2] = {0, 0};

    assert_int_equal(compress_zstd(data, 700, &zstd, &sizes[0]), 0);
    gzip_member(data, 700, gzip, &sizes[1]);
    packed[0] = zstd;
    packed[1] = gzip;
    for (int kind = 0; kind < 2; kind++)
        for (size_t bit = 0; bit < 8 * sizes[kind]; bit++) {
            _cleanup_free_ void *out = NULL;
            size_t out_size;
            int err;

            packed[kind][bit / 8] ^= (char)(1 << bit % 8);
            err = decompress(kind ? ENCODING_GZIP : ENCODING_ZSTD, packed[kind], sizes[kind],
                             1 << 20, &out, &out_size);
            packed[kind][bit / 8] ^= (char)(1 << bit % 8);
            if (err) {
                assert_int_equal(err, -EBADMSG);
                refused[kind]++;
                continue;
            }
            assert_int_equal(out_size, 700);
            assert_memory_equal(out, data, 700);
        }
    assert_true(refused[0] > 7 * sizes[0]);
    assert_true(refused[1] > 7 * sizes[1]);
}

static void several_frames_are_one(void **state)
{
    char gzip[200];
    _cleanup_free_ void *zstd = NULL;
    size_t first = sizeof(gzip), second, zstd_size;
    char *both;

    gzip_member("abc", 3, gzip, &first);
    second = sizeof(gzip) - first;
    gzip_member("defg", 4, gzip + first, &second);
    check_limits(ENCODING_GZIP, gzip, first + second, "abcdefg", 7);

    assert_int_equal(compress_zstd("abc", 3, &zstd, &zstd_size), 0);
    both = malloc(2 * zstd_size);
    memcpy(both, zstd, zstd_size);
    memcpy(both + zstd_size, zstd, zstd_size);
    check_limits(ENCODING_ZSTD, both, 2 * zstd_size, "abcabc", 6);
    free(both);
}

/* A gigabyte of zeros in some kilobytes: the limit ends it, not the memory. */
static void bombs_end_at_the_limit(void **state)
{
    const size_t size = (size_t)1 << 30;
    _cleanup_free_ void *packed = malloc(1 << 20);
    _cleanup_(cleanup_free) char *block = calloc(1, 1 << 20);
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_outBuffer out = {packed, 1 << 20, 0};
    void *result = NULL;
    size_t result_size, left;

    for (size_t done = 0; done < size; done += 1 << 20) {
        ZSTD_inBuffer in = {block, 1 << 20, 0};

        assert_false(ZSTD_isError(ZSTD_compressStream2(context, &out, &in, ZSTD_e_continue)));
        assert_int_equal(in.pos, in.size);
    }
    do {
        ZSTD_inBuffer in = {NULL, 0, 0};

        left = ZSTD_compressStream2(context, &out, &in, ZSTD_e_end);
        assert_false(ZSTD_isError(left));
    } while (left);
    ZSTD_freeCCtx(context);
    assert_true(out.pos < 200000);
    assert_int_equal(decompress(ENCODING_ZSTD, packed, out.pos, 1 << 20, &result, &result_size),
                     -EFBIG);
    assert_null(result);
}

/* A frame that would have the reader keep 64 MiB of window. */
static void large_windows_are_refused(void **state)
{
    const size_t size = (size_t)20 << 20;
    _cleanup_free_ char *data = calloc(1, size);
    _cleanup_free_ void *packed = malloc(1 << 20);
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_inBuffer in = {data, size, 0};
    ZSTD_outBuffer out = {packed, 1 << 20, 0};
    void *result;
    size_t result_size;

    ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, 26);
    while (in.pos < in.size)
        assert_false(ZSTD_isError(ZSTD_compressStream2(context, &out, &in, ZSTD_e_continue)));
    assert_int_equal(ZSTD_compressStream2(context, &out, &in, ZSTD_e_end), 0);
    ZSTD_freeCCtx(context);
    assert_int_equal(decompress(ENCODING_ZSTD, packed, out.pos, 2 * size, &result, &result_size),
                     -EBADMSG);
}

static void encodings_have_names(void **state)
{
    enum encoding encoding = ENCODING_GZIP;

    assert_int_equal(encoding_by_name(NULL, &encoding), 0);
    assert_int_equal(encoding, ENCODING_NONE);
    assert_int_equal(encoding_by_name("zstd", &encoding), 0);
    assert_int_equal(encoding, ENCODING_ZSTD);
    assert_int_equal(encoding_by_name("GZip", &encoding), 0);
    assert_int_equal(encoding, ENCODING_GZIP);
    assert_int_equal(encoding_by_name("identity", &encoding), 0);
    assert_int_equal(encoding, ENCODING_NONE);
    assert_int_equal(encoding_by_name("br", &encoding), -EINVAL);
    assert_int_equal(encoding_by_name("", &encoding), -EINVAL);
    assert_int_equal(encoding_by_name("zstd, gzip", &encoding), -EINVAL);
    assert_int_equal(encoding, ENCODING_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_goes_in_comes_out),
        cmocka_unit_test(cuts_and_tails_are_refused),
        cmocka_unit_test(no_flip_changes_what_comes_out),
        cmocka_unit_test(several_frames_are_one),
        cmocka_unit_test(bombs_end_at_the_limit),
        cmocka_unit_test(large_windows_are_refused),
        cmocka_unit_test(encodings_have_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
