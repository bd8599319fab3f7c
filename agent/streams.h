/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which stream a place in the spool belongs to, and the number it has there: places from a stream's first on count
 * up from 1. Kept in DIR/streams. Not thread safe.
 */
#ifndef UNBLEND_AGENT_STREAMS_H
#define UNBLEND_AGENT_STREAMS_H

#include "agent/spool_disk.h"

struct stream {
    char name[33];
    uint64_t first; /* place */
};

struct streams {
    struct stream *list; /* ascending by first; the last one is ours */
    unsigned count;
};

/* What processes before us wrote, also in the way of before there was DIR/streams. 0 or -ENOMEM. */
int streams_load(struct streams *streams, const struct spool_disk *disk);
int streams_save(const struct streams *streams, const struct spool_disk *disk);
void streams_free(struct streams *streams);

/* Takes a new stream for places from first on. 0, -ENOMEM or -EIO. */
int streams_begin(struct streams *streams, uint64_t first);

/* Forgets those that have ended before that place. */
void streams_trim(struct streams *streams, uint64_t oldest);

/* The stream of a place; NULL when it is not known. */
const struct stream *streams_find(const struct streams *streams, uint64_t place);

/* A stream that is made of a batch: equal for equal batches, and for no others. */
void streams_derive(const void *data, size_t size, char name[33]);

#endif
