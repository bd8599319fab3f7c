/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose the demand on shared volumes is: each job's goes to its profiles, by their shares, and to its owner. */
#include "analyzer/capacity_private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Demand of a profile or an owner on shared volumes, being added up. */
struct portion {
    const char *name;
    struct series series, busy;
};

static struct portion *find_portion(struct portion **list, uint32_t *count, const char *name)
{
    struct portion *grown;

    for (uint32_t i = 0; i < *count; i++)
        if (strcmp((*list)[i].name, name) == 0)
            return &(*list)[i];
    grown = reallocarray(*list, *count + 1u, sizeof(*grown));
    if (!grown)
        return NULL;
    *list = grown;
    grown[*count] = (struct portion){.name = name};
    return &grown[(*count)++];
}

static int add_portion(struct portion *portion, const struct job_total *job, double bytes, double ops)
{
    const double weight[DEMAND_COUNT] = {
        [DEMAND_READ_BYTES] = bytes, [DEMAND_WRITE_BYTES] = bytes, [DEMAND_READ_OPS] = ops,
        [DEMAND_WRITE_OPS] = ops,    [DEMAND_METADATA_OPS] = ops,
    };
    const double time[DEMAND_COUNT] = {ops, ops, ops, ops, ops};
    int err = 0;

    for (uint32_t v = 0; !err && v < job->volume_count; v++) {
        if (job->volumes[v].scope != SCOPE_SHARED)
            continue;
        err = series_merge(&portion->series, &job->volumes[v].series, weight);
        if (!err)
            err = series_merge(&portion->busy, &job->volumes[v].busy, time);
    }
    return err;
}

static int add_profiles(struct portion **list, uint32_t *count, const struct aggregate *totals,
                        const struct profile_list *profiles)
{
    for (uint32_t i = 0; i < totals->job_count; i++)
        for (uint32_t p = 0; p < profiles[i].count; p++) {
            const struct profile_share *share = &profiles[i].shares[p];
            struct portion *portion;
            int err;

            if (share->pipeline || !(share->share_ops > 0))
                continue;
            portion = find_portion(list, count, share->profile);
            err = portion ? add_portion(portion, &totals->jobs[i],
                                        isnan(share->share_bytes) ? share->share_ops : share->share_bytes,
                                        share->share_ops)
                          : -ENOMEM;
            if (err)
                return err;
        }
    return 0;
}

static int add_owners(struct portion **list, uint32_t *count, const struct aggregate *totals)
{
    for (uint32_t i = 0; i < totals->job_count; i++) {
        const char *user = totals->jobs[i].user;
        struct portion *portion = find_portion(list, count, user ? user : "?");
        int err = portion ? add_portion(portion, &totals->jobs[i], 1, 1) : -ENOMEM;

        if (err)
            return err;
    }
    return 0;
}

static int by_mean(const void *a, const void *b)
{
    const struct capacity_entry *x = a, *y = b;
    double p = x->demand[METRIC_IN_FLIGHT][CAPACITY_SECOND].mean, q = y->demand[METRIC_IN_FLIGHT][CAPACITY_SECOND].mean;

    return p != q ? (p < q) - (p > q) : strcmp(x->name, y->name);
}

/* The portions as entries, and the portions' end. */
static int take_portions(struct portion *list, uint32_t count, const struct offer *offer,
                         const struct aggregate *totals, struct capacity_entry **entries, uint32_t *entry_count)
{
    int err = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct load load = {&list[i].series, &list[i].busy, NULL};

        if (!err)
            err = capacity_add_entry(entries, entry_count, &load, offer, totals,
                                     (struct capacity_entry){.name = list[i].name});
        series_clear(&list[i].series);
        series_clear(&list[i].busy);
    }
    free(list);
    if (!err && *entry_count)
        qsort(*entries, *entry_count, sizeof(**entries), by_mean);
    return err;
}

int capacity_divide(const struct aggregate *totals, const struct profile_list *profiles, const struct offer *offer,
                    struct capacity *out)
{
    struct portion *list = NULL;
    uint32_t count = 0;
    int err = profiles ? add_profiles(&list, &count, totals, profiles) : 0, end;

    end = take_portions(list, count, offer, totals, &out->profiles, &out->profile_count);
    if (err || end)
        return err ? err : end;
    list = NULL;
    count = 0;
    err = totals->grouping == GROUP_JOB || totals->grouping == GROUP_USER ? add_owners(&list, &count, totals) : 0;
    end = take_portions(list, count, offer, totals, &out->owners, &out->owner_count);
    return err ? err : end;
}
