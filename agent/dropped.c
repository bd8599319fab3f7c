/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/dropped.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/codec.h"
#include "lib/recording.h"

#define FILE_NAME "dropped"
#define TELL_MAX  256 /* ranges a batch */

struct dropped_entry {
    struct dropped range; /* stream and why point into this entry */
    char stream[33];
    char why[16];
    uint64_t carrier; /* 0: none yet */
    bool alone;       /* does not join its neighbours */
};

static void point(struct dropped_entry *entry)
{
    entry->range.stream = entry->stream;
    entry->range.why = entry->why;
}

/* The list must tell of all: so when there are more ranges than a batch may carry, they join all the same. */
static bool joins(const struct dropped_list *list, const struct dropped_entry *entry, const struct dropped *range,
                  bool maybe_sent)
{
    return !entry->carrier && entry->range.last + 1 == range->first && strcmp(entry->stream, range->stream) == 0 &&
           strcmp(entry->why, range->why) == 0 && ((!maybe_sent && !entry->alone) || list->count >= TELL_MAX);
}

static bool holds(const struct dropped_entry *entry, const struct dropped *range)
{
    return entry->range.first <= range->first && range->last <= entry->range.last &&
           strcmp(entry->stream, range->stream) == 0;
}

static void join(struct dropped_entry *entry, const struct dropped *range)
{
    struct dropped *to = &entry->range;

    to->last = range->last;
    to->ops = to->ops == DROPPED_UNKNOWN || range->ops == DROPPED_UNKNOWN ? DROPPED_UNKNOWN : to->ops + range->ops;
    if (range->start_ns && (!to->start_ns || range->start_ns < to->start_ns))
        to->start_ns = range->start_ns;
    if (range->end_ns > to->end_ns)
        to->end_ns = range->end_ns;
}

int dropped_add(struct dropped_list *list, const struct dropped *range, bool maybe_sent)
{
    struct dropped_entry *entry;

    for (uint32_t i = 0; i < list->count; i++)
        if (holds(&list->entries[i], range))
            return 0;
    for (uint32_t i = 0; i < list->count; i++)
        if (joins(list, &list->entries[i], range, maybe_sent)) {
            join(&list->entries[i], range);
            return 0;
        }
    if (list->count == list->capacity) {
        uint32_t capacity = list->capacity ? list->capacity * 2 : 16;
        struct dropped_entry *grown = reallocarray(list->entries, capacity, sizeof(*grown));

        if (!grown)
            return -ENOMEM;
        list->entries = grown;
        list->capacity = capacity;
        for (uint32_t i = 0; i < list->count; i++)
            point(&grown[i]);
    }
    entry = &list->entries[list->count++];
    *entry = (struct dropped_entry){.range = *range, .alone = maybe_sent};
    strncpy(entry->stream, range->stream, sizeof(entry->stream) - 1);
    strncpy(entry->why, range->why, sizeof(entry->why) - 1);
    point(entry);
    return 0;
}

int dropped_load(struct dropped_list *list, const struct spool_disk *disk)
{
    _cleanup_(batch_freep) struct batch *batch = NULL;
    int err = spool_disk_load_frame(disk, FILE_NAME, &batch);

    for (uint32_t i = 0; !err && i < batch->coverage.dropped_count; i++)
        err = dropped_add(list, &batch->coverage.dropped[i], true);
    return err;
}

/* As the coverage of a batch that holds nothing else: one codec, one checksum. */
int dropped_save(const struct dropped_list *list, const struct spool_disk *disk)
{
    uint32_t count = list->count < CODEC_DROPPED_MAX ? list->count : CODEC_DROPPED_MAX;
    _cleanup_free_ struct dropped *ranges = calloc(count + 1, sizeof(*ranges));
    _cleanup_(batch_freep) struct batch *batch = NULL;
    _cleanup_free_ void *frame = NULL;
    size_t size;
    int err = ranges ? batch_new(&batch) : -ENOMEM;

    if (!list->count)
        return err ? err : spool_disk_forget(disk, FILE_NAME);
    for (uint32_t i = 0; !err && i < count; i++)
        ranges[i] = list->entries[i].range;
    if (!err)
        err = batch_dropped(batch, ranges, count);
    if (!err)
        err = frame_encode(batch, &frame, &size);
    return err ? err : spool_disk_save(disk, FILE_NAME, frame, size);
}

void dropped_free(struct dropped_list *list)
{
    free(list->entries);
    *list = (struct dropped_list){0};
}

/* Whether the next batch tells of it: the first TELL_MAX of those that wait. */
static bool is_next(const struct dropped_entry *entry, uint32_t *told)
{
    return !entry->carrier && (*told)++ < TELL_MAX;
}

int dropped_tell(const struct dropped_list *list, struct batch *batch)
{
    struct dropped ranges[TELL_MAX];
    uint32_t count = 0, told = 0;

    for (uint32_t i = 0; i < list->count; i++)
        if (is_next(&list->entries[i], &told))
            ranges[count++] = list->entries[i].range;
    return batch_dropped(batch, ranges, count);
}

void dropped_carried(struct dropped_list *list, uint64_t carrier)
{
    uint32_t told = 0;

    for (uint32_t i = 0; i < list->count; i++)
        if (is_next(&list->entries[i], &told))
            list->entries[i].carrier = carrier;
}

bool dropped_arrived(struct dropped_list *list, uint64_t carrier)
{
    uint32_t kept = 0, before = list->count;

    for (uint32_t i = 0; i < before; i++)
        if (list->entries[i].carrier != carrier) {
            list->entries[kept] = list->entries[i];
            point(&list->entries[kept++]);
        }
    list->count = kept;
    return kept < before;
}

void dropped_again(struct dropped_list *list, uint64_t carrier)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->entries[i].carrier == carrier)
            list->entries[i].carrier = 0;
}
