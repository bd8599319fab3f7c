/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the body of a request (ingest.c) and each batch of it (ingest_batch.c) only. */
#ifndef UNBLEND_COLLECTOR_INGEST_PRIVATE_H
#define UNBLEND_COLLECTOR_INGEST_PRIVATE_H

#include "collector/ingest.h"

/* The answer becomes a refusal: HTTP status, line (0: the whole body), field ("": none) and why. */
void ingest_answer(struct answer *answer, unsigned status, unsigned line, const char *field, const char *why);

#endif
