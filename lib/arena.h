/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory that is given back all at once: the strings and tables of a batch. A zeroed struct is an empty
 * arena. Not thread safe.
 */
#ifndef UNBLEND_LIB_ARENA_H
#define UNBLEND_LIB_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block *head;
};

/* Zeroed memory, aligned for any type; NULL when there is none left. */
void *arena_alloc(struct arena *arena, size_t size);

/* A copy of s; NULL when there is no memory. */
char *arena_strdup(struct arena *arena, const char *s);

/* Gives everything back. */
void arena_clear(struct arena *arena);

#endif
