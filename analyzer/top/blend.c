/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/top/blend.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/confidence.h"
#include "analyzer/evidence.h"
#include "analyzer/judge.h"
#include "analyzer/mixture.h"
#include "analyzer/top/model.h"
#include "lib/cleanup.h"
#include "lib/clock.h"

#define BLENDS_MAX    256 /* processes that are looked at; about 10 KB each */
#define WINDOW_NS     30000000000LL
#define BUDGET_SHARE  0.002 /* of a processor; one fit may take more, and is saved for */
#define CREDIT_MAX_NS 10000000.0
#define UNHURRIED_NS  100000000.0 /* a sample */
#define IDLE_SAMPLES  30
#define CHANGE_MIN    0.25 /* so much more was done since it was last unmixed */

/* A profile's share of what was unmixed, confidence weighted by operations. */
struct portion {
    float ops, bytes, confidence;
};

struct blend {
    struct tally tally; /* the window's */
    int64_t since_ns, fitted_ns;
    uint64_t ops, bytes, fitted_ops; /* in the tally; when it was last unmixed */
    struct portion *portions; /* one a profile and unknown; NULL before the first time */
};

void blend_free(struct blend *blend)
{
    if (!blend)
        return;
    tally_clear(&blend->tally);
    free(blend->portions);
    free(blend);
}

static bool is_enough(uint64_t ops, uint64_t bytes)
{
    return ops >= MIXTURE_OPS_MIN || bytes >= MIXTURE_BYTES_MIN;
}

bool blend_admits(const struct model *model, const struct entity *entity)
{
    const uint64_t *count = entity->now.count;

    return model->catalogue && !entity->blend && model->blends < BLENDS_MAX &&
           is_enough(4 * count[COUNT_OPS], 4 * (count[COUNT_READ_BYTES] + count[COUNT_WRITE_BYTES]));
}

int blend_begin(struct model *model, struct entity *entity)
{
    entity->blend = calloc(1, sizeof(*entity->blend));
    if (!entity->blend)
        return -ENOMEM;
    entity->blend->since_ns = model->end_ns;
    model->blends++;
    return 0;
}

int blend_add(struct blend *blend, const struct record *record)
{
    int err = tally_add(&blend->tally, record);

    if (!err) {
        blend->ops += record_ops(record);
        blend->bytes += record->bytes;
    }
    return err;
}

/* A process, or the rest of a job, is judged as the report judges jobs: as one of a single process, or of none. */
static int judge(const struct model *model, const struct entity *entity, struct part *parts)
{
    struct tally *tally = &entity->blend->tally;
    struct unit unit = {.pid = entity->pid, .volume = "", .node = "", .command = "", .tally = *tally};
    struct volume_total volume = {.name = "", .source = "", .fstype = ""};
    struct job_total job = {.name = "", .volumes = &volume, .volume_count = 1, .tally = *tally};

    if (entity->pid) {
        job.units = &unit;
        job.unit_count = job.process_count = 1;
    } else {
        volume.rest = *tally;
    }
    return judge_job(model->catalogue, &job, parts, NULL, NULL); /* reads only: the tallies stay ours */
}

static double how_sure(const struct part *part, bool known, double ops, double bytes)
{
    return confidence_of_part(part, known, fmax(part_ops(part) / ops, bytes > 0 ? part_bytes(part) / bytes : 0), NAN);
}

static int fit(struct model *model, struct entity *entity, struct part *parts)
{
    struct blend *blend = entity->blend;
    uint32_t count = model->catalogue->count + 1u;
    double ops = 0, bytes = 0;
    int err;

    if (!blend->portions)
        blend->portions = calloc(count, sizeof(*blend->portions));
    if (!blend->portions)
        return -ENOMEM;
    memset(parts, 0, count * sizeof(*parts));
    err = judge(model, entity, parts);
    for (uint32_t p = 0; p < count; p++) {
        ops += part_ops(&parts[p]);
        bytes += part_bytes(&parts[p]);
    }
    for (uint32_t p = 0; !err && p < count; p++) {
        double own = part_ops(&parts[p]);

        blend->portions[p] = (struct portion){
            (float)own, (float)part_bytes(&parts[p]),
            own > 0 ? (float)(own * how_sure(&parts[p], p + 1 < count, ops, bytes)) : 0};
    }
    blend->fitted_ops = blend->ops;
    blend->fitted_ns = model->end_ns;
    return err;
}

static double urgency(const struct blend *blend)
{
    if (!is_enough(blend->ops, blend->bytes))
        return 0;
    if (!blend->portions)
        return INFINITY;
    if ((double)(blend->ops - blend->fitted_ops) < CHANGE_MIN * (double)blend->fitted_ops)
        return 0;
    return (double)(blend->ops - blend->fitted_ops);
}

/* Who does nothing any more makes room; a window that is over begins again, its result stands until then. */
static void tidy(struct model *model)
{
    const struct entities *processes = &model->of[ENTITY_PROCESS];

    for (uint32_t i = 0; i < processes->count; i++) {
        struct entity *entity = processes->at[i];
        struct blend *blend = entity->blend;

        if (!blend)
            continue;
        if (model->sample - entity->active > IDLE_SAMPLES) {
            blend_free(blend);
            entity->blend = NULL;
            model->blends--;
        } else if (blend->portions && blend->fitted_ns - blend->since_ns > WINDOW_NS) {
            tally_clear(&blend->tally);
            blend->ops = blend->bytes = blend->fitted_ops = 0;
            blend->since_ns = model->end_ns;
        }
    }
}

