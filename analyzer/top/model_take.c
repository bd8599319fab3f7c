/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A sample into the model: records are gathered entity by entity, so that each one's spreads are made in one place. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/top/blend.h"
#include "analyzer/top/pulse.h"
#include "analyzer/top/taking.h"
#include "lib/cleanup.h"

static void taking_clear(struct taking *t)
{
    free(t->jobs);
    free(t->processes);
    free(t->volumes);
    free(t->threads);
    free(t->rests[0]);
    free(t->rests[1]);
    free(t->next);
    free(t->head);
    free(t->counts);
}

static int gather_entity(struct taking *t, struct entity *e, uint32_t at)
{
    const bool process = e->kind == ENTITY_PROCESS;
    int err = 0;

    for (; at; at = t->next[at - 1]) {
        const struct record *record = &t->batch->records[at - 1];
        enum operation op = record->op;

        amounts_add(&e->now, record);
        dense_add(&t->latency_ns, &record->latency_ns);
        if (op == OP_READ || op == OP_WRITE || op == OP_BLOCK_READ || op == OP_BLOCK_WRITE)
            dense_add(&t->size, &record->size);
    }
    dense_spread(&t->latency_ns, false, &e->now.latency_ns);
    dense_spread(&t->size, true, &e->now.size);
    err = dense_give(&t->latency_ns, &e->latency_ns);
    if (!err)
        err = dense_give(&t->size, &e->size);
    dense_clear(&t->latency_ns);
    dense_clear(&t->size);
    if (e->now.count[COUNT_OPS] || e->now.in_flight)
        e->active = t->model->sample;
    if (!err && process && blend_admits(t->model, e))
        err = blend_begin(t->model, e);
    return err;
}

static int feed_blend(struct taking *t, struct entity *e, uint32_t at)
{
    int err = 0;

    for (; !err && e->blend && at; at = t->next[at - 1])
        err = blend_add(e->blend, &t->batch->records[at - 1]);
    return err;
}

static bool takes_part(const struct taking *t, enum entity_kind kind, const struct record *record)
{
    bool device = t->volumes[record->volume] && t->volumes[record->volume]->kind == ENTITY_DEVICE;

    if (!t->counts[record->volume])
        return false;
    switch (kind) {
    case ENTITY_VOLUME:
        return operation_is_file(record->op) && !device;
    case ENTITY_DEVICE: /* opened directly, a device has operations of the file layer: these are calls, not requests */
        return !operation_is_file(record->op) && device;
    default:
        return operation_is_file(record->op);
    }
}

static int gather(struct taking *t, enum entity_kind kind)
{
    const struct entities *list = &t->model->of[kind];
    int err = 0;

    for (uint32_t i = t->batch->record_count; i-- > 0;) {
        const struct record *record = &t->batch->records[i];
        const struct entity *owner;

        if (!takes_part(t, kind, record))
            continue;
        owner = taking_owner(t, kind, record);
        if (!owner)
            return -ENOMEM;
        t->next[i] = t->head[owner->place];
        t->head[owner->place] = i + 1;
    }
    for (uint32_t place = 0; !err && place < list->count; place++) {
        uint32_t at = t->head[place];

        t->head[place] = 0;
        if (at)
            err = gather_entity(t, list->at[place], at);
        if (!err && at)
            err = feed_blend(t, list->at[place], at);
    }
    return err;
}

/* Of everything, whatever the filter says: the header must not change its meaning. */
static int gather_total(struct taking *t)
{
    struct entity *total = &t->model->total;
    uint32_t head = 0;

    total->now = (struct amounts){0};
    for (uint32_t i = t->batch->record_count; i-- > 0;)
        if (operation_is_file(t->batch->records[i].op)) {
            t->next[i] = head;
            head = i + 1;
        }
    return gather_entity(t, total, head);
}

