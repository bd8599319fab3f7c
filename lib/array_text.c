/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/array_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

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
