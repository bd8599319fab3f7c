/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Profiles, live. The busiest processes are unmixed one after another, as far as a budget of processor time goes, each
 * over what it did in the last half minute or so; jobs and the blend of all are made of their processes' parts.
 */
#ifndef UNBLEND_ANALYZER_TOP_BLEND_H
#define UNBLEND_ANALYZER_TOP_BLEND_H

#include "analyzer/classify.h"
#include "analyzer/feature.h"

struct model;
struct entity;
struct blend;

void blend_free(struct blend *blend); /* NULL is fine */

/* Whether a process that did so much in a sample is looked at from now on. */
bool blend_admits(const struct model *model, const struct entity *entity);
/* Makes the entity one that is looked at. 0 or -ENOMEM. */
int blend_begin(struct model *model, struct entity *entity);
/* Adds a record of the entity's. 0, -ENOMEM or -ERANGE. */
int blend_add(struct blend *blend, const struct record *record);

/* After a sample: unmixes what has changed most, and names everybody's profile. 0 or -ENOMEM. */
int blend_update(struct model *model);

/* An entity's profiles with their evidence, as they are now; empty where nothing is known. 0 or -ENOMEM. */
int blend_explain(const struct model *model, const struct entity *entity, struct profile_list *out);

#endif
