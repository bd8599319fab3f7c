/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/top/model.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/top/blend.h"
#include "analyzer/top/pulse.h"
#include "lib/cleanup.h"
#include "lib/vector.h"

#define GONE_SAMPLES 5    /* how long somebody who is gone is still shown */
#define IDLE_SAMPLES 60   /* and who lives, and does nothing */
#define TEXTS_MIN    4096 /* below that, old strings are kept */

static void entity_free(struct entity *entity)
{
    histogram_clear(&entity->size);
    histogram_clear(&entity->latency_ns);
    blend_free(entity->blend);
    pulse_free(entity->pulse);
    free(entity);
}

static void clear_entities(struct model *model)
{
    for (unsigned kind = 0; kind < ENTITY_KINDS; kind++) {
        struct entities *list = &model->of[kind];

        for (uint32_t i = 0; i < list->count; i++)
            entity_free(list->at[i]);
        free(list->at);
        lookup_clear(&list->index);
        *list = (struct entities){0};
    }
}

static void clear_texts(struct model *model)
{
    lookup_clear(&model->texts);
    free(model->text);
    model->text = NULL;
    model->text_count = model->text_capacity = 0;
    arena_clear(&model->arena);
}

static const char **const *entity_texts(struct entity *e)
{
    static _Thread_local const char **texts[10];

    texts[0] = &e->name;
    texts[1] = &e->user;
    texts[2] = &e->job;
    texts[3] = &e->volume;
    texts[4] = &e->fstype;
    texts[5] = &e->source;
    texts[6] = &e->mounts;
    texts[7] = &e->node;
    texts[8] = &e->state;
    texts[9] = &e->why;
    return texts;
}

#define ENTITY_TEXTS 10

static void empty_entity(struct entity *entity, enum entity_kind kind)
{
    const char **const *texts = entity_texts(entity);

    entity->kind = kind;
    for (unsigned i = 0; i < ENTITY_TEXTS; i++)
        *texts[i] = "";
    for (unsigned i = 0; i < FIGURE_KINDS; i++)
        entity->figure[i] = NAN;
}

int model_new(const struct catalogue *catalogue, struct model **out)
{
    struct model *model = calloc(1, sizeof(*model));

    if (!model)
        return -ENOMEM;
    model->catalogue = catalogue;
    if (catalogue) {
        model->mix = calloc(catalogue->count + 1u, sizeof(*model->mix));
        if (!model->mix) {
            free(model);
            return -ENOMEM;
        }
    }
    empty_entity(&model->total, ENTITY_NODE);
    *out = model;
    return 0;
}

void model_reset(struct model *model)
{
    struct model fresh = {.catalogue = model->catalogue, .filter = model->filter, .mix = model->mix,
                          .local = model->local, .unhurried = model->unhurried};

    clear_entities(model);
    clear_texts(model);
    histogram_clear(&model->total.size);
    histogram_clear(&model->total.latency_ns);
    if (model->mix)
        memset(model->mix, 0, (model->catalogue->count + 1u) * sizeof(*model->mix));
    *model = fresh;
    empty_entity(&model->total, ENTITY_NODE);
}

void model_free(struct model *model)
{
    if (!model)
        return;
    model_reset(model);
    free(model->mix);
    free(model);
}

float model_history(const struct model *model, const float history[HISTORY_SECONDS], unsigned ago)
{
    if (ago >= model->told)
        return 0;
    return history[(uint64_t)(model->second - ago) % HISTORY_SECONDS];
}

void model_remember(const struct model *model, float history[HISTORY_SECONDS], double value)
{
    unsigned covered = model->seconds > 1 ? (unsigned)lround(fmin(model->seconds, HISTORY_SECONDS)) : 1;
    float *last = &history[(uint64_t)model->second % HISTORY_SECONDS];

    if (!model->turned)
        *last = fmaxf(*last, (float)value);
    for (unsigned ago = 0; ago < model->turned; ago++)
        history[(uint64_t)(model->second - ago) % HISTORY_SECONDS] = ago < covered ? (float)value : 0;
}

const char *model_text(struct model *model, const char *text)
{
    uint32_t hash, cursor, at;
    const char *copy;

    if (!text || !*text)
        return "";
    cursor = hash = lookup_hash(text, strlen(text));
    while (lookup_next(&model->texts, hash, &cursor, &at))
        if (strcmp(model->text[at], text) == 0)
            return model->text[at];
    if (vector_reserve((void **)&model->text, &model->text_capacity, model->text_count, sizeof(*model->text)) ||
        lookup_reserve(&model->texts))
        return NULL;
    copy = arena_strdup(&model->arena, text);
    if (!copy)
        return NULL;
    lookup_insert(&model->texts, hash, model->text_count);
    model->text[model->text_count++] = copy;
    return copy;
}

