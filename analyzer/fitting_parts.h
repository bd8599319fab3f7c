/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the signatures that take part in a fit get of the data. */
#ifndef UNBLEND_ANALYZER_FITTING_PARTS_H
#define UNBLEND_ANALYZER_FITTING_PARTS_H

#include "analyzer/fitting.h"

/* The fit of the active profiles, or (UINT32_MAX: all) of one alone, without what was refused: writes score, amounts,
   and the parts by signature and by profile. 0 or -ENOMEM; 1, and no parts, when its score does not pass the floor. */
int fitting_parts(struct fitting *fitting, uint32_t only, double floor);

#endif
