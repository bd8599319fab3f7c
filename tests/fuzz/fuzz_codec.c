/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is decoded must come back the same; what is refused must say why. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/codec.h"
#include "lib/codec_flow.h"
#include "tests/unit/sample.h"

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_batch(const char *json, size_t size)
{
    _cleanup_(batch_freep) struct batch *batch = NULL, *again = NULL;
    _cleanup_free_ char *first = NULL, *second = NULL;
    struct codec_error error = {{0}, {0}};
    size_t first_size, second_size;
    int err = codec_decode(json, size, &batch, &error);

    if (err) {
        CHECK(err == -EBADMSG && !batch && error.why[0]);
        CHECK(!strpbrk(error.why, "\n\r\x1b"));
        return;
    }
    CHECK(!codec_encode(batch, &first, &first_size));
    CHECK(!codec_decode(first, first_size, &again, &error));
    CHECK(!sample_difference(batch, again));
    CHECK(!codec_encode(again, &second, &second_size));
    CHECK(first_size == second_size && memcmp(first, second, first_size) == 0);
}

static void check_pairs(const char *text)
{
    struct histogram h = {0}, again = {0};
    int err = codec_histogram_decode(text, &h);

    if (err) {
        CHECK((err == -EINVAL || err == -ERANGE) && !h.length);
        return;
    }
    {
        _cleanup_free_ char *pairs = codec_histogram_encode(&h);

        CHECK(pairs && strlen(pairs) <= strlen(text));
        CHECK(!codec_histogram_decode(pairs, &again) && histogram_equal(&h, &again));
    }
    histogram_clear(&h);
    histogram_clear(&again);
}

static void check_packed(const uint8_t *data, size_t size)
{
    struct histogram h = {0};
    int err = codec_histogram_unpack(data, size, &h);

    if (err) {
        CHECK((err == -EINVAL || err == -ERANGE) && !h.length);
        return;
    }
    {
        size_t packed_size;
        _cleanup_free_ unsigned char *packed = codec_histogram_pack(&h, &packed_size);

        CHECK(packed && packed_size == size && memcmp(packed, data, size) == 0);
    }
    histogram_clear(&h);
}

static void check_slots(const uint8_t *data, size_t size)
{
    struct flow flow = {0};

    if (size < 1 || codec_slots_span(&flow, 17000000000, 1 + data[0] % 64))
        return;
    if (!codec_slots_unpack(data + 1, size - 1, &flow, DEMAND_READ_BYTES)) {
        struct flow again = {0};
        size_t packed_size;
        _cleanup_free_ unsigned char *packed = codec_slots_pack(&flow, DEMAND_READ_BYTES, &packed_size);

        CHECK(packed && !codec_slots_span(&again, flow.first, flow.length));
        CHECK(!codec_slots_unpack(packed, packed_size, &again, DEMAND_READ_BYTES));
        CHECK(!memcmp(again.slots, flow.slots, flow.length * sizeof(*flow.slots)));
        flow_clear(&again);
    }
    flow_clear(&flow);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_free_ char *text = malloc(size + 1);

    CHECK(text);
    memcpy(text, data, size);
    text[size] = '\0';
    check_batch(text, size);
    check_pairs(text);
    check_packed(data, size);
    check_slots(data, size);
    return 0;
}
