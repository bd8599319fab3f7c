/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/classify.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/confidence.h"
#include "analyzer/evidence.h"
#include "analyzer/homes.h"
#include "analyzer/judge.h"
#include "analyzer/once.h"
#include "analyzer/pipeline.h"
#include "analyzer/resample.h"
#include "lib/cleanup.h"

#define ONCE_MIN      0.5  /* of a part */
#define PRELUDE_MIN   0.02 /* of a pattern's operations: what is said to be another's, perhaps */
#define UNSEEN        0.8  /* confidence is multiplied with, for each kind of operation that may have gone uncounted */

static void add_interval(const struct draws *draws, bool bytes, uint32_t profile, double estimate, double all,
                         struct share_interval *to)
{
    double low, high;

    if (draws && all > 0 && draws_interval(draws, bytes, profile, estimate, &low, &high))
        *to = (struct share_interval){fmin(1, low / all), fmin(1, high / all)};
}

static int add_residual(const struct draws *draws, struct profile_share *share)
{
    share->residual = draws ? draws_residual(draws) : NAN;
    if (isnan(share->residual))
        return 0;
    return evidence_add(share, "%s chance and the ways in which programs vary would leave over (p = %.3f)",
                        share->residual < RESIDUAL_P ? "more than" : "no more than", share->residual);
}

static int add_pattern(const struct catalogue *catalogue, uint32_t index, const struct part *part,
                       double ops, double bytes, const struct draws *draws, struct profile_list *list)
{
    const struct profile *profile = index < catalogue->count ? &catalogue->profiles[index] : NULL;
    double own = part_ops(part);
    struct profile_share *share = profile_list_add(list);

    if (!share)
        return -ENOMEM;
    share->profile = profile ? profile->name : PROFILE_UNKNOWN;
    share->ops = (uint64_t)llround(own);
    share->bytes = (uint64_t)llround(part_bytes(part));
    share->share_ops = own / ops;
    share->share_bytes = bytes > 0 ? part_bytes(part) / bytes : NAN;
    if (own > 0)
        share->confidence =
            confidence_of_part(part, profile, fmax(share->share_ops, bytes > 0 ? share->share_bytes : 0),
                               draws ? draws_residual(draws) : NAN);
    if (profile && own > 0)
        share->confidence *= 1 - (1 - profile->once) * part->once / own;
    add_interval(draws, false, index, own, ops, &share->ops_interval);
    add_interval(draws, true, index, part_bytes(part), bytes, &share->bytes_interval);
    if ((own > 0 && evidence_of_part(part, profile, share)) || (!profile && add_residual(draws, share)))
        return -ENOMEM;
    if (profile && profile->once < 1 && part->once > ONCE_MIN * own &&
        evidence_add(share, "less sure, as its files were opened once: who searches, checks or backs up files reads like that"))
        return -ENOMEM;
    if (profile && part->prelude >= PRELUDE_MIN * own &&
        evidence_add(share, "%.0f %% of it may be another's %s: who does the rest does that first", 100 * part->prelude / own,
                     catalogue->profiles[part->first].name))
        return -ENOMEM;
    if (!confidence_contested(part))
        return 0;
    return evidence_add(share, "may as well be %s: in a sum the two look alike", catalogue->profiles[part->rival].name);
}

static int add_patterns(const struct catalogue *catalogue, const struct part *parts, const struct draws *draws,
                        struct profile_list *list)
{
    double ops = 0, bytes = 0;

    for (uint32_t p = 0; p <= catalogue->count; p++) {
        ops += part_ops(&parts[p]);
        bytes += part_bytes(&parts[p]);
    }
    for (uint32_t p = 0; p <= catalogue->count; p++) {
        /* What is left over is told even where it counts with others. */
        bool tested = p == catalogue->count && draws && !isnan(draws_residual(draws));

        if ((part_ops(&parts[p]) >= 0.5 || tested) &&
            add_pattern(catalogue, p, &parts[p], ops, bytes, draws, list))
            return -ENOMEM;
    }
    return 0;
}

static double bytes_an_open(const struct part *part)
{
    return part->ok[OP_OPEN] > 0 ? (part->bytes[OP_READ] + part->bytes[OP_MMAP_FAULT]) / part->ok[OP_OPEN] : 0;
}

/* Adds the volumes up, and keeps their times apart. */
static void add_volumes(const struct job_total *job, uint32_t count, const struct part *volumes, struct part *parts,
                        double *times)
{
    for (uint32_t v = 0; v < job->volume_count; v++) {
        for (uint32_t p = 0; p < count; p++) {
            const struct part *part = &volumes[(size_t)v * count + p];

            part_add(&parts[p], part);
            if (part_ops(part) > 0 && once_opened(&job->volumes[v], bytes_an_open(part)))
                parts[p].once += part_ops(part);
            memcpy(times + ((size_t)v * count + p) * BUSY_KINDS, part->time, sizeof(part->time));
        }
    }
}

