/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens that no section of a plan does on its way. What is read and written in a mixture of sizes, or anywhere in a
 * file, has one file for all, which is opened once a section; so files of the sizes that were opened are opened and
 * closed besides.
 */
#ifndef UNBLEND_ANALYZER_EXPORT_OPENING_H
#define UNBLEND_ANALYZER_EXPORT_OPENING_H

#include "analyzer/export/plan.h"

/* sizes: of the files that were opened. 0 or -ENOMEM. */
int opening_add(struct plan *plan, const struct histogram *sizes);

#endif
