/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/body.h"

#include <errno.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/compress.h"
#include "lib/recording.h"

#define PLAIN_MAX (4u << 20) /* bytes of JSON that a body of many goes up to */

struct lines {
    char *text;
    size_t size;
};

static void lines_clear(struct lines *lines)
{
    free(lines->text);
}

/* A payload's JSON and a newline behind what is there. 0, -ENOMEM, -EFBIG when there is no room, -EBADMSG. */
static int add_line(struct lines *lines, const void *payload, size_t size)
{
    _cleanup_free_ void *json = NULL;
    size_t length;
    char *grown;
    int err = decompress(ENCODING_ZSTD, payload, size, PLAIN_MAX, &json, &length);

    if (err)
        return err;
    if (lines->size + length > PLAIN_MAX)
        return -EFBIG;
    grown = realloc(lines->text, lines->size + length + 1);
    if (!grown)
        return -ENOMEM;
    lines->text = grown;
    memcpy(grown + lines->size, json, length);
    grown[lines->size + length] = '\n';
    lines->size += length + 1;
    return 0;
}

/* As many as there are and fit; those that do not wait for the next body. */
static int gather_lines(struct spool *spool, const void *first, size_t first_size, unsigned most, struct body *body)
{
    _cleanup_(lines_clear) struct lines lines = {NULL, 0};
    int err = add_line(&lines, first, first_size);

    while (!err && body->count < most) {
        _cleanup_free_ void *payload = NULL;
        uint64_t place;
        unsigned wait_ms;
        size_t size;

        if (spool_next(spool, body->places[body->count - 1], &place, &payload, &size, &wait_ms) != 1 ||
            add_line(&lines, payload, size))
            break;
        body->places[body->count++] = place;
    }
    if (err || body->count == 1)
        return err ? err : -EFBIG;
    return compress_zstd(lines.text, lines.size, &body->data, &body->size);
}

int body_gather(struct spool *spool, unsigned most, struct body *out, unsigned *wait_ms)
{
    _cleanup_free_ void *payload = NULL;
    struct body body = {.count = 1};
    size_t size;
    int got = spool_next(spool, 0, &body.places[0], &payload, &size, wait_ms);

    if (got != 1)
        return got;
    if (most > BODY_BATCHES)
        most = BODY_BATCHES;
    if (most < 2 || gather_lines(spool, payload, size, most, &body)) {
        body.count = 1; /* as it lies on the disk */
        body.data = take_pointer(payload);
        body.size = size;
    }
    *out = body;
    return 1;
}
