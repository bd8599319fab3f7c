/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A record's errors by errno as JSON: {"ENOENT": 3, "EIO": 1}. */
#ifndef UNBLEND_LIB_CODEC_ERRORS_H
#define UNBLEND_LIB_CODEC_ERRORS_H

#include <jansson.h>

#include "lib/histogram.h"

/* A new object, the caller's; NULL without memory. */
json_t *codec_errors_encode(const struct histogram *codes);

/* Adds them to a histogram. 0, -ENOMEM, or -EBADMSG for what is no such object. */
int codec_errors_decode(const json_t *object, struct histogram *codes);

#endif
