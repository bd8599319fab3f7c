/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When a batch begins, without decoding it: that is most of the time of reading one. */
#include "lib/recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/compress.h"

#define HEAD_SIZE 4096 /* what is there comes before the tables */

/* The end of the string that begins at text; NULL when it is cut off. */
static const char *pass_string(const char *text)
{
    for (text++; *text && *text != '"'; text++)
        if (*text == '\\' && !*++text)
            return NULL;
    return *text ? text + 1 : NULL;
}

static const char *pass_blanks(const char *text)
{
    return text + strspn(text, " \t\r\n");
}

/* The number behind a key of the object itself, if the whole of it is there. */
static bool find_number(const char *json, const char *key, int64_t *number)
{
    size_t length = strlen(key);
    unsigned depth = 0;

    for (const char *end; *json; json = end) {
        const char *value;

        end = json + 1;
        depth += *json == '{' || *json == '[';
        depth -= (*json == '}' || *json == ']') && depth;
        if (*json != '"')
            continue;
        end = pass_string(json);
        if (!end)
            return false;
        value = pass_blanks(end);
        if (depth == 1 && *value == ':' && (size_t)(end - json) == length + 2 && strncmp(json + 1, key, length) == 0) {
            char *behind;

            value = pass_blanks(value + 1);
            errno = 0;
            *number = strtoll(value, &behind, 10);
            return !errno && behind > value && (*pass_blanks(behind) == ',' || *pass_blanks(behind) == '}');
        }
    }
    return false;
}

int frame_start(const void *payload, size_t size, int64_t *start_ns)
{
    char head[HEAD_SIZE + 1];
    struct codec_error error;
    struct batch *batch;
    size_t got;
    int err = decompress_start(payload, size, head, HEAD_SIZE, &got);

    if (err)
        return err;
    head[got] = '\0';
    if (strlen(head) == got && find_number(head, "start_ns", start_ns))
        return 0;
    err = frame_decode(payload, size, &batch, &error);
    if (err)
        return err;
    *start_ns = batch->start_ns;
    batch_free(batch);
    return 0;
}
