/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recipes, and profiles, that do not stand beside others: they are left out, and what is left is fitted. */
#ifndef UNBLEND_ANALYZER_DROPPING_H
#define UNBLEND_ANALYZER_DROPPING_H

#include "analyzer/fitting.h"

/* A recipe that asks for much that is not there may have taken what others did. Leaves out the one that has most of
   that, and fits what is left, until all of the profile's part is like its recipes. 0, -ENOMEM, or 1 when it is not
   above the floor. */
int dropping_unlike(struct fitting *fitting, uint32_t profile, double floor);

/* Leaves out, one after the other, those that do not keep their bounds beside what was added, and fits what is left. 0,
   -ENOMEM, or 1 when it is not above the floor. */
int dropping_broken(struct fitting *fitting, uint32_t added, double floor);

/* Both for one that was added: what does not stand beside it, and of it what is unlike. 0, -ENOMEM, or 1 when the rest is not
   above the floor. */
int dropping_for(struct fitting *fitting, uint32_t added, double floor);

/* Fits, and leaves recipes out by which a part in a sum is not sure enough to be named, if it is without them, and if
   no other gets unsure by that. 0 or -ENOMEM. */
int dropping_unsure(struct fitting *fitting);

#endif
