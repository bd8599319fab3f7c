/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Asks the kernel what a choice of flavour rests on. */
#ifndef UNBLEND_PROBE_FACTS_H
#define UNBLEND_PROBE_FACTS_H

#include "probe/flavour.h"

/* measure: also how the system calls of the machine divide, which takes FACTS_WINDOW_MS. What cannot be found out is
   left at its worst. */
void facts_gather(bool measure, struct flavour_facts *facts);

#define FACTS_WINDOW_MS 100

#endif
