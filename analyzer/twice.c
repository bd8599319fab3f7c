/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/twice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/vector.h"

/* Numbers without a hole. */
struct run {
    uint64_t first, last;
};

/* What one input holds of one stream. */
struct told_stream {
    const char *cluster, *node, *stream;
    unsigned input;
    struct run *runs; /* in their order, with a hole between any two */
    uint32_t run_count, run_capacity;
};

/* The first run that ends at that number or behind it. */
static uint32_t find_run(const struct told_stream *told, uint64_t seq)
{
    uint32_t low = 0, high = told->run_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (told->runs[middle].last < seq)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool has(const struct told_stream *told, uint64_t seq)
{
    uint32_t at = find_run(told, seq);

    return at < told->run_count && told->runs[at].first <= seq;
}

static int note(struct told_stream *told, uint64_t seq)
{
    uint32_t at = find_run(told, seq);
    bool after = at > 0 && told->runs[at - 1].last + 1 == seq;
    bool before = at < told->run_count && told->runs[at].first == seq + 1;

    if (after && before) {
        told->runs[at - 1].last = told->runs[at].last;
        told->run_count--;
        memmove(&told->runs[at], &told->runs[at + 1], (told->run_count - at) * sizeof(*told->runs));
    } else if (after) {
        told->runs[at - 1].last = seq;
    } else if (before) {
        told->runs[at].first = seq;
    } else if (told->run_count < TWICE_RUNS_MAX && !has(told, seq)) {
        if (vector_grow((void **)&told->runs, &told->run_capacity, told->run_count, sizeof(*told->runs)))
            return -ENOMEM;
        memmove(&told->runs[at + 1], &told->runs[at], (told->run_count - at) * sizeof(*told->runs));
        told->runs[at] = (struct run){seq, seq};
        told->run_count++;
    }
    return 0;
}

static int add_stream(struct twice *twice, unsigned input, const struct batch *batch, uint32_t hash)
{
    struct told_stream *told;

    if (vector_reserve((void **)&twice->streams, &twice->capacity, twice->count, sizeof(*told)) ||
        lookup_reserve(&twice->index))
        return -ENOMEM;
    told = &twice->streams[twice->count];
    told->cluster = arena_strdup(&twice->arena, batch->cluster);
    told->node = arena_strdup(&twice->arena, batch->node);
    told->stream = arena_strdup(&twice->arena, batch->stream);
    told->input = input;
    if (!told->cluster || !told->node || !told->stream)
        return -ENOMEM;
    lookup_insert(&twice->index, hash, twice->count++);
    return 0;
}

int twice_look(struct twice *twice, unsigned input, const struct batch *batch, unsigned *other)
{
    struct told_stream *own = NULL;
    uint32_t hash, cursor, at;
    int err;

    if (!batch->stream || !*batch->stream)
        return 0;
    cursor = hash = lookup_hash(batch->stream, strlen(batch->stream));
    while (lookup_next(&twice->index, hash, &cursor, &at)) {
        struct told_stream *told = &twice->streams[at];

        if (strcmp(told->stream, batch->stream) != 0 || strcmp(told->node, batch->node) != 0 ||
            strcmp(told->cluster, batch->cluster) != 0)
            continue;
        if (told->input == input) {
            own = told;
        } else if (has(told, batch->seq)) {
            *other = told->input;
            return 1;
        }
    }
    if (!own) {
        err = add_stream(twice, input, batch, hash);
        if (err)
            return err;
        own = &twice->streams[twice->count - 1];
    }
    return note(own, batch->seq);
}

void twice_clear(struct twice *twice)
{
    for (uint32_t i = 0; i < twice->count; i++)
        free(twice->streams[i].runs);
    free(twice->streams);
    lookup_clear(&twice->index);
    arena_clear(&twice->arena);
    *twice = (struct twice){0};
}
