/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why a profile was named: sentences with numbers. */
#ifndef UNBLEND_ANALYZER_EVIDENCE_H
#define UNBLEND_ANALYZER_EVIDENCE_H

#include "analyzer/catalogue.h"
#include "analyzer/part.h"
#include "analyzer/profile_list.h"

/* Appends a sentence. 0 or -ENOMEM. */
int evidence_add(struct profile_share *share, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Describes a pattern's part; profile is NULL for unknown. 0 or -ENOMEM. */
int evidence_of_part(const struct part *part, const struct profile *profile,
                     struct profile_share *share);

#endif
