/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who is looked at closely: gathers their records from then on. What is drawn of them is in detail_page.c. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/top/navigate.h"
#include "analyzer/top/screen.h"

void detail_clear(struct detail *detail)
{
    tally_clear(&detail->tally);
    for (unsigned i = 0; i < FLOW_KINDS; i++) {
        histogram_clear(&detail->burst[i]);
        histogram_clear(&detail->steady[i]);
    }
    free(detail->volumes);
    free(detail->files);
    *detail = (struct detail){0};
}

void detail_begin(struct screen *screen)
{
    detail_clear(&screen->detail);
    screen->detail.who = screen->selected;
}

static bool is_process(const struct batch *batch, const struct selection *who, const struct record *record)
{
    if (!who->pid)
        return record->process == NO_INDEX && strcmp(batch->jobs[record->job].name, who->name) == 0;
    return record->process != NO_INDEX && batch->processes[record->process].pid == who->pid &&
           batch->processes[record->process].start_ns == who->start_ns &&
           (who->kind != ENTITY_THREAD || batch->processes[record->process].tid == who->tid);
}

static bool is_of(const struct batch *batch, const struct selection *who, const struct record *record)
{
    const char *job = batch->jobs[record->job].name, *volume = batch->volumes[record->volume].name;

    switch (who->kind) {
    case ENTITY_PROCESS:
    case ENTITY_THREAD:
        return is_process(batch, who, record);
    case ENTITY_JOB:
        return strcmp(job, who->name) == 0;
    case ENTITY_VOLUME:
    case ENTITY_DEVICE:
        return strcmp(volume, who->name) == 0 && operation_is_file(record->op) == (who->kind == ENTITY_VOLUME);
    case ENTITY_FLOW:
        return strcmp(job, who->name) == 0 && strcmp(volume, who->volume) == 0;
    default:
        return false;
    }
}

static struct amounts *volume_of(struct detail *detail, const struct volume *volume)
{
    struct detail_volume *grown;

    for (uint32_t i = 0; i < detail->volume_count; i++)
        if (strncmp(detail->volumes[i].name, volume->name, sizeof(detail->volumes[i].name) - 1) == 0)
            return &detail->volumes[i].amounts;
    grown = reallocarray(detail->volumes, detail->volume_count + 1u, sizeof(*grown));
    if (!grown)
        return NULL;
    detail->volumes = grown;
    grown = &grown[detail->volume_count++];
    *grown = (struct detail_volume){.amounts = {.in_flight = 0}};
    snprintf(grown->name, sizeof(grown->name), "%s", volume->name);
    snprintf(grown->fstype, sizeof(grown->fstype), "%s", volume->fstype);
    return &grown->amounts;
}

/* A flow belongs to a job: of a process, its job's are shown. */
static bool is_flow_of(const struct screen *screen, const struct batch *batch, const struct flow *flow)
{
    const struct selection *who = &screen->detail.who;
    const struct entity *entity = selected_entity(screen);
    const char *job = batch->jobs[flow->job].name, *volume = batch->volumes[flow->volume].name;

    if (who->kind == ENTITY_VOLUME)
        return strcmp(volume, who->name) == 0;
    if (who->kind == ENTITY_FLOW && strcmp(volume, who->volume) != 0)
        return false;
    return entity && strcmp(job, entity->job) == 0;
}

int detail_add(struct screen *screen, const struct batch *batch)
{
    struct detail *detail = &screen->detail;
    int err = 0;

    detail->seconds += (double)batch->duration_ns / 1e9;
    for (uint32_t i = 0; i < detail->volume_count; i++)
        detail->volumes[i].amounts.in_flight = 0;
    for (uint32_t i = 0; !err && i < batch->record_count; i++) {
        const struct record *record = &batch->records[i];
        struct amounts *amounts;

        if (!is_of(batch, &detail->who, record))
            continue;
        err = tally_add(&detail->tally, record);
        amounts = err ? NULL : volume_of(detail, &batch->volumes[record->volume]);
        if (!err && !amounts)
            err = -ENOMEM;
        if (!err)
            amounts_add(amounts, record);
    }
    for (uint32_t i = 0; !err && i < batch->flow_count; i++) {
        if (!is_flow_of(screen, batch, &batch->flows[i]))
            continue;
        for (unsigned kind = 0; !err && kind < FLOW_KINDS; kind++) {
            err = histogram_merge(&detail->burst[kind], &batch->flows[i].burst[kind]);
            if (!err)
                err = histogram_merge(&detail->steady[kind], &batch->flows[i].steady[kind]);
        }
    }
    return err;
}
