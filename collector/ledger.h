/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which batches of a stream are in the database: every seq below next_seq but for the gaps and what was
 * declared dropped, and the body hashes of the latest LEDGER_WINDOW. Works inside the transaction that writes the data,
 * under a lock on the stream's row, so any number of collectors agree.
 */
#ifndef UNBLEND_COLLECTOR_LEDGER_H
#define UNBLEND_COLLECTOR_LEDGER_H

#include "collector/db.h"
#include "collector/store.h"

#define LEDGER_TRIM_EVERY 64 /* batches of a stream: then hashes that are out of the window go */

struct ledger_place {
    int64_t node_id;
    int64_t stream_id;
    int64_t batch_id; /* of a batch that was entered */
};

/* Enters the batch unless it is there, and what it says was dropped before it. Results of db.h; *place and *verdict
   only on success. */
int ledger_enter(struct db *db, const struct batch *batch, const uint8_t body_hash[SHA256_SIZE],
                 struct ledger_place *place, enum verdict *verdict);

#endif
