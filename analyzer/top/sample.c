/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/top/sample.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"

void sample_clear(struct sample *sample)
{
    batch_free(sample->batch);
    for (uint32_t i = 0; i < sample->node_count; i++) {
        free(sample->nodes[i].node);
        free(sample->nodes[i].role);
    }
    free(sample->nodes);
    *sample = (struct sample){0};
}

static struct node_sample *node_of(struct sample *sample, const char *node, const char *role)
{
    struct node_sample *grown;

    for (uint32_t i = 0; i < sample->node_count; i++)
        if (strcmp(sample->nodes[i].node, node) == 0)
            return &sample->nodes[i];
    grown = reallocarray(sample->nodes, sample->node_count + 1u, sizeof(*grown));
    if (!grown)
        return NULL;
    sample->nodes = grown;
    grown = &grown[sample->node_count];
    *grown = (struct node_sample){.node = strdup(node), .role = strdup(role)};
    if (!grown->node || !grown->role) {
        free(grown->node);
        free(grown->role);
        return NULL;
    }
    sample->node_count++;
    return grown;
}

static int add_amounts(struct sample *sample, const struct batch *batch)
{
    struct node_sample *node = node_of(sample, batch->node, batch->role);
    _cleanup_free_ struct dense *dense = calloc(2, sizeof(*dense));

    if (!node || !dense)
        return -ENOMEM;
    for (uint32_t i = 0; i < batch->record_count; i++) {
        const struct record *record = &batch->records[i];

        if (!operation_is_file(record->op))
            continue;
        amounts_add(&node->amounts, record);
        dense_add(&dense[0], &record->latency_ns);
        if (operation_info(record->op)->class == OP_CLASS_DATA)
            dense_add(&dense[1], &record->size);
    }
    dense_spread(&dense[0], false, &node->amounts.latency_ns);
    dense_spread(&dense[1], true, &node->amounts.size);
    node->lost += batch->coverage.lost;
    node->overflow += batch->coverage.overflow;
    return 0;
}

int sample_add_node(struct sample *sample, struct batch *batch)
{
    int err = add_amounts(sample, batch);

    if (!err && !sample->batch)
        err = batch_new(&sample->batch) || batch_set(sample->batch, &sample->batch->node, "*") ? -ENOMEM : 0;
    if (!err)
        err = batch_merge(sample->batch, batch, GRAIN_JOBS);
    if (!err)
        sample->batch->interval_ms = batch->interval_ms;
    batch_free(batch);
    return err;
}

int sample_merge(struct sample *sample, struct sample *later, bool keep_processes)
{
    _cleanup_(sample_clear) struct sample from = {0};

    if (!sample->batch) {
        *sample = *later;
        *later = (struct sample){0};
        return 0;
    }
    from = *later;
    *later = (struct sample){0};
    for (uint32_t i = 0; i < from.node_count; i++) {
        struct node_sample *node = node_of(sample, from.nodes[i].node, from.nodes[i].role);

        if (!node)
            return -ENOMEM;
        amounts_merge(&node->amounts, &from.nodes[i].amounts);
        node->amounts.latency_ns = from.nodes[i].amounts.latency_ns;
        node->amounts.size = from.nodes[i].amounts.size;
        node->lost += from.nodes[i].lost;
        node->overflow += from.nodes[i].overflow;
    }
    return batch_merge(sample->batch, from.batch, keep_processes ? GRAIN_THREADS : GRAIN_JOBS);
}
