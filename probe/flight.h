/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * File operations that are running: how many at once, by job, volume and operation. They are counted at looks, ten a
 * second and fewer where there are many threads, so what runs between two looks is not seen, and a maximum says at
 * least.
 */
#ifndef UNBLEND_PROBE_FLIGHT_H
#define UNBLEND_PROBE_FLIGHT_H

#include "lib/record.h"
#include "probe/finder.h"
#include "probe/hung.h"
#include "probe/origin.h"
#include "probe/tables.h"
#include "probe/volume.h"

struct flight;

/* Borrows all of them; hung is asked for the volumes of what lasts. 0 or -ENOMEM. */
int flight_new(struct tables *tables, struct volumes *volumes, struct origin *origin, struct finder *finder,
               struct hung *hung, struct flight **out);
void flight_free(struct flight *flight); /* NULL is fine */

/* Looks, unless the last look was too short a time ago for the number of threads. 0 or -ENOMEM. */
int flight_look(struct flight *flight);

/* The volume of a thread's call under way, which has been seen to be pending since since_ns; of one by path it is known
   when the call has lasted for a while. */
uint64_t flight_volume(struct flight *flight, const struct abi_thread *thread, uint64_t since_ns);

/* Looks once more, puts the most of all looks since the last time into the batch's flows and forgets it.
   0 or -errno. */
int flight_report(struct flight *flight, struct batch *batch);

#endif
