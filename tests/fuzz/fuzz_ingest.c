/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A request's body through the collector, in front of a store that checks what it is given: only
 * valid batches of the right node, and a commit only when the whole body was taken.
 */
#include <stdlib.h>
#include <string.h>

#include "collector/ingest.h"

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned begun, put, committed, rolled_back;

const char *store_why(const struct store *store)
{
    return "";
}

int store_begin(struct store *store)
{
    CHECK(!begun++);
    return 0;
}

int store_put(struct store *store, struct store_item *items, unsigned count)
{
    CHECK(begun && count);
    for (unsigned n = 0; n < count; n++) {
        const struct batch *batch = items[n].batch;
        struct codec_error error;

        CHECK(ingest_validate(batch, &error) == 0 && !batch->process_count);
        for (uint32_t i = 0; i < batch->record_count; i++)
            CHECK(batch->records[i].job < batch->job_count &&
                  batch->records[i].volume < batch->volume_count);
        put++;
        items[n].verdict = (enum verdict)(items[n].hash[0] % 3);
    }
    return 0;
}

int store_outbox_put(struct store *store, const void *body, size_t size)
{
    CHECK(begun && size);
    return 0;
}

int store_commit(struct store *store)
{
    CHECK(begun && !committed++);
    return 0;
}

void store_rollback(struct store *store)
{
    CHECK(begun && !committed);
    rolled_back++;
    begun = 0; /* a body is tried again as one batch */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t zstd[] = {0x28, 0xb5, 0x2f, 0xfd}, gzip[] = {0x1f, 0x8b};
    struct identity who = {.node = "n1"};
    struct answer answer = {.status = 0};
    enum encoding encoding = ENCODING_NONE;

    if (size >= sizeof(zstd) && memcmp(data, zstd, sizeof(zstd)) == 0)
        encoding = ENCODING_ZSTD;
    else if (size >= sizeof(gzip) && memcmp(data, gzip, sizeof(gzip)) == 0)
        encoding = ENCODING_GZIP;
    begun = put = committed = rolled_back = 0;
    ingest(NULL, &who, encoding, data, size, &answer);
    CHECK((answer.status == 200) == (committed == 1));
    CHECK(answer.status != 200 || answer.batches + answer.duplicates == put);
    CHECK(answer.status == 200 || *answer.why);
    CHECK(committed || !begun);
    return 0;
}
