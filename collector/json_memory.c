/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/json_memory.h"

#include <jansson.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define BLOCK (256u << 10) /* bytes: a common batch fits into the first */

struct block {
    struct block *next;
    size_t used, size;
    alignas(max_align_t) char data[];
};

static pthread_key_t first_key;
static bool in_use;
static _Thread_local struct block *first, *head;
static _Thread_local bool begun;

static struct block *add_block(size_t size)
{
    struct block *block = malloc(sizeof(*block) + size);

    if (block)
        *block = (struct block){.size = size};
    return block;
}

static void *take(size_t size)
{
    void *memory;

    if (!begun)
        return malloc(size);
    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
    if (head->size - head->used < size) {
        struct block *block = add_block(size > BLOCK ? size : BLOCK);

        if (!block)
            return NULL;
        block->next = head;
        head = block;
    }
    memory = head->data + head->used;
    head->used += size;
    return memory;
}

static void give_back(void *memory)
{
    if (!begun)
        free(memory);
}

void json_memory_use(void)
{
    in_use = pthread_key_create(&first_key, free) == 0;
    if (in_use)
        json_set_alloc_funcs(take, give_back);
}

void json_memory_begin(void)
{
    if (!in_use)
        return;
    if (!first) {
        first = add_block(BLOCK);
        if (first && pthread_setspecific(first_key, first)) {
            free(first);
            first = NULL;
        }
    }
    head = first;
    begun = first;
}

void json_memory_end(void)
{
    while (begun && head != first) {
        struct block *next = head->next;

        free(head);
        head = next;
    }
    if (begun)
        head->used = 0;
    begun = false;
}