static void widen_by(struct share_interval *interval, double by)
{
    if (!isnan(interval->high))
        interval->high = fmin(1, interval->high + by);
}

/* What may be chance may as well be of those that were found: then it counts in what they are at most. */
static void widen(struct profile_list *list)
{
    struct profile_share *unknown = NULL;

    for (uint32_t i = 0; i < list->count; i++)
        if (list->shares[i].residual >= RESIDUAL_P)
            unknown = &list->shares[i];
    for (uint32_t i = 0; unknown && i < list->count; i++)
        if (&list->shares[i] != unknown) {
            widen_by(&list->shares[i].ops_interval, unknown->share_ops);
            widen_by(&list->shares[i].bytes_interval, unknown->share_bytes);
        }
    if (unknown && !isnan(unknown->ops_interval.low))
        unknown->ops_interval.low = 0;
    if (unknown && !isnan(unknown->bytes_interval.low))
        unknown->bytes_interval.low = 0;
}

/* The judgement of a job, volume by volume. */
static int judge(const struct catalogue *catalogue, const struct job_total *job, struct judged *judged,
                 struct part *volumes, struct draws *draws, struct spells *spells)
{
    if (!judged || judged->alone || !job->process_count)
        return judge_job(catalogue, job, volumes, draws, spells);
    memcpy(volumes, judged->parts, (catalogue->count + 1) * sizeof(*volumes));
    *spells = judged->spells;
    judged->spells = (struct spells){0};
    return judge_others(catalogue, job, &judged->rest, volumes, draws);
}

static int classify(const struct catalogue *catalogue, const struct job_total *job, struct judged *judged, bool with_draws,
                    struct profile_list *out)
{
    uint32_t count = catalogue->count + 1;
    _cleanup_free_ struct part *parts = calloc(count, sizeof(*parts));
    _cleanup_free_ struct part *volumes = calloc((size_t)count * job->volume_count + 1, sizeof(*volumes));
    struct profile_list list = {.times = calloc((size_t)count * job->volume_count * BUSY_KINDS + 1, sizeof(double))};
    _cleanup_(draws_clear) struct draws draws = {0};
    struct draws *asked = with_draws ? &draws : NULL;
    int err = parts && volumes && list.times ? 0 : -ENOMEM;

    if (!err && asked)
        err = draws_init(asked, count);
    if (!err)
        err = judge(catalogue, job, judged, volumes, asked, &list.spells);
    if (!err)
        add_volumes(job, count, volumes, parts, list.times);
    if (!err)
        err = add_patterns(catalogue, parts, asked, &list);
    if (!err)
        widen(&list);
    if (!err && list.count) {
        struct profile_share *share = profile_list_add(&list);

        err = share ? pipeline_of(catalogue, job, &list, share) : -ENOMEM;
    }
    if (err) {
        profile_list_clear(&list);
        return err;
    }
    profile_list_sort(&list);
    *out = list;
    return 0;
}

int classify_job(const struct catalogue *catalogue, const struct job_total *job, bool draws, struct profile_list *out)
{
    return classify(catalogue, job, NULL, draws, out);
}

int classify_volume(const struct catalogue *catalogue, const struct job_total *volume, struct judged *judged, bool draws,
                    struct profile_list *out)
{
    return classify(catalogue, volume, judged, draws, out);
}

/* Hooks without which operations go uncounted; others tell more about those that are counted. */
static bool hides_operations(const char *hook)
{
    return strstr(hook, "mmap_fault") || strstr(hook, "sys_") || strstr(hook, "io_uring_submit") ||
           strcmp(hook, "libaio") == 0 || operation_by_name(hook) != OP_NONE;
}

int classify_gaps(const struct aggregate *totals, const struct job_total *job, struct profile_list *list)
{
    for (uint32_t h = 0; h < totals->hook_count; h++) {
        const struct hook_total *hook = &totals->hooks[h];

        if (!hides_operations(hook->name) || !aggregate_misses(totals, job, hook))
            continue;
        for (uint32_t i = 0; i < list->count; i++) {
            struct profile_share *share = &list->shares[i];

            share->confidence *= UNSEEN;
            if (evidence_add(share, "less sure: %s was not seen on every node: %s", hook->name, hook->told))
                return -ENOMEM;
        }
    }
    return 0;
}
