/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/codec_place.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* An object or an array that is open. */
struct level {
    bool object, named; /* named: the key is the value's that comes */
    const char *key;
    size_t length; /* of the key */
    size_t index;  /* in an array */
};

/* Behind the string that begins at a quote; a cut one ends where the text does. */
static size_t skip_string(const char *json, size_t at, size_t end)
{
    for (at++; at < end && json[at] != '"'; at++)
        at += json[at] == '\\';
    return at < end ? at + 1 : end;
}

static void note_string(struct level *level, const char *json, size_t from, size_t to)
{
    if (!level->object || level->named)
        return;
    level->key = json + from + 1;
    level->length = to - from - 2;
}

static void note_mark(struct level *level, char mark)
{
    if (mark == ':')
        level->named = true;
    if (mark != ',')
        return;
    level->named = false;
    level->length = 0;
    level->index++;
}

static void write_field(const struct level *levels, unsigned depth, char *field, size_t size)
{
    size_t at = 0;

    *field = '\0';
    for (unsigned i = 0; i < depth && at < size; i++) {
        const struct level *level = &levels[i];

        if (level->object)
            at += (size_t)snprintf(field + at, size - at, "%s%.*s", i ? "." : "",
                                   level->length < size ? (int)level->length : (int)size, level->key);
        else if (i + 1 < depth)
            at += (size_t)snprintf(field + at, size - at, "[%zu]", level->index);
    }
    for (char *c = field; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
}

void codec_place(const char *json, size_t position, char *field, size_t size)
{
    struct level levels[CODEC_DEPTH_MAX];
    unsigned depth = 0;

    for (size_t at = 0; at < position; at++) {
        const char c = json[at];

        if ((c == '{' || c == '[') && depth < CODEC_DEPTH_MAX) {
            levels[depth++] = (struct level){.object = c == '{', .key = ""};
        } else if ((c == '}' || c == ']') && depth) {
            depth--;
        } else if (c == '"') {
            size_t end = skip_string(json, at, position);

            if (depth && end - at >= 2)
                note_string(&levels[depth - 1], json, at, end);
            at = end - 1;
        } else if (depth) {
            note_mark(&levels[depth - 1], c);
        }
    }
    write_field(levels, depth, field, size);
}