static int take_flows(struct taking *t)
{
    const struct batch *batch = t->batch;
    int64_t end = (batch->start_ns + (int64_t)batch->duration_ns - 1) / (FLOW_SLOT_MS * 1000000LL);
    struct entities *list = &t->model->of[ENTITY_FLOW];
    int err = 0;

    for (uint32_t i = 0; !err && i < batch->flow_count; i++) {
        const struct flow *flow = &batch->flows[i];
        const struct entity like = {.kind = ENTITY_FLOW, .name = batch->jobs[flow->job].name,
                                    .volume = batch->volumes[flow->volume].name};
        struct entity *e;

        if (!t->counts[flow->volume])
            continue;
        e = model_entity(t->model, &like);
        if (e && !e->pulse)
            e->pulse = pulse_new();
        if (!e || !e->pulse)
            return -ENOMEM;
        taking_list(t->model, e);
        e->active = t->model->sample;
        e->job = e->name;
        e->user = t->jobs[flow->job]->user;
        e->mounts = t->volumes[flow->volume]->mounts;
        e->fstype = t->volumes[flow->volume]->fstype;
        err = pulse_add(e->pulse, flow, end);
    }
    for (uint32_t i = 0; i < list->count; i++) {
        pulse_idle(list->at[i]->pulse, end);
        pulse_figures(list->at[i]->pulse, &list->at[i]->figure[FIGURE_PEAK]);
    }
    return err;
}

/* The storage side's own word on its requests: how long they waited, and how long they were served. */
static void take_stations(struct taking *t)
{
    const struct batch *batch = t->batch;

    for (uint32_t v = 0; v < batch->volume_count; v++) {
        struct entity *e = t->volumes[v];
        uint64_t in_flight = 0;
        struct spread queue, service;
        bool told = false;

        for (uint32_t i = 0; e && i < batch->station_count; i++) {
            const struct station *station = &batch->stations[i];

            /* what a server does itself is counted at its device once more */
            if (station->volume != v || layer_is_platform(station->layer) || station->party == PARTY_SERVER)
                continue;
            dense_add(&t->size, &station->queue_ns);
            dense_add(&t->latency_ns, &station->service_ns);
            if (station->known & STATION_IN_FLIGHT)
                in_flight += station->in_flight;
            told = true;
        }
        if (!told)
            continue;
        dense_spread(&t->size, false, &queue);
        dense_spread(&t->latency_ns, false, &service);
        dense_clear(&t->size);
        dense_clear(&t->latency_ns);
        e->figure[FIGURE_QUEUE_P99] = queue.p99 == NO_VALUE ? NAN : (double)queue.p99;
        e->figure[FIGURE_SERVICE_P99] = service.p99 == NO_VALUE ? NAN : (double)service.p99;
        if (e->kind == ENTITY_DEVICE)
            e->now.in_flight = in_flight;
        if (in_flight)
            e->active = t->model->sample;
    }
}

static int take_nodes(struct model *model, const struct sample *sample)
{
    for (uint32_t i = 0; i < sample->node_count; i++) {
        const struct node_sample *node = &sample->nodes[i];
        const struct entity like = {.kind = ENTITY_NODE, .name = node->node, .volume = ""};
        struct entity *e = model_entity(model, &like);

        if (!e)
            return -ENOMEM;
        e->now = node->amounts;
        e->listed = e->active = model->sample;
        e->node = e->name;
        e->state = model_text(model, node->role);
        e->figure[FIGURE_VALUE] = (double)(node->lost + node->overflow);
        if (!e->state)
            return -ENOMEM;
    }
    return 0;
}

/* Sums, histories and who has how many members, when all is gathered. */
static void finish(struct model *model)
{
    const struct amounts *now = &model->total.now;
    double seconds = model->seconds;

    for (uint32_t i = 0; i < model->of[ENTITY_JOB].count; i++)
        model->of[ENTITY_JOB].at[i]->figure[FIGURE_MEMBERS] = 0;
    for (unsigned kind = 0; kind <= ENTITY_FLOW; kind++)
        for (uint32_t i = 0; i < model->of[kind].count; i++) {
            struct entity *e = model->of[kind].at[i];

            if (e->listed != model->sample)
                e->now = (struct amounts)NO_AMOUNTS;
            amounts_merge(&e->sum, &e->now);
            model_remember(model, e->history, seconds > 0 ? (double)e->now.count[COUNT_OPS] / seconds : 0);
            if (kind == ENTITY_PROCESS && e->listed == model->sample) {
                const struct entity like = {.kind = ENTITY_JOB, .name = e->job, .volume = ""};
                struct entity *job = model_find(model, &like);

                if (job)
                    job->figure[FIGURE_MEMBERS]++;
            }
        }
    amounts_merge(&model->total.sum, now);
    model_remember(model, model->data_history,
                   seconds > 0 ? (double)(now->count[COUNT_READ_BYTES] + now->count[COUNT_WRITE_BYTES]) / seconds : 0);
    model_remember(model, model->metadata_history, seconds > 0 ? (double)now->count[COUNT_METADATA_OPS] / seconds : 0);
}

