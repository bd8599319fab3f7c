/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/profile_list.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/evidence.h"
#include "lib/order.h"

struct profile_share *profile_list_add(struct profile_list *list)
{
    struct profile_share *grown = reallocarray(list->shares, list->count + 1u, sizeof(*grown));

    if (!grown)
        return NULL;
    list->shares = grown;
    grown[list->count] = (struct profile_share){
        .ops_interval = {NAN, NAN}, .bytes_interval = {NAN, NAN}, .residual = NAN};
    return &grown[list->count++];
}

static int by_share(const void *a, const void *b)
{
    const struct profile_share *x = a, *y = b;
    bool p = strcmp(x->profile, PROFILE_UNKNOWN) == 0, q = strcmp(y->profile, PROFILE_UNKNOWN) == 0;

    return ORDER(x->pipeline, y->pipeline) ?: ORDER(p, q) ?: ORDER(y->bytes, x->bytes) ?: ORDER(y->ops, x->ops)
                                           ?: strcmp(x->profile, y->profile);
}

void profile_list_sort(struct profile_list *list)
{
    if (list->count)
        qsort(list->shares, list->count, sizeof(*list->shares), by_share);
}

static struct profile_share *find_share(struct profile_list *list, const struct profile_share *like)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->shares[i].pipeline == like->pipeline &&
            strcmp(list->shares[i].profile, like->profile) == 0)
            return &list->shares[i];
    return NULL;
}

static int add_to_sum(struct profile_list *sum, const struct profile_share *from)
{
    struct profile_share *to = find_share(sum, from);

    if (!to) {
        to = profile_list_add(sum);
        if (!to)
            return -ENOMEM;
        to->profile = from->profile;
        to->pipeline = from->pipeline;
    }
    to->ops += from->ops;
    to->bytes += from->bytes;
    to->confidence += from->confidence * (double)from->ops;
    to->share_ops += 1; /* jobs, until finish_sum() */
    return 0;
}

static int finish_sum(struct profile_list *sum)
{
    double ops[2] = {0}, bytes[2] = {0};

    for (uint32_t i = 0; i < sum->count; i++) {
        ops[sum->shares[i].pipeline] += (double)sum->shares[i].ops;
        bytes[sum->shares[i].pipeline] += (double)sum->shares[i].bytes;
    }
    for (uint32_t i = 0; i < sum->count; i++) {
        struct profile_share *share = &sum->shares[i];
        unsigned jobs = (unsigned)share->share_ops;

        share->confidence = share->ops ? share->confidence / (double)share->ops : 0;
        share->share_ops = ops[share->pipeline] > 0 ? (double)share->ops / ops[share->pipeline] : 0;
        share->share_bytes =
            bytes[share->pipeline] > 0 ? (double)share->bytes / bytes[share->pipeline] : NAN;
        if (evidence_add(share, "found in %u %s", jobs, jobs == 1 ? "job" : "jobs"))
            return -ENOMEM;
    }
    return 0;
}

int profile_list_sum(const struct profile_list *lists, uint32_t count, struct profile_list *out)
{
    struct profile_list sum = {0};
    int err = 0;

    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; !err && k < lists[i].count; k++)
            err = add_to_sum(&sum, &lists[i].shares[k]);
    if (!err)
        err = finish_sum(&sum);
    if (err) {
        profile_list_clear(&sum);
        return err;
    }
    profile_list_sort(&sum);
    *out = sum;
    return 0;
}

void profile_list_clear(struct profile_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        for (uint32_t k = 0; k < list->shares[i].evidence_count; k++)
            free(list->shares[i].evidence[k]);
        free(list->shares[i].evidence);
    }
    free(list->shares);
    free(list->times);
    spells_clear(&list->spells);
    *list = (struct profile_list){0};
}
