/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A sample on its way into the model: whom its jobs, processes, threads and volumes are there. */
#ifndef UNBLEND_ANALYZER_TOP_TAKING_H
#define UNBLEND_ANALYZER_TOP_TAKING_H

#include "analyzer/top/model.h"

/* Working memory of one sample. */
struct taking {
    struct model *model;
    const struct batch *batch;
    struct entity **jobs, **processes, **threads, **volumes; /* by index of the batch */
    struct entity **rests[2];                                /* by job: of processes, of threads */
    bool by_thread;
    uint32_t *next;                                        /* of a record: the entity's next one, plus one */
    uint32_t *head;                                        /* of an entity's place: its first record, plus one */
    bool *counts;                                          /* by volume: the filter lets it through */
    struct dense size, latency_ns;
};

/* Each makes or finds the entities of one of the batch's tables. 0 or -ENOMEM. */
int taking_jobs(struct taking *t);
int taking_processes(struct taking *t); /* after the jobs */
int taking_volumes(struct taking *t);

/* It is in this sample, of which nothing has been added up yet. */
void taking_list(const struct model *model, struct entity *entity);

/* Whom a record belongs to, among entities of a kind; NULL without memory. */
struct entity *taking_owner(struct taking *t, enum entity_kind kind, const struct record *record);

#endif
