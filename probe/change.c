/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/change.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 1024 /* words */

struct change {
    uint32_t next;
    uint32_t ops;
    uint64_t bytes;
    uint64_t end_ns;
    uint32_t octaves; /* bit i: one of count[], which stand in that order, is octave i's */
    uint32_t count[];
};

static_assert(ABI_OCTAVES <= 32, "a bit for each octave");
static_assert(sizeof(struct change) + ABI_OCTAVES * sizeof(uint32_t) <= CHANGE_WORDS_MAX * sizeof(uint64_t),
              "there is a size for each change");

/* The difference of two counters that wrap; 0 if the second is ahead. Without a branch: loops become vectors. */
static inline uint32_t grown(uint32_t now, uint32_t before)
{
    uint32_t difference = now - before;

    return difference & ~(uint32_t)((int32_t)difference >> 31);
}

void increase_subtract(struct increase *to, const struct increase *less)
{
    to->ops = grown(to->ops, less->ops);
    to->bytes = (int64_t)(to->bytes - less->bytes) > 0 ? to->bytes - less->bytes : 0;
    for (unsigned i = 0; i < ABI_OCTAVES; i++)
        to->octave[i] = grown(to->octave[i], less->octave[i]);
}

void increase_add(struct increase *to, const struct increase *more)
{
    to->ops += more->ops;
    to->bytes += more->bytes;
    for (unsigned i = 0; i < ABI_OCTAVES; i++)
        to->octave[i] += more->octave[i];
}

bool increase_any(const struct increase *increase)
{
    uint32_t any = increase->ops;

    for (unsigned i = 0; i < ABI_OCTAVES; i++)
        any |= increase->octave[i];
    return any || increase->bytes;
}

static struct change *change_at(const struct changes *changes, uint32_t place)
{
    return (struct change *)(changes->memory + place);
}

void changes_free(struct changes *changes)
{
    free(changes->memory);
    *changes = (struct changes){0};
}

static uint32_t words_of(uint32_t octaves)
{
    size_t bytes = sizeof(struct change) + (unsigned)__builtin_popcount(octaves) * sizeof(uint32_t);

    return (uint32_t)((bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t));
}

/* 0 or -ENOMEM. */
static int make_room(struct changes *changes, uint32_t words)
{
    uint32_t wanted = changes->room ? changes->room * 2 : ROOM_FIRST;
    uint64_t *memory;

    if (changes->used + words <= changes->room)
        return 0;
    memory = wanted > changes->room ? reallocarray(changes->memory, wanted, sizeof(*memory)) : NULL;
    if (!memory)
        return -ENOMEM;
    changes->memory = memory;
    changes->room = wanted;
    return 0;
}

/* A place of that size: one that is free, or the next one. 0: no memory. */
static uint32_t take_place(struct changes *changes, uint32_t words)
{
    uint32_t place = changes->gone[words];

    if (place) {
        changes->gone[words] = change_at(changes, place)->next;
    } else {
        changes->used += !changes->used;
        if (make_room(changes, words))
            return 0;
        place = changes->used;
        changes->used += words;
    }
    changes->waiting++;
    return place;
}

int changes_append(struct changes *changes, struct change_list *list, uint64_t end_ns, const struct increase *increase)
{
    struct change *change;
    uint32_t octaves = 0, place;

    for (unsigned i = 0; i < ABI_OCTAVES; i++)
        octaves |= (uint32_t)(increase->octave[i] != 0) << i;
    place = take_place(changes, words_of(octaves));
    if (!place)
        return -ENOMEM;
    change = change_at(changes, place);
    *change = (struct change){.ops = increase->ops, .bytes = increase->bytes, .end_ns = end_ns, .octaves = octaves};
    for (unsigned i = 0, n = 0; i < ABI_OCTAVES; i++)
        if (octaves & 1u << i)
            change->count[n++] = increase->octave[i];
    if (list->first)
        change_at(changes, list->last)->next = place;
    else
        list->first = place;
    list->last = place;
    return 0;
}

static void unpack(const struct change *change, struct increase *increase)
{
    *increase = (struct increase){.bytes = change->bytes, .ops = change->ops};
    for (unsigned i = 0, n = 0; i < ABI_OCTAVES; i++)
        if (change->octaves & 1u << i)
            increase->octave[i] = change->count[n++];
}

void changes_first(const struct changes *changes, const struct change_list *list, uint64_t *end_ns,
                   struct increase *increase)
{
    const struct change *change = change_at(changes, list->first);

    *end_ns = change->end_ns;
    unpack(change, increase);
}

void changes_drop_first(struct changes *changes, struct change_list *list)
{
    uint32_t place = list->first, *gone;
    struct change *change = change_at(changes, place);

    list->first = change->next;
    gone = &changes->gone[words_of(change->octaves)];
    change->next = *gone;
    *gone = place;
    if (!--changes->waiting) {
        memset(changes->gone, 0, sizeof(changes->gone));
        changes->used = 0;
    }
}

void changes_add_up(const struct changes *changes, const struct change_list *list, struct increase *to)
{
    for (uint32_t at = list->first; at; at = change_at(changes, at)->next) {
        struct increase increase;

        unpack(change_at(changes, at), &increase);
        increase_add(to, &increase);
    }
}
