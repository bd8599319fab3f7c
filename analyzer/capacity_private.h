/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files that keep what analyzer/capacity.h promises; nobody else includes this. Names are borrowed. */
#ifndef UNBLEND_ANALYZER_CAPACITY_PRIVATE_H
#define UNBLEND_ANALYZER_CAPACITY_PRIVATE_H

#include "analyzer/capacity.h"

/* One more entry of a list, with the demand of the load and its limits; none where the load is empty. 0 or -ENOMEM: the
   list is as it was. */
int capacity_add_entry(struct capacity_entry **list, uint32_t *count, const struct load *load,
                       const struct offer *offer, const struct aggregate *totals, struct capacity_entry entry);

/* Demand and limits of a load that is not empty. 0 or -ENOMEM. */
int capacity_fill(const struct load *load, const struct offer *offer, const struct aggregate *totals,
                  struct capacity_entry *entry);

/* How many operations looks have found in flight at once, at most, on shared volumes; of an offer's (NULL: of all). */
double capacity_looked(const struct aggregate *totals, const struct offer *offer);

/* Whether an offer holds all shared volumes. */
bool capacity_all_held(const struct aggregate *totals, const struct offer *offer);

/* The demand on shared volumes by profile and by owner, the most first. profiles: NULL for none. 0 or -ENOMEM: what was
   made of it is the caller's to clear. */
int capacity_divide(const struct aggregate *totals, const struct profile_list *profiles, const struct offer *offer,
                    struct capacity *out);

#endif