/* Strings that nobody uses any more go when they are most of them. 0 or -ENOMEM. */
static int forget_texts(struct model *model)
{
    struct model old = *model;
    uint32_t used = 0;

    for (unsigned kind = 0; kind < ENTITY_KINDS; kind++)
        used += model->of[kind].count;
    if (model->text_count < TEXTS_MIN || model->text_count < 4 * used)
        return 0;
    model->texts = (struct lookup){0};
    model->text = NULL;
    model->text_count = model->text_capacity = 0;
    model->arena = (struct arena){0};
    for (unsigned kind = 0; kind < ENTITY_KINDS; kind++)
        for (uint32_t i = 0; i < model->of[kind].count; i++) {
            const char **const *texts = entity_texts(model->of[kind].at[i]);

            for (unsigned k = 0; k < ENTITY_TEXTS; k++) {
                *texts[k] = model_text(model, *texts[k]);
                if (!*texts[k])
                    return -ENOMEM;
            }
        }
    clear_texts(&old);
    return 0;
}

static uint32_t entity_hash(const struct entity *e)
{
    const int64_t numbers[3] = {e->pid, e->tid, e->start_ns};

    return lookup_hash(e->pid ? "" : e->name, e->pid ? 0 : strlen(e->name)) ^ lookup_hash(numbers, sizeof(numbers)) ^
           lookup_hash(e->volume, strlen(e->volume));
}

static bool same_entity(const struct entity *a, const struct entity *b)
{
    return a->pid == b->pid && a->tid == b->tid && a->start_ns == b->start_ns && (a->pid || strcmp(a->name, b->name) == 0) &&
           strcmp(a->volume, b->volume) == 0;
}

struct entity *model_find(const struct model *model, const struct entity *like)
{
    const struct entities *list = &model->of[like->kind];
    uint32_t hash = entity_hash(like), cursor = hash, at;

    while (lookup_next(&list->index, hash, &cursor, &at))
        if (same_entity(list->at[at], like))
            return list->at[at];
    return NULL;
}

struct entity *model_entity(struct model *model, const struct entity *like)
{
    struct entities *list = &model->of[like->kind];
    struct entity *entity = model_find(model, like);

    if (entity)
        return entity;
    if (vector_reserve((void **)&list->at, &list->capacity, list->count, sizeof(*list->at)) ||
        lookup_reserve(&list->index))
        return NULL;
    entity = calloc(1, sizeof(*entity));
    if (!entity)
        return NULL;
    empty_entity(entity, like->kind);
    entity->pid = like->pid;
    entity->tid = like->tid;
    entity->start_ns = like->start_ns;
    entity->first = model->sample;
    entity->name = model_text(model, like->name);
    entity->volume = model_text(model, like->volume);
    if (!entity->name || !entity->volume) {
        free(entity);
        return NULL;
    }
    entity->place = list->count;
    lookup_insert(&list->index, entity_hash(like), list->count);
    list->at[list->count++] = entity;
    return entity;
}

static bool is_forgotten(const struct model *model, const struct entity *e)
{
    uint64_t last = e->active > e->listed ? e->active : e->listed;

    if (e->kind == ENTITY_COVERAGE || e->kind == ENTITY_PROFILE)
        return e->listed != model->sample;
    return model->sample - last > (e->exited ? GONE_SAMPLES : IDLE_SAMPLES);
}

int model_forget(struct model *model)
{
    for (unsigned kind = 0; kind < ENTITY_KINDS; kind++) {
        struct entities *list = &model->of[kind];
        uint32_t kept = 0;

        for (uint32_t i = 0; i < list->count; i++)
            if (!is_forgotten(model, list->at[i])) {
                list->at[kept++] = list->at[i];
            } else {
                model->blends -= list->at[i]->blend != NULL;
                entity_free(list->at[i]);
            }
        if (kept == list->count)
            continue;
        list->count = kept;
        lookup_clear(&list->index);
        list->index = (struct lookup){0};
        for (uint32_t i = 0; i < kept; i++) {
            if (lookup_reserve(&list->index))
                return -ENOMEM;
            list->at[i]->place = i;
            lookup_insert(&list->index, entity_hash(list->at[i]), i);
        }
    }
    return forget_texts(model);
}
