/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/streams.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "probe/sampler.h"

#define FILE_NAME     "streams"
#define FILE_BEFORE   "stream" /* one stream, from place 1 on */
#define LINE_MAX_     64
#define STREAMS_MAX   1000 /* of processes that left batches behind; those of older ones are not known by name */

static int add(struct streams *streams, const char *name, uint64_t first)
{
    struct stream *grown = reallocarray(streams->list, streams->count + 1, sizeof(*grown));

    if (!grown)
        return -ENOMEM;
    streams->list = grown;
    memcpy(grown[streams->count].name, name, sizeof(grown->name));
    grown[streams->count++].first = first;
    return 0;
}

int streams_load(struct streams *streams, const struct spool_disk *disk)
{
    _cleanup_free_ char *text = malloc(STREAMS_MAX * LINE_MAX_ + 1);
    char name[33], *line, *rest;
    uint64_t first;
    int err = 0;

    if (!text)
        return -ENOMEM;
    if (spool_disk_load(disk, FILE_BEFORE, text, LINE_MAX_) == 0 && sscanf(text, "%32[0-9a-f]", name) == 1 &&
        strlen(name) == 32)
        err = add(streams, name, 1);
    if (spool_disk_load(disk, FILE_NAME, text, STREAMS_MAX * LINE_MAX_ + 1))
        return err;
    for (line = strtok_r(text, "\n", &rest); line && !err; line = strtok_r(NULL, "\n", &rest))
        if (sscanf(line, "%32[0-9a-f] %" SCNu64, name, &first) == 2 && strlen(name) == 32 &&
            (!streams->count || first > streams->list[streams->count - 1].first))
            err = add(streams, name, first);
    return err;
}

int streams_save(const struct streams *streams, const struct spool_disk *disk)
{
    unsigned from = streams->count > STREAMS_MAX ? streams->count - STREAMS_MAX : 0;
    _cleanup_free_ char *text = malloc(STREAMS_MAX * LINE_MAX_);
    size_t size = 0;
    int err;

    if (!text)
        return -ENOMEM;
    for (unsigned i = from; i < streams->count; i++)
        size += (size_t)snprintf(text + size, LINE_MAX_, "%s %" PRIu64 "\n", streams->list[i].name,
                                 streams->list[i].first);
    err = spool_disk_save(disk, FILE_NAME, text, size);
    return err ? err : spool_disk_forget(disk, FILE_BEFORE);
}

void streams_free(struct streams *streams)
{
    free(streams->list);
    *streams = (struct streams){0};
}

int streams_begin(struct streams *streams, uint64_t first)
{
    char name[33];

    if (random_stream(name))
        return -EIO;
    /* One that nothing was made of is not worth keeping. */
    if (streams->count && streams->list[streams->count - 1].first >= first)
        streams->count--;
    return add(streams, name, first);
}

void streams_trim(struct streams *streams, uint64_t oldest)
{
    unsigned ended = 0;

    while (ended + 1 < streams->count && streams->list[ended + 1].first <= oldest)
        ended++;
    if (!ended)
        return; /* of an empty list there is not even a place */
    streams->count -= ended;
    memmove(streams->list, streams->list + ended, streams->count * sizeof(*streams->list));
}

const struct stream *streams_find(const struct streams *streams, uint64_t place)
{
    for (unsigned i = streams->count; i-- > 0;)
        if (streams->list[i].first <= place)
            return &streams->list[i];
    return NULL;
}

/* FNV-1a of 128 bits (Fowler, Noll, Vo). What it is made of has a random stream in it, and nobody to fool. */
void streams_derive(const void *data, size_t size, char name[33])
{
    const unsigned __int128 prime = ((unsigned __int128)1 << 88) + 0x13b;
    unsigned __int128 hash = ((unsigned __int128)0x6c62272e07bb0142 << 64) + 0x62b821756295c58d;
    const unsigned char *byte = data;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ byte[i]) * prime;
    snprintf(name, 33, "%016" PRIx64 "%016" PRIx64, (uint64_t)(hash >> 64), (uint64_t)hash);
}
