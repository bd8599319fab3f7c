/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/twice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

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

/* How many of a range's numbers those of the run are. */
static uint64_t shared(const struct run *run, uint64_t first, uint64_t last)
{
    return MIN(run->last, last) - MAX(run->first, first) + 1;
}

/* Takes note of a range; *known: how many of its numbers were noted before. 0 or -ENOMEM. */
static int note(struct told_stream *told, uint64_t first, uint64_t last, uint64_t *known)
{
    uint32_t at = find_run(told, first ? first - 1 : 0), end = at;
    struct run joined = {first, last};

    *known = 0;
    for (; end < told->run_count && (!told->runs[end].first || told->runs[end].first - 1 <= last); end++) {
        const struct run *run = &told->runs[end];

        if (run->last >= first && run->first <= last)
            *known += shared(run, first, last);
        joined = (struct run){MIN(joined.first, run->first), MAX(joined.last, run->last)};
    }
    if (end == at) {
        if (told->run_count == TWICE_RUNS_MAX)
            return 0;
        if (vector_grow((void **)&told->runs, &told->run_capacity, told->run_count, sizeof(*told->runs)))
            return -ENOMEM;
        end = at;
        memmove(&told->runs[at + 1], &told->runs[at], (told->run_count++ - at) * sizeof(*told->runs));
    } else {
        memmove(&told->runs[at + 1], &told->runs[end], (told->run_count - end) * sizeof(*told->runs));
        told->run_count -= end - at - 1;
    }
    told->runs[at] = joined;
    return 0;
}

/* Whose numbers they are. */
struct whose {
    const char *cluster, *node, *stream;
};

static int add_stream(struct twice *twice, unsigned input, const struct whose *whose, uint32_t hash)
{
    struct told_stream *told;

    if (vector_reserve((void **)&twice->streams, &twice->capacity, twice->count, sizeof(*told)) ||
        lookup_reserve(&twice->index))
        return -ENOMEM;
    told = &twice->streams[twice->count];
    told->cluster = arena_strdup(&twice->arena, whose->cluster);
    told->node = arena_strdup(&twice->arena, whose->node);
    told->stream = arena_strdup(&twice->arena, whose->stream);
    told->input = input;
    if (!told->cluster || !told->node || !told->stream)
        return -ENOMEM;
    lookup_insert(&twice->index, hash, twice->count++);
    return 0;
}

/* What the input holds of the stream, found or added, and which other input holds that number, too (NULL: none). 0 or
   -ENOMEM. */
static int find_stream(struct twice *twice, unsigned input, const struct whose *whose, uint64_t seq,
                       struct told_stream **own, const struct told_stream **other)
{
    uint32_t hash = lookup_hash(whose->stream, strlen(whose->stream)), cursor = hash, at;
    int err;

    *own = NULL;
    *other = NULL;
    while (lookup_next(&twice->index, hash, &cursor, &at)) {
        struct told_stream *told = &twice->streams[at];

        if (strcmp(told->stream, whose->stream) != 0 || strcmp(told->node, whose->node) != 0 ||
            strcmp(told->cluster, whose->cluster) != 0)
            continue;
        if (told->input == input)
            *own = told;
        else if (has(told, seq))
            *other = told;
    }
    if (*own || *other)
        return 0;
    err = add_stream(twice, input, whose, hash);
    if (!err)
        *own = &twice->streams[twice->count - 1];
    return err;
}

int twice_look(struct twice *twice, unsigned input, const struct batch *batch, unsigned *other)
{
    const struct whose whose = {batch->cluster, batch->node, batch->stream};
    const struct told_stream *elsewhere;
    struct told_stream *own;
    uint64_t known;
    int err;

    if (!batch->stream || !*batch->stream)
        return 0;
    err = find_stream(twice, input, &whose, batch->seq, &own, &elsewhere);
    if (err)
        return err;
    err = elsewhere ? 0 : note(own, batch->seq, batch->seq, &known);
    if (err || (!elsewhere && !known))
        return err;
    *other = elsewhere ? elsewhere->input : input;
    return 1;
}

int twice_dropped(struct twice *twice, const struct batch *batch, const struct dropped *range, uint64_t *known)
{
    const struct whose whose = {batch->cluster, batch->node, range->stream};
    const struct told_stream *elsewhere;
    struct told_stream *own;
    int err = find_stream(twice, 0, &whose, range->first, &own, &elsewhere);

    return err ? err : note(own, range->first, range->last, known);
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
