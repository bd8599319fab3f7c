/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/platform_table.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/vector.h"

#define SECOND_NS 1e9

int platform_refuse(struct platform_table *table, const char *format, ...)
{
    va_list args;
    int used = snprintf(table->why, table->size, "line %u: ", table->line);

    va_start(args, format);
    if (used > 0 && (size_t)used < table->size)
        vsnprintf(table->why + used, table->size - (size_t)used, format, args);
    va_end(args);
    return -EBADMSG;
}

void platform_table_clear(struct platform_table *table)
{
    free(table->rows);
    lookup_clear(&table->index);
}

static int find_row(struct platform_table *table, const char *volume, enum request_kind request,
                    struct platform_row **out)
{
    uint32_t hash = lookup_hash(volume, strlen(volume)) + request, cursor = hash, at;

    if (vector_reserve((void **)&table->rows, &table->capacity, table->count, sizeof(*table->rows)) ||
        lookup_reserve(&table->index))
        return -ENOMEM;
    while (lookup_next(&table->index, hash, &cursor, &at))
        if (table->rows[at].request == request && strcmp(table->rows[at].volume, volume) == 0) {
            *out = &table->rows[at];
            return 0;
        }
    if (table->count == PLATFORM_ROWS_MAX) {
        platform_refuse(table, "more than %d volumes and requests", PLATFORM_ROWS_MAX);
        return -EBADMSG;
    }
    lookup_insert(&table->index, hash, table->count);
    *out = &table->rows[table->count++];
    **out = (struct platform_row){
        .layer = LAYER_PLATFORM, .volume = volume, .fstype = "platform", .shared = true, .request = request};
    return 0;
}

int platform_add(struct platform_table *table, const char *volume, enum request_kind request,
                 enum platform_value kind, double value)
{
    double number = kind == PLATFORM_QUEUE || kind == PLATFORM_SERVICE ? value * SECOND_NS : value;
    struct platform_row *row = NULL;
    uint64_t *sum;
    int err;

    if (!(number >= 0) || number >= 9e18)
        return platform_refuse(table, "%g is no count", value);
    err = find_row(table, volume, request, &row);
    if (err)
        return err;
    sum = kind == PLATFORM_OPS      ? &row->ops
          : kind == PLATFORM_BYTES  ? &row->bytes
          : kind == PLATFORM_ERRORS ? &row->errors
          : kind == PLATFORM_QUEUE  ? &row->queue_ns
                                    : &row->service_ns;
    row->known |= kind == PLATFORM_OPS      ? STATION_OPS
                  : kind == PLATFORM_BYTES  ? STATION_BYTES
                  : kind == PLATFORM_ERRORS ? STATION_ERRORS
                  : kind == PLATFORM_QUEUE  ? STATION_QUEUE
                                            : STATION_SERVICE;
    row->parts[kind]++;
    *sum = *sum + (uint64_t)number > INT64_MAX ? INT64_MAX : *sum + (uint64_t)number;
    return 0;
}

enum request_kind platform_request(const char *word)
{
    static const struct {
        const char *word;
        enum request_kind request;
    } words[] = {
        {"read", REQUEST_READ},         {"reads", REQUEST_READ},         {"rd", REQUEST_READ},
        {"write", REQUEST_WRITE},       {"writes", REQUEST_WRITE},       {"written", REQUEST_WRITE},
        {"wr", REQUEST_WRITE},          {"flush", REQUEST_FLUSH},        {"sync", REQUEST_FLUSH},
        {"fsync", REQUEST_FLUSH},       {"commit", REQUEST_FLUSH},       {"discard", REQUEST_DISCARD},
        {"trim", REQUEST_DISCARD},      {"metadata", REQUEST_METADATA},  {"meta", REQUEST_METADATA},
    };

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (strcmp(words[i].word, word) == 0)
            return words[i].request;
    return REQUEST_ALL;
}

enum platform_value platform_unit(const char *word)
{
    static const struct {
        const char *word;
        enum platform_value unit;
    } words[] = {
        {"bytes", PLATFORM_BYTES},    {"ops", PLATFORM_OPS},         {"operations", PLATFORM_OPS},
        {"requests", PLATFORM_OPS},   {"ios", PLATFORM_OPS},         {"errors", PLATFORM_ERRORS},
        {"failures", PLATFORM_ERRORS}, {"seconds", PLATFORM_SERVICE}, {"queue", PLATFORM_QUEUE},
        {"wait", PLATFORM_QUEUE},
    };

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (strcmp(words[i].word, word) == 0)
            return words[i].unit;
    return PLATFORM_NONE;
}
