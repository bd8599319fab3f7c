/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two profiles at once. */
#ifndef UNBLEND_ANALYZER_PAIRING_H
#define UNBLEND_ANALYZER_PAIRING_H

#include "analyzer/fitting.h"

/* Where much is not explained, adds the two profiles to the active ones that explain most together, of those that explain
   something alone: there, each of them may have taken too much of what is the other's to be like its recipes. 1 if there
   were two, 0 or -ENOMEM. */
int pairing_better(struct fitting *fitting);

#endif
