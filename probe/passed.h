/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What processes take from the network (TCP) -> records of what they write. The thread that receives need not be the one
 * that writes (downloads in parts, event loops with helpers), so this is known by process: which of the bytes are the
 * same nobody sees, only how many came in while so many went out.
 */
#ifndef UNBLEND_PROBE_PASSED_H
#define UNBLEND_PROBE_PASSED_H

#include <stdint.h>

#include "lib/record.h"
#include "probe/tables.h"

struct passed;

/* The tables must outlive it. 0 or -ENOMEM. */
int passed_new(struct tables *tables, struct passed **out);
void passed_free(struct passed *passed); /* NULL is fine */
void passed_tidy(struct passed *passed); /* see probe/sparse.h */

/* A process (by its place in the table) has written so many bytes, of which this is the batch's record. 0 or -ENOMEM. */
int passed_write(struct passed *passed, uint32_t process, const struct batch *batch, const struct record *record,
                 uint64_t bytes);

/* What processes that have written had received since they were last asked goes to these records, by their bytes. */
void passed_share(struct passed *passed, struct batch *batch);

/* The process's place is given back. */
void passed_forget(struct passed *passed, uint32_t process);

#endif
