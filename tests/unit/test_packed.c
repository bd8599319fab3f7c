/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/packed.h"
#include "lib/recording.h"
#include "tests/unit/sample.h"

#define _cleanup_batch_ _cleanup_(batch_freep)

static void random_batches_come_back(void **state)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        _cleanup_batch_ struct batch *b = sample_batch(seed, (uint32_t)(seed % 80)), *again = NULL;
        _cleanup_free_ void *packed = NULL;
        struct codec_error error = {0};
        const char *difference;
        size_t size;

        assert_int_equal(packed_encode(b, &packed, &size), 0);
        if (packed_decode(packed, size, &again, &error))
            fail_msg("seed %ju: %s: %s", (uintmax_t)seed, error.field, error.why);
        difference = sample_difference(b, again);
        if (difference)
            fail_msg("seed %ju: %s", (uintmax_t)seed, difference);
    }
}

/* What a watcher of the socket gets is the same batch, whichever form it asked for. */
static void both_forms_say_the_same(void **state)
{
    _cleanup_batch_ struct batch *b = sample_batch(5, 60), *short_one = NULL, *json_one = NULL;
    _cleanup_free_ void *packed = NULL, *json = NULL;
    struct codec_error error = {0};
    const void *payload;
    size_t packed_size, json_size, payload_size, used;

    assert_int_equal(frame_pack(b, &packed, &packed_size), 0);
    assert_int_equal(frame_encode(b, &json, &json_size), 0);
    assert_int_equal(frame_next(packed, packed_size, &payload, &payload_size, &used), 1);
    assert_int_equal(used, packed_size);
    assert_int_equal(packed_decode(payload, payload_size, &short_one, &error), 0);
    assert_int_equal(frame_next(json, json_size, &payload, &payload_size, &used), 1);
    assert_int_equal(frame_decode(payload, payload_size, &json_one, &error), 0);
    assert_null(sample_difference(short_one, json_one));
}

/* The JSON at the front is another test's: of it a place here and there is enough. */
static size_t next_place(size_t at, size_t size)
{
    return at + (at + 300 < size ? 97 : 1);
}

static void every_cut_is_refused(void **state)
{
    _cleanup_batch_ struct batch *b = sample_batch(11, 4);
    _cleanup_free_ unsigned char *packed = NULL;
    size_t size;

    assert_int_equal(packed_encode(b, (void **)&packed, &size), 0);
    for (size_t cut = 0; cut < size; cut = next_place(cut, size)) {
        _cleanup_free_ unsigned char *copy = malloc(cut + 1); /* of this size, so that reading behind it is seen */
        struct codec_error error = {0};
        struct batch *none = NULL;

        memcpy(copy, packed, cut);
        assert_int_equal(packed_decode(copy, cut, &none, &error), -EBADMSG);
        assert_null(none);
        assert_true(error.why[0]);
    }
}

static void more_than_the_batch_is_refused(void **state)
{
    _cleanup_batch_ struct batch *b = sample_batch(12, 20);
    _cleanup_free_ unsigned char *packed = NULL;
    struct codec_error error = {0};
    struct batch *none = NULL;
    size_t size;

    assert_int_equal(packed_encode(b, (void **)&packed, &size), 0);
    packed = realloc(packed, size + 1);
    packed[size] = 0;
    assert_int_equal(packed_decode(packed, size + 1, &none, &error), -EBADMSG);
}

/* One byte that is another: it is refused, or it is another batch that comes back. */
static void altered_bytes_do_no_harm(void **state)
{
    _cleanup_batch_ struct batch *b = sample_batch(13, 4);
    _cleanup_free_ unsigned char *packed = NULL;
    unsigned refused = 0;
    size_t size;

    assert_int_equal(packed_encode(b, (void **)&packed, &size), 0);
    for (size_t at = 0; at < size; at = next_place(at, size)) {
        _cleanup_batch_ struct batch *other = NULL, *again = NULL;
        _cleanup_free_ void *other_packed = NULL;
        struct codec_error error = {0};
        unsigned char kept = packed[at];
        size_t other_size;

        packed[at] ^= (unsigned char)(1u << at % 8);
        if (packed_decode(packed, size, &other, &error)) {
            refused++;
        } else {
            assert_int_equal(packed_encode(other, &other_packed, &other_size), 0);
            assert_int_equal(packed_decode(other_packed, other_size, &again, &error), 0);
            assert_null(sample_difference(other, again));
        }
        packed[at] = kept;
    }
    assert_true(refused > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_batches_come_back),    cmocka_unit_test(both_forms_say_the_same),
        cmocka_unit_test(every_cut_is_refused),        cmocka_unit_test(more_than_the_batch_is_refused),
        cmocka_unit_test(altered_bytes_do_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
