/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a socket sends in the short form: what is decoded must come back the same; what is refused must say why. */
#include <errno.h>
#include <stdlib.h>

#include "lib/cleanup.h"
#include "lib/packed.h"
#include "tests/unit/sample.h"

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_(batch_freep) struct batch *batch = NULL, *again = NULL;
    _cleanup_free_ void *packed = NULL;
    struct codec_error error = {{0}, {0}};
    size_t packed_size;
    int err = packed_decode(data, size, &batch, &error);

    if (err) {
        CHECK(err == -EBADMSG && !batch && error.why[0]);
        return 0;
    }
    CHECK(!packed_encode(batch, &packed, &packed_size));
    CHECK(!packed_decode(packed, packed_size, &again, &error));
    CHECK(!sample_difference(batch, again));
    return 0;
}
