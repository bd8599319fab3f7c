/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stations in the codec; the database keeps the same array. */
#ifndef UNBLEND_LIB_CODEC_STATION_H
#define UNBLEND_LIB_CODEC_STATION_H

#include <jansson.h>

#include "lib/codec.h"

#define CODEC_STATIONS_MAX 20000 /* more in a batch are refused */

/* The array "storage"; NULL without memory. */
json_t *codec_stations(const struct batch *batch);

/* Reads the member "storage" of an object, if there is any. 0, -ENOMEM, or -EBADMSG with the error filled in. */
int codec_stations_decode(struct batch *batch, struct codec_error *error, const json_t *root);

#endif
