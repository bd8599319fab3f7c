/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who packs reads small files and writes what he has read into large ones, and who copies by a server reads and writes other
 * sizes: in what nobody tells apart that looks like a reader beside somebody who saves. But both move the same bytes.
 */
#ifndef UNBLEND_ANALYZER_REMAKING_H
#define UNBLEND_ANALYZER_REMAKING_H

#include "analyzer/catalogue.h"
#include "analyzer/part.h"

/*
 * Makes one part of two, by profile in the catalogue's order, of which a profile says that it is made of them, where one
 * reads as many bytes as the other writes into few files, nothing is forced to disk or moved into place, and those who wrote
 * in the tally have read as much. before: parts that were there already, which stay as they are; NULL: none. Whether it did.
 */
bool remaking_join(const struct catalogue *catalogue, const struct tally *tally, const struct part *before,
                   struct part *parts);

/* Reads and writes of a tally move the same bytes, as much as they would if all of them were one who packs. */
bool remaking_keeps_bytes(const struct tally *tally);

#endif
