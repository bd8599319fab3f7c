/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who serves others' files by lseek and read or write seeks before each transfer (an SFTP server does), whatever it is for:
 * that tells nothing of what its clients do, so such seeks are left out, and go with the transfers again.
 */
#ifndef UNBLEND_ANALYZER_SEEKS_H
#define UNBLEND_ANALYZER_SEEKS_H

#include "analyzer/catalogue.h"
#include "analyzer/part.h"

/* There are as many seeks as reads and writes together, and some of both. */
bool seeks_go_with_transfers(const struct tally *tally);

/* The tally without them; it shares what it points to. */
struct tally seeks_left_out(const struct tally *tally);

/* Adds a tally's seeks to parts[count], by what transfers each has more than before; NULL: than none. */
void seeks_add(const struct tally *tally, const struct part *before, struct part *parts, uint32_t count);

#endif
