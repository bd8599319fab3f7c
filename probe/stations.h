/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's table of stations -> a batch's: the only reader of that map. */
#ifndef UNBLEND_PROBE_STATIONS_H
#define UNBLEND_PROBE_STATIONS_H

#include "lib/record.h"
#include "probe/origin.h"
#include "probe/tables.h"
#include "probe/volume.h"

struct stations;

struct station_maps {
    int places;
    int stations;
    int fuse_servers;
};

/* 0 or -ENOMEM. */
int stations_new(const struct station_maps *maps, struct stations **out);
void stations_free(struct stations *stations); /* NULL is fine */

/* Adds what has come to an end since the last time, and what is in flight. 0 or -errno. */
int stations_drain(struct stations *stations, struct volumes *volumes, struct origin *origin,
                   const struct tables *tables, struct batch *batch);

#endif
