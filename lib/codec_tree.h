/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Trees in the codec. */
#ifndef UNBLEND_LIB_CODEC_TREE_H
#define UNBLEND_LIB_CODEC_TREE_H

#include <jansson.h>

#include "lib/codec.h"

#define CODEC_TREES_MAX 100000 /* more trees in a batch are refused */

/* The array "trees"; NULL without memory. */
json_t *codec_trees(const struct batch *batch);

/* Reads "trees", if there are any. 0, -ENOMEM, or -EBADMSG with the error filled in. */
int codec_trees_decode(struct batch *batch, struct codec_error *error, const json_t *root);

#endif
