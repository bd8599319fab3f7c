/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What could not be seen, and the blend, as entities: rows like all others. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/top/model.h"

static struct entity *list_one(struct model *model, enum entity_kind kind, const char *name, const char *state,
                               const char *why)
{
    const struct entity like = {.kind = kind, .name = name, .volume = ""};
    struct entity *e = model_entity(model, &like);

    if (!e)
        return NULL;
    e->listed = e->active = model->sample;
    e->state = model_text(model, state);
    e->why = model_text(model, why);
    return e->state && e->why ? e : NULL;
}

static int count_one(struct model *model, const char *name, uint64_t value, bool bad, const char *why)
{
    struct entity *e = list_one(model, ENTITY_COVERAGE, name, value && bad ? "lost" : value ? "some" : "complete", why);

    if (!e)
        return -ENOMEM;
    e->figure[FIGURE_VALUE] = (double)value;
    return 0;
}

static int list_hooks(struct model *model, const struct coverage *c)
{
    for (uint32_t i = 0; i < c->hook_count; i++) {
        const struct hook *hook = &c->hooks[i];
        char name[96];

        snprintf(name, sizeof(name), "hook %.80s", hook->name);
        if (!list_one(model, ENTITY_COVERAGE, name, hook->attached ? "attached" : "n/a", hook->why))
            return -ENOMEM;
    }
    return 0;
}

static int list_bypasses(struct model *model, const struct coverage *c)
{
    for (uint32_t i = 0; i < c->bypass_count; i++) {
        const struct bypass *bypass = &c->bypasses[i];
        char name[160];

        snprintf(name, sizeof(name), "bypass %.64s %.64s", bypass->what, bypass->device);
        if (!list_one(model, ENTITY_COVERAGE, name, "n/a", bypass->why))
            return -ENOMEM;
    }
    return 0;
}

int model_take_coverage(struct model *model, const struct coverage *c)
{
    static const char *const shed_why[SHED_COUNT] = {
        "watched by job only, for it would cost too much (--max-cost)",
        "only metadata was watched, for more would cost too much (--max-cost)",
        "nothing was watched, for it would cost too much (--max-cost)",
    };
    int err = count_one(model, "lost", c->lost, true, "operations that the kernel let the probe miss");

    if (!err)
        err = count_one(model, "overflow", c->overflow, true,
                        "operations counted under a coarser key for want of room");
    if (!err)
        err = count_one(model, "unattributed", c->unattributed, false, "operations under no job, or on no volume that "
                                                                       "could be told");
    if (!err)
        err = count_one(model, "killed", c->killed, false, "operations whose thread died inside them");
    if (!err)
        err = count_one(model, "in flight", c->in_flight, false, "operations running at the end of the sample");
    for (unsigned i = 0; !err && i < SHED_COUNT; i++)
        if (c->shed_ms[i])
            err = count_one(model, shed_names[i], c->shed_ms[i], true, shed_why[i]);
    if (!err)
        err = list_hooks(model, c);
    return err ? err : list_bypasses(model, c);
}

int model_take_mix(struct model *model)
{
    double ops = 0, bytes = 0;

    if (!model->mix)
        return 0;
    for (uint32_t p = 0; p <= model->catalogue->count; p++) {
        ops += model->mix[p].ops;
        bytes += model->mix[p].bytes;
    }
    for (uint32_t p = 0; p <= model->catalogue->count; p++) {
        const struct mix_part *part = &model->mix[p];
        struct entity *e;

        if (!(part->ops >= 0.5))
            continue;
        e = list_one(model, ENTITY_PROFILE, part->profile, "",
                     p < model->catalogue->count ? model->catalogue->profiles[p].summary
                                                 : "what no profile of the catalogue explains");
        if (!e)
            return -ENOMEM;
        e->profile = e->name;
        e->figure[FIGURE_SHARE_OPS] = part->ops / ops;
        e->figure[FIGURE_SHARE_BYTES] = bytes > 0 ? part->bytes / bytes : NAN;
        e->figure[FIGURE_CONFIDENCE] = fmin(1, part->confidence / part->ops);
        e->figure[FIGURE_MEMBERS] = part->members;
        model_remember(model, e->history, bytes > 0 ? part->bytes / bytes : part->ops / ops);
    }
    return 0;
}