static int fit_most_urgent(struct model *model)
{
    const struct entities *processes = &model->of[ENTITY_PROCESS];
    _cleanup_free_ struct part *parts = calloc(model->catalogue->count + 1u, sizeof(*parts));
    double share_ns = BUDGET_SHARE * model->seconds * 1e9, budget_ns;
    int64_t began = clock_ns(CLOCK_THREAD_CPUTIME_ID);

    if (!parts)
        return -ENOMEM;
    budget_ns = model->unhurried ? UNHURRIED_NS : fmin(model->credit_ns + share_ns, fmax(CREDIT_MAX_NS, share_ns));
    for (model->credit_ns = budget_ns; model->credit_ns > 0;) {
        struct entity *most = NULL;
        double most_urgent = 0;
        int err;

        for (uint32_t i = 0; i < processes->count; i++) {
            struct entity *entity = processes->at[i];
            double urgent = entity->blend ? urgency(entity->blend) : 0;

            if (urgent > most_urgent || (urgent == most_urgent && urgent > 0 && most &&
                                         entity->now.count[COUNT_OPS] > most->now.count[COUNT_OPS])) {
                most = entity;
                most_urgent = urgent;
            }
        }
        if (!most)
            return 0;
        err = fit(model, most, parts);
        if (err)
            return err;
        model->credit_ns = budget_ns - (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - began);
    }
    return 0;
}

static const char *profile_name(const struct model *model, uint32_t at)
{
    return at < model->catalogue->count ? model->catalogue->profiles[at].name : PROFILE_UNKNOWN;
}

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
    entity->profile = profile_name(model, best);
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
    return !blend || (!blend->portions && !is_enough(blend->ops, blend->bytes));
}

/* What they did fades as a window does that begins again; it is unknown: what is named does not stand for all. */
static void add_unnamed(struct model *model)
{
    const struct entities *processes = &model->of[ENTITY_PROCESS];
    struct mix_part *unknown = &model->mix[model->catalogue->count];
    double stays = fmax(0, 1 - model->seconds * 1e9 / (double)WINDOW_NS), named = 0;
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
    if (!(named > 0) && !is_enough((uint64_t)model->unnamed_ops, (uint64_t)model->unnamed_bytes))
        return;
    unknown->ops += model->unnamed_ops;
    unknown->bytes += model->unnamed_bytes;
    unknown->members += members;
}

/* Jobs and the blend of all, from their processes. 0 or -ENOMEM. */
static int add_up(struct model *model)
{
    const struct entities *processes = &model->of[ENTITY_PROCESS], *jobs = &model->of[ENTITY_JOB];
    uint32_t count = model->catalogue->count + 1u;
    _cleanup_free_ struct portion *sums = calloc((size_t)jobs->count * count + 1, sizeof(*sums));

    if (!sums)
        return -ENOMEM;
    memset(model->mix, 0, count * sizeof(*model->mix));
    for (uint32_t p = 0; p < count; p++)
        model->mix[p].profile = profile_name(model, p);
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

int blend_update(struct model *model)
{
    int err;

    if (!model->catalogue)
        return 0;
    tidy(model);
    err = fit_most_urgent(model);
    return err ? err : add_up(model);
}

static bool is_member(const struct entity *entity, const struct entity *process)
{
    return process->blend && (entity == process || (entity->kind == ENTITY_JOB && entity->name == process->job) ||
                              entity->kind == ENTITY_PROFILE);
}

static int add_share(struct profile_list *list, const char *name, const struct profile *profile,
                     const struct part *part, double ops, double bytes)
{
    struct profile_share *grown = reallocarray(list->shares, list->count + 1u, sizeof(*grown));
    double own = part_ops(part);

    if (!grown)
        return -ENOMEM;
    list->shares = grown;
    grown[list->count] = (struct profile_share){
        .profile = name,
        .share_ops = own / ops,
        .share_bytes = bytes > 0 ? part_bytes(part) / bytes : NAN,
        .ops_interval = {NAN, NAN},
        .bytes_interval = {NAN, NAN},
        .residual = NAN,
        .confidence = how_sure(part, profile, ops, bytes),
        .ops = (uint64_t)llround(own),
        .bytes = (uint64_t)llround(part_bytes(part)),
    };
    return evidence_of_part(part, profile, &grown[list->count++]);
}

int blend_explain(const struct model *model, const struct entity *entity, struct profile_list *out)
{
    const struct entities *processes = &model->of[ENTITY_PROCESS];
    const struct catalogue *catalogue = model->catalogue;
    _cleanup_free_ struct part *parts = catalogue ? calloc(catalogue->count + 1u, sizeof(*parts)) : NULL;
    struct profile_list list = {0};
    double ops = 0, bytes = 0;
    int err = 0;

    *out = list;
    if (!catalogue)
        return 0;
    if (!parts)
        return -ENOMEM;
    for (uint32_t i = 0; !err && i < processes->count; i++)
        if (is_member(entity, processes->at[i]))
            err = judge(model, processes->at[i], parts);
    for (uint32_t p = 0; p <= catalogue->count; p++) {
        ops += part_ops(&parts[p]);
        bytes += part_bytes(&parts[p]);
    }
    for (uint32_t p = 0; !err && p <= catalogue->count; p++) {
        const char *name = profile_name(model, p);

        if (part_ops(&parts[p]) >= 0.5 && (entity->kind != ENTITY_PROFILE || strcmp(entity->name, name) == 0))
            err = add_share(&list, name, p < catalogue->count ? &catalogue->profiles[p] : NULL, &parts[p], ops, bytes);
    }
    if (err) {
        profile_list_clear(&list);
        return err;
    }
    *out = list;
    return 0;
}
