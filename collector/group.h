/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines that were read and are put into the store's transaction at once. A zeroed struct is empty. */
#ifndef UNBLEND_COLLECTOR_GROUP_H
#define UNBLEND_COLLECTOR_GROUP_H

#include "collector/ingest.h"

#define GROUP_MAX  256          /* lines */
#define GROUP_TEXT (512u << 10) /* bytes of text that are enough for a group: decoded, it takes ten times as much */

struct group {
    struct store_item items[GROUP_MAX];
    struct answer *answers[GROUP_MAX];
    unsigned lines[GROUP_MAX]; /* where they stand in their bodies */
    unsigned count;
    size_t sizes[GROUP_MAX], bytes; /* of their texts */
    unsigned lines_put; /* before these */
    bool begun;   /* the transaction */
};

static inline bool group_is_full(const struct group *group)
{
    return group->count == GROUP_MAX || group->bytes > GROUP_TEXT;
}

/* Reads the line answer->line, and keeps it unless the answer becomes a refusal. 0 or -ENOMEM. */
int group_read(struct group *group, const struct identity *who, const char *line, size_t size, struct answer *answer);

/* Puts all lines and is empty then, whatever happens. 0 with a word in each answer, of which the first refusal stands,
   or what the store says. */
int group_put(struct store *store, struct group *group);

/* Forgets what was read behind the first count lines. */
void group_cut(struct group *group, unsigned count);

static inline void group_clear(struct group *group)
{
    group_cut(group, 0);
}

#endif
