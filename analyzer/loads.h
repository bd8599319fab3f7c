/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Of who starts up, and then loads what others load as well: what it reads of large files, and all else. A rank of Python
 * imports hundreds of modules before it reads its weights in a few calls.
 */
#ifndef UNBLEND_ANALYZER_LOADS_H
#define UNBLEND_ANALYZER_LOADS_H

#include "lib/record.h"

/*
 * Divides reads into those of large files and the others; bytes, and time by bytes, as far as their sizes tell. 1; 0 where it
 * is not known which they are, or these move less than half of the bytes; or -ENOMEM. The records are to be cleared.
 */
int loads_divide(const struct record *read, struct record *loaded, struct record *others);

#endif
