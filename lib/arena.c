/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The first block is small, as most arenas are; each further one is twice as large, up to that. */
#define FIRST_SIZE 1024
#define BLOCK_SIZE (16 * 1024)

struct arena_block {
    struct arena_block *next;
    size_t used;
    size_t size;
    alignas(max_align_t) char data[];
};

void *arena_alloc(struct arena *arena, size_t size)
{
    struct arena_block *block = arena->head;
    void *memory;

    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
    if (!block || block->size - block->used < size) {
        size_t room = !block ? FIRST_SIZE : block->size < BLOCK_SIZE / 2 ? 2 * block->size : BLOCK_SIZE;

        if (room < size)
            room = size;
        block = calloc(1, sizeof(*block) + room);
        if (!block)
            return NULL;
        block->size = room;
        block->next = arena->head;
        arena->head = block;
    }
    memory = block->data + block->used;
    block->used += size;
    return memory;
}

char *arena_strdup(struct arena *arena, const char *s)
{
    size_t size = strlen(s) + 1;
    char *copy = arena_alloc(arena, size);

    return copy ? memcpy(copy, s, size) : NULL;
}

void arena_clear(struct arena *arena)
{
    while (arena->head) {
        struct arena_block *next = arena->head->next;

        free(arena->head);
        arena->head = next;
    }
}
