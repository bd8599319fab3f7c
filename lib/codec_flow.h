/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Flows in the codec, and their slots as run-length lists: as text "value*times" with a space between two runs, a
 * single value without its times ("0*9 4096 0*90"); for the database pairs of LEB128 varints, value and times.
 */
#ifndef UNBLEND_LIB_CODEC_FLOW_H
#define UNBLEND_LIB_CODEC_FLOW_H

#include <jansson.h>

#include "lib/codec.h"
#include "lib/field.h"

#define CODEC_SLOTS_MAX 1000000 /* more slots in a batch are refused, and not sent */

/* The names that demands have in batches and in the database. */
extern const char *const codec_demands[DEMAND_COUNT];

/* The names that latencies in bursts, and outside of them, have in batches. */
extern const char *const codec_burst_keys[FLOW_KINDS], *const codec_steady_keys[FLOW_KINDS];

/* The array "flows"; NULL without memory. */
json_t *codec_flows(const struct batch *batch);

/* Reads "flows", if there are any. 0, -ENOMEM, or -EBADMSG with the error filled in. */
int codec_flows_decode(struct batch *batch, struct codec_error *error, const json_t *root);

/* What was in flight at most, by operation, "all" for all together: {"all":3,"read":2}. NULL without memory; false for
   what is no such object. */
json_t *codec_in_flight(const struct flow *flow);
bool codec_in_flight_decode(const json_t *object, struct flow *flow);

/* A sample of files as the member "files": true when it failed; and back: 0, -ENOMEM, or -EBADMSG. */
bool codec_files_put(json_t *object, const struct sketch *files);
int codec_files_decode(const struct field_place *p, const json_t *object, struct sketch *files);

/* One demand's slots, malloc'ed, *size 0 when all are 0; NULL without memory. */
unsigned char *codec_slots_pack(const struct flow *flow, enum demand demand, size_t *size);

/* Gives an empty flow so many slots. 0, -ENOMEM, or -ERANGE for more than there can be. */
int codec_slots_span(struct flow *flow, int64_t first, uint64_t length);

/* Fills the slots of a flow that has its span; of an empty list there is nothing to fill in. 0, -EINVAL for what is no
   such list of as many slots, -ERANGE. */
int codec_slots_unpack(const void *data, size_t size, struct flow *flow, enum demand demand);

#endif
