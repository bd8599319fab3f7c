/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every allocation of the library fails once, one after the other: it is told as -ENOMEM, and
 * whatever was made before is given back (the sanitizers' build and valgrind look at that).
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/cleanup.h"
#include "lib/compress.h"
#include "lib/packed.h"
#include "lib/recording.h"
#include "tests/unit/sample.h"

#define _cleanup_batch_ _cleanup_(batch_freep)

/* The linker sends the library's calls here (--wrap). */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_reallocarray(void *old, size_t count, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_reallocarray(void *old, size_t count, size_t size);

#define UNLIMITED (-1)

static long allocations_left = UNLIMITED;

static bool refuse(void)
{
    if (allocations_left > 0)
        allocations_left--;
    return allocations_left == 0;
}

void *__wrap_malloc(size_t size)
{
    return refuse() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return refuse() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return refuse() ? NULL : __real_realloc(old, size);
}

void *__wrap_reallocarray(void *old, size_t count, size_t size)
{
    return refuse() ? NULL : __real_reallocarray(old, count, size);
}

static struct batch *sample;
static char *json;
static size_t json_size;
static void *frame;
static size_t frame_size;
static void *packed;
static size_t packed_size;
static char path[32];

/* Runs it with room for one allocation more each time, until it succeeds. */
static void exhaust(int (*operation)(void), bool misread)
{
    for (long room = 1;; room++) {
        int err;

        assert_true(room < 100000);
        allocations_left = room;
        err = operation();
        allocations_left = UNLIMITED;
        if (!err) {
            assert_true(room > 1);
            return;
        }
        if (!misread || err != -EBADMSG)
            assert_int_equal(err, -ENOMEM);
    }
}

static int merge(void)
{
    _cleanup_batch_ struct batch *sum = NULL;
    int err = batch_new(&sum);

    return err ? err : batch_merge(sum, sample, GRAIN_PROCESSES);
}

static int encode(void)
{
    _cleanup_free_ char *out = NULL;
    size_t size;

    return codec_encode(sample, &out, &size);
}

static int decode(void)
{
    _cleanup_batch_ struct batch *batch = NULL;
    struct codec_error error;

    return codec_decode(json, json_size, &batch, &error);
}

static int make_frame(void)
{
    _cleanup_free_ void *out = NULL;
    size_t size;

    return frame_encode(sample, &out, &size);
}

static int open_frame(void)
{
    _cleanup_batch_ struct batch *batch = NULL;
    struct codec_error error;

    return frame_decode((char *)frame + 8, frame_size - 8, &batch, &error);
}

static int make_packed(void)
{
    _cleanup_free_ void *out = NULL;
    size_t size;

    return packed_encode(sample, &out, &size);
}

static int open_packed(void)
{
    _cleanup_batch_ struct batch *batch = NULL;
    struct codec_error error;

    return packed_decode(packed, packed_size, &batch, &error);
}

static int record(void)
{
    struct recording_writer *writer;
    uint64_t cut;
    int err = recording_create(path, &writer), close_err;

    if (err)
        return err;
    err = recording_write(writer, sample);
    close_err = recording_close(writer);
    if (err || close_err)
        return err ? err : close_err;
    err = recording_append(path, &writer, &cut);
    return err ? err : recording_close(writer);
}

static int replay(void)
{
    _cleanup_batch_ struct batch *batch = NULL;
    struct recording_reader *reader;
    struct codec_error error;
    int err = recording_open(path, &reader);

    if (err)
        return err;
    err = recording_read(reader, &batch, &error);
    recording_reader_free(reader);
    return err == 1 ? 0 : err;
}

static int pack(void)
{
    struct histogram h = {0};
    _cleanup_free_ unsigned char *bytes = NULL;
    _cleanup_free_ char *text = NULL;
    size_t size;
    int err = codec_histogram_decode("5:2 1 1 1 1 1 9:4", &h);

    if (!err && !(text = codec_histogram_encode(&h)))
        err = -ENOMEM;
    if (!err && !(bytes = codec_histogram_pack(&h, &size)))
        err = -ENOMEM;
    if (!err)
        err = codec_histogram_unpack(bytes, size, &h);
    histogram_clear(&h);
    return err;
}

static void the_library_runs_out(void **state)
{
    exhaust(merge, false);
    exhaust(encode, false);
    exhaust(decode, false);
    exhaust(make_frame, false);
    exhaust(open_frame, false);
    exhaust(make_packed, false);
    exhaust(open_packed, false);
    exhaust(record, false);
    exhaust(replay, false);
    exhaust(pack, false);
}

/* jansson's parser takes some of its own failures for bad input. */
static void jansson_runs_out(void **state)
{
    json_set_alloc_funcs(__wrap_malloc, free);
    exhaust(encode, false);
    exhaust(decode, true);
    json_set_alloc_funcs(__real_malloc, free);
}

static int setup(void **state)
{
    sample = sample_batch(7, 12);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", memfd_create("recording", MFD_CLOEXEC));
    return codec_encode(sample, &json, &json_size) || frame_encode(sample, &frame, &frame_size) ||
           packed_encode(sample, &packed, &packed_size);
}

static int teardown(void **state)
{
    batch_free(sample);
    free(json);
    free(frame);
    free(packed);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_library_runs_out),
        cmocka_unit_test(jansson_runs_out),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
