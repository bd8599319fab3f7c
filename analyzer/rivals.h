/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which of the profiles that were found might as well be others. */
#ifndef UNBLEND_ANALYZER_RIVALS_H
#define UNBLEND_ANALYZER_RIVALS_H

#include "analyzer/fitting.h"

/* Says so: `contested` and `rival` of their parts. 0 or -ENOMEM. */
int rivals_find(struct fitting *fitting);

#endif