static bool lacks_hook(const struct coverage *c, const char *name)
{
    for (uint32_t i = 0; i < c->hook_count; i++)
        if (strcmp(c->hooks[i].name, name) == 0)
            return !c->hooks[i].attached;
    return false;
}

/* What was left out for part of the time only is shown, as what there was at least. */
static unsigned unknown_in(const struct batch *batch)
{
    const struct coverage *c = &batch->coverage;
    uint64_t whole_ms = batch->duration_ns / 1000000;
    bool detached = c->shed_ms[SHED_DETACHED] && c->shed_ms[SHED_DETACHED] >= whole_ms;
    bool metadata = c->shed_ms[SHED_METADATA_ONLY] && c->shed_ms[SHED_METADATA_ONLY] >= whole_ms;

    return (detached || metadata ? UNKNOWN_DATA | UNKNOWN_BLOCK | UNKNOWN_FAULTS : 0u) |
           (detached ? UNKNOWN_METADATA : 0u) |
           (lacks_hook(c, operation_info(OP_MMAP_FAULT)->name) ? UNKNOWN_FAULTS : 0u);
}

/* Moves the history on to the second of the wall clock that most of the sample's last second lies in: so one that ends
   a little early or late has its own. A clock that was set back moves nothing. */
static void turn_history(struct model *model)
{
    int64_t second = (model->end_ns - (int64_t)(1e9 * fmin(model->seconds, 1) / 2)) / 1000000000;
    int64_t turned = second - model->second;

    if (!model->told)
        turned = model->seconds > 1 ? llround(model->seconds) : 1;
    if (turned < 0)
        turned = 0;
    model->second = second > model->second ? second : model->second;
    model->turned = turned < HISTORY_SECONDS ? (unsigned)turned : HISTORY_SECONDS;
    model->told = model->told + model->turned < HISTORY_SECONDS ? model->told + model->turned : HISTORY_SECONDS;
}

static int allocate(struct taking *t)
{
    const struct batch *batch = t->batch;
    size_t places = 1;

    t->jobs = calloc(batch->job_count + 1u, sizeof(*t->jobs));
    for (unsigned i = 0; i < 2; i++)
        t->rests[i] = calloc(batch->job_count + 1u, sizeof(*t->rests[i]));
    t->threads = calloc(batch->process_count + 1u, sizeof(*t->threads));
    t->processes = calloc(batch->process_count + 1u, sizeof(*t->processes));
    t->volumes = calloc(batch->volume_count + 1u, sizeof(*t->volumes));
    t->counts = calloc(batch->volume_count + 1u, sizeof(*t->counts));
    t->next = calloc(batch->record_count + 1u, sizeof(*t->next));
    for (unsigned kind = 0; kind < ENTITY_KINDS; kind++)
        places += t->model->of[kind].count;
    places += 3 * batch->job_count + 2 * batch->process_count + batch->volume_count; /* as many may be made now */
    t->head = calloc(places, sizeof(*t->head));
    return t->jobs && t->rests[0] && t->rests[1] && t->processes && t->threads && t->volumes && t->counts && t->next && t->head ? 0 : -ENOMEM;
}

int model_add(struct model *model, const struct sample *sample)
{
    _cleanup_(taking_clear) struct taking t = {.model = model, .batch = sample->batch};
    int err = allocate(&t);

    model->sample++;
    model->seconds = (double)sample->batch->duration_ns / 1e9;
    model->sum_seconds += model->seconds;
    model->end_ns = sample->batch->start_ns + (int64_t)sample->batch->duration_ns;
    turn_history(model);
    model->unknown = unknown_in(sample->batch);
    if (err || (err = taking_jobs(&t)) || (err = taking_processes(&t)) || (err = taking_volumes(&t)))
        return err;
    for (enum entity_kind kind = ENTITY_PROCESS; !err && kind <= ENTITY_DEVICE; kind++)
        if (kind != ENTITY_THREAD || t.by_thread)
            err = gather(&t, kind);
    if (!err)
        err = gather_total(&t);
    if (!err)
        err = take_flows(&t);
    if (!err)
        take_stations(&t);
    if (!err)
        err = take_nodes(model, sample);
    if (err)
        return err;
    finish(model);
    err = blend_update(model);
    if (!err)
        err = model_take_mix(model);
    if (!err)
        err = model_take_coverage(model, &sample->batch->coverage);
    return err ? err : model_forget(model);
}
