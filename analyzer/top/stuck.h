/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes whose operation has not returned for a second or more. */
#ifndef UNBLEND_ANALYZER_TOP_STUCK_H
#define UNBLEND_ANALYZER_TOP_STUCK_H

#include <jansson.h>

#include "lib/record.h"

/* The one that has waited longest, and how many more there are, in one line; "" for none. */
void stuck_line(const struct batch *batch, char *buffer, size_t size);

/* All of them; NULL without memory. */
json_t *stuck_list(const struct batch *batch);

#endif
