/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In what pieces a part's bytes move, as its evidence says: sizes that are known to a bucket are told so that together
   they have the bytes that are known, and none is larger than the largest must have been. */
#ifndef UNBLEND_ANALYZER_PIECES_H
#define UNBLEND_ANALYZER_PIECES_H

#include "analyzer/profile_list.h"
#include "lib/bucket.h"

/* "276 reads move 801 MiB in pieces of about 115 B to 12.5 KiB, ...": what are "read"s or "write"s, so many, by bucket
   and in bytes. Nothing for those that moved nothing. 0 or -ENOMEM. */
int pieces_mention(const char *what, double transfers, const double sizes[BUCKET_COUNT], double bytes,
                   struct profile_share *share);

#endif
