/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the built-in catalogue makes of batches of made-up operations. */
#ifndef UNBLEND_TESTS_CLASSIFIED_H
#define UNBLEND_TESTS_CLASSIFIED_H

#include "analyzer/classify.h"
#include "tests/unit/history.h"

/* The built-in catalogue, from a group's classified_load() to its classified_unload(). */
extern struct catalogue classified_by;
int classified_load(void **state);
int classified_unload(void **state);

/* The profiles of the batch's one job, with intervals if draws; frees the batch. Release with profile_list_clear(). */
void classified(struct batch *batch, bool draws, struct profile_list *list);
/* The same of several, in their order. */
void classified_each(struct batch *const *batches, unsigned count, bool draws, struct profile_list *list);

/* Demands that nearly all of the batch's one job is that pattern; frees the batch. */
void classified_as(struct batch *batch, const char *pattern);

/* Operations of a sum: what succeeded; the last has a count of 0. Of opens, the size of the file. */
struct counted {
    enum operation op;
    uint64_t size, count;
};

/* A batch of them, of the job "j", without processes. That share of the reads that moved something jumps, a third of these
 * ahead; of so many stats it is known what they are of. */
struct batch *classified_sum(const struct counted *counted, double jumps, uint64_t of_open, uint64_t by_name);

/* A pattern's; NULL when it is none of them. */
const struct profile_share *classified_find(const struct profile_list *list, const char *pattern);

/* A pattern's share of the operations, and of the bytes; 0 when it is none of them. */
double classified_ops(const struct profile_list *list, const char *pattern);
double classified_bytes(const struct profile_list *list, const char *pattern);

/* Whether its evidence says that somewhere. */
bool classified_says(const struct profile_share *share, const char *words);

/* Demands that all shares, of patterns and of pipelines, add up to 1, and that each has a confidence and evidence. */
void classified_adds_up(const struct profile_list *list);

#endif
