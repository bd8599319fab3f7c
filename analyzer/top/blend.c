/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/top/blend.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/confidence.h"
#include "analyzer/evidence.h"
#include "analyzer/judge.h"
#include "analyzer/top/blend_parts.h"
#include "analyzer/top/model.h"
#include "lib/cleanup.h"
#include "lib/clock.h"

#define BLENDS_MAX    256 /* processes that are looked at; about 10 KB each */
#define BUDGET_SHARE  0.002 /* of a processor; one fit may take more, and is saved for */
#define CREDIT_MAX_NS 10000000.0
#define UNHURRIED_NS  100000000.0 /* a sample */
#define IDLE_SAMPLES  30
#define CHANGE_MIN    0.25 /* so much more was done since it was last unmixed */

void blend_free(struct blend *blend)
{
    if (!blend)
        return;
    tally_clear(&blend->tally);
    free(blend->portions);
    free(blend);
}

bool blend_admits(const struct model *model, const struct entity *entity)
{
    const uint64_t *count = entity->now.count;

    return model->catalogue && !entity->blend && model->blends < BLENDS_MAX &&
           blend_is_enough(4 * count[COUNT_OPS], 4 * (count[COUNT_READ_BYTES] + count[COUNT_WRITE_BYTES]));
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
    if (!blend_is_enough(blend->ops, blend->bytes))
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
        } else if (blend->portions && blend->fitted_ns - blend->since_ns > BLEND_WINDOW_NS) {
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

int blend_update(struct model *model)
{
    int err;

    if (!model->catalogue)
        return 0;
    tidy(model);
    err = fit_most_urgent(model);
    return err ? err : blend_add_up(model);
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
        const char *name = blend_profile_name(model, p);

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
