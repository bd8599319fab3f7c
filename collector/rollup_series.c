/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/rollup_series.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int append(struct rolled *rolled, const struct rolled_key *key, uint32_t hash)
{
    struct rolled_series *series;

    if (lookup_reserve(&rolled->index))
        return -ENOMEM;
    if (rolled->count == rolled->capacity) {
        uint32_t capacity = rolled->capacity ? 2 * rolled->capacity : 1024;
        struct rolled_series *grown = reallocarray(rolled->series, capacity, sizeof(*grown));

        if (!grown)
            return -ENOMEM;
        rolled->series = grown;
        rolled->capacity = capacity;
    }
    series = &rolled->series[rolled->count];
    *series = (struct rolled_series){.key = *key};
    series->record.op = (enum operation)key->op;
    lookup_insert(&rolled->index, hash, rolled->count++);
    return 0;
}

int rolled_add(struct rolled *rolled, const struct rolled_key *key, const struct record *record)
{
    uint32_t hash = lookup_hash(key, sizeof(*key)), cursor = hash, position;
    int err;

    while (lookup_next(&rolled->index, hash, &cursor, &position)) {
        struct rolled_series *series = &rolled->series[position];

        if (memcmp(&series->key, key, sizeof(*key)) != 0)
            continue;
        err = record_add(&series->record, record);
        if (err != -ERANGE)
            return err;
    }
    err = append(rolled, key, hash);
    return err ? err : record_add(&rolled->series[rolled->count - 1].record, record);
}

void rolled_clear(struct rolled *rolled)
{
    for (uint32_t i = 0; i < rolled->count; i++)
        record_clear(&rolled->series[i].record);
    free(rolled->series);
    lookup_clear(&rolled->index);
    *rolled = (struct rolled){.series = NULL};
}
