/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/watched.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/param.h>

#include "lib/floor_div.h"
#include "lib/flow.h"
#include "lib/vector.h"

int watched_add(struct watched *watched, int64_t from, int64_t last)
{
    struct stretch *end;

    /* What comes late closes the holes behind its beginning. */
    while (watched->count > 1 && from <= watched->list[watched->count - 2].last + 1) {
        last = MAX(last, watched->list[watched->count - 1].last);
        watched->count--;
    }
    end = watched->count ? &watched->list[watched->count - 1] : NULL;
    if (end && (from <= end->last + 1 || watched->count == WATCHED_MAX)) {
        end->from = MIN(end->from, from);
        end->last = MAX(end->last, last);
        return 0;
    }
    if (vector_grow((void **)&watched->list, &watched->capacity, watched->count, sizeof(*watched->list)))
        return -ENOMEM;
    watched->list[watched->count++] = (struct stretch){from, last};
    return 0;
}

/* The first stretch that ends at that slot or behind it. */
static uint32_t find(const struct watched *watched, int64_t slot)
{
    uint32_t low = 0, high = watched->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (watched->list[middle].last < slot)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool watched_has_hole(const struct watched *watched, int64_t from, int64_t last)
{
    uint32_t at = find(watched, from);

    if (at == watched->count)
        return false; /* behind all of them */
    return (at > 0 && from < watched->list[at].from) || (at + 1 < watched->count && last > watched->list[at].last);
}

int64_t watched_cut(const struct watched *watched, int64_t slots, int64_t first, int64_t end)
{
    int64_t cut = 0, next = first; /* the first window that is not counted yet */

    for (uint32_t i = 1; i < watched->count; i++) {
        int64_t from = MAX(floor_div(watched->list[i - 1].last + 1, slots), next);
        int64_t last = MIN(floor_div(watched->list[i].from - 1, slots), end);

        if (from > last)
            continue;
        cut += last - from + 1;
        next = last + 1;
    }
    return cut;
}

double watched_s(const struct watched *watched, double from_s, double end_s)
{
    const double slot_s = FLOW_SLOT_MS / 1e3;
    double sum = fmax(end_s - from_s, 0);

    for (uint32_t i = 1; i < watched->count; i++) {
        double hole_s = fmax((double)(watched->list[i - 1].last + 1) * slot_s, from_s);

        sum -= fmax(fmin((double)watched->list[i].from * slot_s, end_s) - hole_s, 0);
    }
    return sum;
}

void watched_clear(struct watched *watched)
{
    free(watched->list);
    *watched = (struct watched){0};
}
