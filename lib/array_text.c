/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/array_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/cleanup.h"

char *array_text(const int64_t *numbers, size_t count)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    if (!stream)
        return NULL;
    fputc('{', stream);
    for (size_t i = 0; i < count; i++) {
        if (i)
            fputc(',', stream);
        if (numbers[i] == ARRAY_NULL)
            fputs("null", stream);
        else
            fprintf(stream, "%" PRId64, numbers[i]);
    }
    fputc('}', stream);
    if (fclose(stream)) {
        free(text);
        return NULL;
    }
    return text;
}

char *array_of_bytes(const uint8_t *const *elements, size_t size, size_t count)
{
    static const char digits[] = "0123456789abcdef", begin[] = "\"\\\\x";
    char *text = malloc(count * (sizeof(begin) + 2 * size + 1) + 3), *to = text;

    if (!text)
        return NULL;
    *to++ = '{';
    for (size_t i = 0; i < count; i++) {
        if (i)
            *to++ = ',';
        to = stpcpy(to, begin);
        for (size_t j = 0; j < size; j++) {
            *to++ = digits[elements[i][j] >> 4];
            *to++ = digits[elements[i][j] & 15];
        }
        *to++ = '"';
    }
    strcpy(to, "}");
    return text;
}

/* The number that a text begins with, and how long it is; 0 when there is none. */
static size_t number_at(const char *text, int64_t *number)
{
    char *end;

    if (*text != '-' && (*text < '0' || *text > '9')) {
        *number = ARRAY_NULL;
        return strncasecmp(text, "null", 4) == 0 ? 4 : 0;
    }
    errno = 0;
    *number = strtoll(text, &end, 10);
    return errno ? 0 : (size_t)(end - text);
}

int array_numbers(const char *text, int64_t **numbers, size_t *count)
{
    _cleanup_free_ int64_t *found = NULL;
    size_t most = 1, n = 0;

    for (const char *at = text; *at; at++)
        most += *at == ',';
    found = calloc(most, sizeof(*found));
    if (!found)
        return -ENOMEM;
    for (bool more = strcmp(text, "{}") != 0; more; n++) {
        size_t length = n || *text == '{' ? number_at(++text, &found[n]) : 0;

        text += length;
        more = *text == ',';
        if (!length || (!more && strcmp(text, "}") != 0))
            return -EBADMSG;
    }
    *numbers = take_pointer(found);
    *count = n;
    return 0;
}
