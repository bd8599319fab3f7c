/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ledger's usual case, for many batches at once: each is the next one of a stream that was met before, or follows one. One
 * statement moves the streams on and notes the hashes; whatever is not as expected is left to ledger_enter().
 */
#ifndef UNBLEND_COLLECTOR_LEDGER_NEXT_H
#define UNBLEND_COLLECTOR_LEDGER_NEXT_H

#include "collector/dimension_cache.h"
#include "collector/ledger.h"

/* Enters what is next; of it places[i].batch_id is set, of the rest it stays 0, and nothing was done. Results of db.h,
   or -ENOMEM. */
int ledger_next(struct db *db, const struct dimension_cache *cache, const struct store_item *items, unsigned count,
                struct ledger_place *places);

/* Where the batch's stream is, for the next time. */
void ledger_remember(struct dimension_cache *cache, const struct batch *batch, const struct ledger_place *place);

#endif
