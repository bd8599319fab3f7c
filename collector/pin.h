/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Spans of time whose raw rows are not dropped (retention.h). */
#ifndef UNBLEND_COLLECTOR_PIN_H
#define UNBLEND_COLLECTOR_PIN_H

#include "collector/db.h"

/* Pins the raw rows of a span, as far as they are there: `kept` is the time from which on they are, and "" when none is
   left. Times are RFC 3339 texts or others that PostgreSQL reads. Results of db.h. */
int pin_rows(struct db *db, const char *since, const char *until, char *kept, size_t size);

/* Takes away the pins that lie inside the span; *count of them. */
int pin_release(struct db *db, const char *since, const char *until, int64_t *count);

#endif
