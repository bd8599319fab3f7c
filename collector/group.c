/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/group.h"

int group_read(struct group *group, const struct identity *who, const char *line, size_t size, struct answer *answer)
{
    struct store_item *item = &group->items[group->count];
    int err;

    *item = (struct store_item){.batch = NULL};
    err = ingest_read(who, line, size, item, answer);
    if (err || !item->batch)
        return err;
    group->answers[group->count] = answer;
    group->lines[group->count] = answer->line;
    group->sizes[group->count++] = size;
    group->bytes += size;
    return 0;
}

int group_put(struct store *store, struct group *group)
{
    int err = 0;

    if (group->count && !group->begun) {
        err = store_begin(store);
        group->begun = !err;
    }
    if (!err && group->count)
        err = store_put(store, group->items, group->count);
    for (unsigned i = 0; i < group->count && !err; i++) {
        struct answer *answer = group->answers[i];

        if (answer->status != 200)
            continue;
        answer->line = group->lines[i];
        err = ingest_note(store, &group->items[i], answer);
    }
    group->lines_put += group->count;
    group_clear(group);
    return err;
}

void group_cut(struct group *group, unsigned count)
{
    while (group->count > count) {
        group->count--;
        group->bytes -= group->sizes[group->count];
        store_item_clear(&group->items[group->count]);
    }
}
