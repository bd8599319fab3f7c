/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What requests ask of the database, in the threads of a pool. Their connections sleep meanwhile, and are woken at the
 * end with an answer, or with an identity where one was asked for.
 */
#ifndef UNBLEND_COLLECTOR_REQUEST_TASK_H
#define UNBLEND_COLLECTOR_REQUEST_TASK_H

#include <stdatomic.h>

#include "collector/request.h"

/* Whether the database answers. */
void request_check(struct task *task, struct store *store);

/* Whose the tokens of many are, in one question. */
void request_identify_together(struct task *first, struct store *store);

/* One body, or many that wait in one transaction. */
void request_store(struct task *task, struct store *store);
void request_store_together(struct task *first, struct store *store);

/* A token for a node that has none of its own yet. */
void request_join(struct task *task, struct store *store);

/* Its connection goes on; the request is not its caller's any more. */
void request_wake(struct request *request);

/* Where the hash of its token is remembered as one that was good, if that is *part there. */
atomic_uint_fast64_t *request_known_place(struct request *request, uint64_t *part);

#endif
