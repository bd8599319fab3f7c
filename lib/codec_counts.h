/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a record's counts can be of its operations. */
#ifndef UNBLEND_LIB_CODEC_COUNTS_H
#define UNBLEND_LIB_CODEC_COUNTS_H

#include "lib/field.h"
#include "lib/record.h"

/* 0, or -EBADMSG with the first count that is of far more operations than the record has. */
int codec_counts_check(const struct field_place *p, const struct record *record);

#endif
