/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes' profiles, added up to those of their jobs and of the blend of all. */
#include "analyzer/top/blend_parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"

/* The largest share, by bytes where there are any; unknown only where there is nothing else. */
static void name_profile(const struct model *model, struct entity *entity, const struct portion *portions)
{
    uint32_t count = model->catalogue->count + 1u, best = UINT32_MAX;
    double bytes = 0;

    for (uint32_t p = 0; p < count; p++)
        bytes += portions[p].bytes;
    for (uint32_t p = 0; p < count; p++) {
        double size = bytes > 0 ? portions[p].bytes : portions[p].ops;

        if (portions[p].ops > 0 &&
            (best == UINT32_MAX || size > (bytes > 0 ? portions[best].bytes : portions[best].ops)))
            best = p;
    }
    if (best == UINT32_MAX)
        return;
    entity->profile = blend_profile_name(model, best);
    entity->figure[FIGURE_CONFIDENCE] = fmin(1, portions[best].confidence / portions[best].ops);
}

static void add_portions(struct portion *to, const struct portion *from, uint32_t count)
{
    for (uint32_t p = 0; p < count; p++) {
        to[p].ops += from[p].ops;
        to[p].bytes += from[p].bytes;
        to[p].confidence += from[p].confidence;
    }
}

/* Too little was done by it to be told, and nothing is under way to tell it. */
static bool is_unnamed(const struct blend *blend)
{
    return !blend || (!blend->portions && !blend_is_enough(blend->ops, blend->bytes));
}

/* What they did fades as a window does that begins again; it is unknown: what is named does not stand for all. */
static void add_unnamed(struct model *model)
{
    const struct entities *processes = &model->of[ENTITY_PROCESS];
    struct mix_part *unknown = &model->mix[model->catalogue->count];
    double stays = fmax(0, 1 - model->seconds * 1e9 / (double)BLEND_WINDOW_NS), named = 0;
    uint32_t members = 0;

    model->unnamed_ops *= stays;
    model->unnamed_bytes *= stays;
    for (uint32_t i = 0; i < processes->count; i++) {
        const uint64_t *count = processes->at[i]->now.count;

        if (!is_unnamed(processes->at[i]->blend))
            continue;
        model->unnamed_ops += (double)count[COUNT_OPS];
        model->unnamed_bytes += (double)(count[COUNT_READ_BYTES] + count[COUNT_WRITE_BYTES] + count[COUNT_FAULT_BYTES]);
        members += count[COUNT_OPS] > 0;
    }
    for (uint32_t p = 0; p <= model->catalogue->count; p++)
        named += model->mix[p].ops;
    if (!(named > 0) && !blend_is_enough((uint64_t)model->unnamed_ops, (uint64_t)model->unnamed_bytes))
        return;
    unknown->ops += model->unnamed_ops;
    unknown->bytes += model->unnamed_bytes;
    unknown->members += members;
}

int blend_add_up(struct model *model)
{
    const struct entities *processes = &model->of[ENTITY_PROCESS], *jobs = &model->of[ENTITY_JOB];
    uint32_t count = model->catalogue->count + 1u;
    _cleanup_free_ struct portion *sums = calloc((size_t)jobs->count * count + 1, sizeof(*sums));

    if (!sums)
        return -ENOMEM;
    memset(model->mix, 0, count * sizeof(*model->mix));
    for (uint32_t p = 0; p < count; p++)
        model->mix[p].profile = blend_profile_name(model, p);
    for (uint32_t i = 0; i < processes->count; i++) {
        const struct entity like = {.kind = ENTITY_JOB, .name = processes->at[i]->job, .volume = ""};
        const struct portion *portions = processes->at[i]->blend ? processes->at[i]->blend->portions : NULL;
        const struct entity *job = model_find(model, &like);

        if (!portions)
            continue;
        name_profile(model, processes->at[i], portions);
        for (uint32_t p = 0; p < count; p++) {
            model->mix[p].ops += portions[p].ops;
            model->mix[p].bytes += portions[p].bytes;
            model->mix[p].confidence += portions[p].confidence;
            model->mix[p].members += portions[p].ops >= 0.5f;
        }
        if (job)
            add_portions(&sums[(size_t)job->place * count], portions, count);
    }
    add_unnamed(model);
    for (uint32_t k = 0; k < jobs->count; k++)
        name_profile(model, jobs->at[k], &sums[(size_t)k * count]);
    return 0;
}
