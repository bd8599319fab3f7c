/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The "coverage" of a batch, for lib/codec_decode.c. */
#ifndef UNBLEND_LIB_CODEC_COVERAGE_H
#define UNBLEND_LIB_CODEC_COVERAGE_H

#include <jansson.h>

#include "lib/codec.h"

/* Fills the batch's coverage in from the member of root. 0, -ENOMEM, or -EBADMSG with *error. */
int codec_coverage(struct batch *batch, struct codec_error *error, const json_t *root);

#endif
