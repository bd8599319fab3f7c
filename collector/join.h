/* SPDX-License-Identifier: GPL-2.0-or-later */
/* POST /v1/enroll: a join token for a node's own. */
#ifndef UNBLEND_COLLECTOR_JOIN_H
#define UNBLEND_COLLECTOR_JOIN_H

#include "collector/ingest.h"

#define JOIN_BODY_MAX 4096u /* bytes */

/* {"node": NAME, "cluster": NAME}, cluster may be left out. 0, or -EINVAL with the field and why in the answer
   (400). */
int join_decode(const char *body, size_t size, struct identity *who, struct answer *answer);

/* Makes the exchange, logs it, and says so in the answer; token is set with 200 only. */
void join_exchange(struct store *store, const uint8_t join_hash[SHA256_SIZE], struct identity *who, const char *address,
                   struct answer *answer, char token[TOKEN_DIGITS + 1]);

#endif
