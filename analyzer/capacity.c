/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/capacity.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/capacity_private.h"

const struct metric metrics[METRIC_COUNT] = {
    {"read_bytes_s", DEMAND_READ_BYTES}, {"write_bytes_s", DEMAND_WRITE_BYTES},     {"read_iops", DEMAND_READ_OPS},
    {"write_iops", DEMAND_WRITE_OPS},    {"metadata_ops_s", DEMAND_METADATA_OPS}, {"in_flight", DEMAND_COUNT},
};

const char *const metric_words[METRIC_COUNT] = {
    [METRIC_READ_BYTES] = "Read",
    [METRIC_WRITE_BYTES] = "Written",
    [METRIC_READ_OPS] = "Reads",
    [METRIC_WRITE_OPS] = "Writes",
    [METRIC_METADATA_OPS] = "Metadata",
    [METRIC_IN_FLIGHT] = "In flight",
};

const uint32_t capacity_window_ms[CAPACITY_WINDOWS] = {100, 1000, 60000, 3600000};

int capacity_fill(const struct load *load, const struct offer *offer, const struct aggregate *totals,
                  struct capacity_entry *entry)
{
    for (unsigned m = 0; m < METRIC_COUNT; m++)
        for (unsigned w = 0; w < CAPACITY_WINDOWS; w++) {
            int64_t from, last;
            int err;

            if (!capacity_span(&totals->series, capacity_window_ms[w], &from, &last))
                continue;
            err = capacity_of(load, m, capacity_window_ms[w], from, last, &entry->demand[m][w]);
            if (err && err != -ENODATA)
                return err;
        }
    return capacity_limit(load, offer, &totals->series, entry);
}

int capacity_add_entry(struct capacity_entry **list, uint32_t *count, const struct load *load,
                       const struct offer *offer, const struct aggregate *totals, struct capacity_entry entry)
{
    struct capacity_entry *grown;
    int err;

    if (!load->series->length)
        return 0;
    grown = reallocarray(*list, *count + 1u, sizeof(**list));
    if (!grown)
        return -ENOMEM;
    *list = grown;
    err = capacity_fill(load, offer, totals, &entry);
    if (!err)
        grown[(*count)++] = entry;
    return err;
}

/* A volume, or all shared ones, at both layers. */
static int add_volume(struct capacity_entry **list, uint32_t *count, const struct volume_total *volume,
                      const char *name, const struct offer *offer, const struct aggregate *totals)
{
    const struct load asked = {&volume->series, &volume->busy, &volume->windows};
    const struct load reached = {&volume->reached, &volume->reached_busy, NULL};
    const struct capacity_entry entry = {.name = name, .volume = name ? volume : NULL};
    struct capacity_entry below = entry;
    int err = capacity_add_entry(list, count, &asked, offer, totals, entry);

    below.reached = true;
    return err ? err : capacity_add_entry(list, count, &reached, offer, totals, below);
}

double capacity_looked(const struct aggregate *totals, const struct offer *offer)
{
    double sum = 0;

    for (uint32_t i = 0; i < totals->volume_count; i++) {
        struct in_flight flight;

        volume_in_flight(&totals->volumes[i], totals, OP_NONE, &flight);
        if (totals->volumes[i].scope == SCOPE_SHARED && (!offer || offer_holds(offer, totals->volumes[i].name)))
            sum += flight.known ? (double)flight.max : 0;
    }
    return sum;
}

int capacity_build(const struct aggregate *totals, const struct profile_list *profiles, const struct offer *offer,
                   struct capacity *out)
{
    /* of a platform for some of the volumes nothing is said of all of them */
    const struct offer *whole = offer && capacity_all_held(totals, offer) ? offer : NULL;
    int err = 0;

    *out = (struct capacity){0};
    if (!totals->series.length)
        return 0;
    for (uint32_t i = 0; !err && i < totals->volume_count; i++) {
        const struct volume_total *volume = &totals->volumes[i];

        err = add_volume(&out->volumes, &out->volume_count, volume, volume->name,
                         offer && volume->scope == SCOPE_SHARED && offer_holds(offer, volume->name) ? offer : NULL,
                         totals);
    }
    if (!err)
        err = add_volume(&out->cluster, &out->cluster_count, &totals->shared, NULL, whole, totals);
    if (!err && offer)
        err = capacity_of_offer(totals, profiles, offer, &out->platform);
    if (!err)
        err = capacity_divide(totals, profiles, whole, out);
    if (!err)
        err = capacity_require(totals, offer, out);
    if (err)
        capacity_clear(out);
    return err;
}

void capacity_clear(struct capacity *capacity)
{
    free(capacity->volumes);
    free(capacity->cluster);
    free(capacity->profiles);
    free(capacity->owners);
    capacity_offer_clear(&capacity->platform);
    *capacity = (struct capacity){0};
}
