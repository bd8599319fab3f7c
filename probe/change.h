/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What rows counted in slots that are over, and that nobody has added to a batch yet: a list for each row, oldest first.
 * Latencies are kept by those octaves that have any, mostly one or two, so that a change takes some 40 bytes.
 */
#ifndef UNBLEND_PROBE_CHANGE_H
#define UNBLEND_PROBE_CHANGE_H

#include <stdbool.h>

#include "probe/bpf/abi.h"

/* What a row counted, from one moment to another or from its beginning. */
struct increase {
    uint64_t bytes;
    uint32_t ops; /* wraps */
    uint32_t octave[ABI_OCTAVES]; /* latencies; these wrap, too */
};

/* to = to - less, each at least 0: what was counted twice, as kernel and user space read at different moments, is not
   taken back. */
void increase_subtract(struct increase *to, const struct increase *less);
void increase_add(struct increase *to, const struct increase *more);
bool increase_any(const struct increase *increase); /* whether there is anything in it */

#define CHANGE_WORDS_MAX 17 /* of 8 bytes */

struct changes {
    uint64_t *memory; /* changes, one after the other; [0] is not used. Begun anew when all are gone */
    uint32_t used, room, waiting;
    uint32_t gone[CHANGE_WORDS_MAX + 1]; /* places of those that are gone, by their size; 0: none */
};

/* A row's list; zeros: empty. */
struct change_list {
    uint32_t first, last;
};

void changes_free(struct changes *changes);

/* At the end of a list: that much in the slot that ended at end_ns (CLOCK_MONOTONIC). 0 or -ENOMEM. */
int changes_append(struct changes *changes, struct change_list *list, uint64_t end_ns, const struct increase *increase);

/* The first of a list that is not empty. */
void changes_first(const struct changes *changes, const struct change_list *list, uint64_t *end_ns,
                   struct increase *increase);
void changes_drop_first(struct changes *changes, struct change_list *list);

/* Adds all of a list. */
void changes_add_up(const struct changes *changes, const struct change_list *list, struct increase *to);

#endif
