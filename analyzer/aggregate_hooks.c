/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which hooks in the kernel nodes did without: that lowers what is said of jobs that ran there, and of no others. */
#include "analyzer/aggregate_private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/cleanup.h"
#include "probe/probe.h"

/* The node did without it; told once a node. 0 or -ENOMEM. */
static int note_node(struct node_total *node, struct hook_total *hook)
{
    for (uint32_t i = 0; i < node->missing_count; i++)
        if (node->missing[i] == hook->name)
            return 0;
    if (RESERVE(node->missing, node->missing, sizeof(*node->missing)))
        return -ENOMEM;
    node->missing[node->missing_count++] = hook->name;
    hook->node_count++;
    return 0;
}

static struct hook_total *find_hook(struct aggregate *a, const char *name)
{
    struct hook_total *hook;

    for (uint32_t i = 0; i < a->hook_count; i++)
        if (strcmp(a->hooks[i].name, name) == 0)
            return &a->hooks[i];
    if (RESERVE(a->hooks, a->hook, sizeof(*hook)))
        return NULL;
    hook = &a->hooks[a->hook_count];
    if (aggregate_keep(a, &hook->name, name))
        return NULL;
    a->hook_count++;
    return hook;
}

int aggregate_hooks(struct aggregate *a, struct node_total *node, const struct coverage *coverage)
{
    for (uint32_t i = 0; i < coverage->hook_count; i++) {
        const struct hook *from = &coverage->hooks[i];
        struct hook_total *hook = find_hook(a, from->name);

        if (!hook || (!from->attached && note_node(node, hook)))
            return -ENOMEM;
        if (!from->attached && !hook->missing) {
            hook->missing = true;
            hook->why = NULL; /* of when it was attached */
        }
        if (from->attached && hook->missing)
            continue;
        if ((from->why || !from->attached) &&
            aggregate_fill(a, &hook->why, from->why ? from->why : "not attached"))
            return -ENOMEM;
    }
    return 0;
}

static bool lacks(const struct node_total *node, const void *hook)
{
    for (uint32_t i = 0; i < node->missing_count; i++)
        if (node->missing[i] == hook)
            return true;
    return false;
}

int aggregate_name_hooks(struct aggregate *a)
{
    for (uint32_t i = 0; i < a->hook_count; i++) {
        struct hook_total *hook = &a->hooks[i];
        _cleanup_free_ char *text = NULL;
        size_t size;
        FILE *out;
        bool failed;

        hook->told = hook->why;
        if (!hook->missing || a->node_count < 2)
            continue;
        out = open_memstream(&text, &size);
        if (!out)
            return -ENOMEM;
        fprintf(out, "%s (", hook->why);
        aggregate_name_nodes(a, lacks, hook->name, "", out);
        fprintf(out, ": %u of %u nodes)", hook->node_count, a->node_count);
        failed = ferror(out);
        if (fclose(out) || failed || !(hook->told = arena_strdup(&a->arena, text)))
            return -ENOMEM;
    }
    return 0;
}

static const struct node_total *find_node(const struct aggregate *a, const char *cluster, const char *name)
{
    uint32_t low = 0, high = a->node_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct node_total *node = &a->nodes[middle];
        int order = strcmp(cluster, node->cluster) ?: strcmp(name, node->node);

        if (!order)
            return node;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

bool aggregate_misses(const struct aggregate *a, const struct job_total *job, const struct hook_total *hook)
{
    if (!hook->missing || !job || hook->node_count == a->node_count)
        return hook->missing;
    for (uint32_t i = 0; i < job->node_count; i++) {
        const struct node_total *node = find_node(a, job->cluster, job->nodes[i]);

        if (node && lacks(node, hook->name))
            return true;
    }
    return false;
}

bool aggregate_shed_unknown(const struct aggregate *a)
{
    bool too_dear = false;

    for (unsigned i = 0; i < SHED_COUNT; i++)
        if (a->shed_ms[i])
            return false;
    for (uint32_t i = 0; i < a->hook_count; i++)
        too_dear = too_dear || (a->hooks[i].why && strcmp(a->hooks[i].why, PROBE_TOO_DEAR) == 0);
    return too_dear;
}

/* Whether one of the hooks has been attached, and none was missed where the job ran. */
static bool sees(const struct aggregate *a, const struct job_total *job, const char *const *names)
{
    bool seen = false;

    for (uint32_t i = 0; i < a->hook_count; i++)
        for (unsigned k = 0; names[k]; k++) {
            if (strcmp(a->hooks[i].name, names[k]) != 0)
                continue;
            if (a->hooks[i].missing ? aggregate_misses(a, job, &a->hooks[i]) : a->hooks[i].why != NULL)
                return false;
            seen = true;
        }
    return seen;
}

unsigned aggregate_missing_hooks(const struct aggregate *a)
{
    unsigned missing = 0;

    for (uint32_t i = 0; i < a->hook_count; i++)
        missing += a->hooks[i].missing && strcmp(a->hooks[i].name, HOOK_GPU) != 0;
    return missing;
}

const char *aggregate_missing_way(const struct aggregate *a)
{
    static const char *const ways[] = {"32-bit calls", "libaio"};

    for (size_t w = 0; w < sizeof(ways) / sizeof(*ways); w++)
        for (uint32_t i = 0; i < a->hook_count; i++)
            if (a->hooks[i].missing && strcmp(a->hooks[i].name, ways[w]) == 0)
                return ways[w];
    return NULL;
}

bool aggregate_sees_faults(const struct aggregate *a, const struct job_total *job)
{
    static const char *const names[] = {"mmap_fault", NULL};

    return sees(a, job, names);
}

bool aggregate_sees_minor_faults(const struct aggregate *a, const struct job_total *job)
{
    static const char *const names[] = {"tp_btf/mm_filemap_map_pages", "fentry/filemap_map_pages", NULL};

    return sees(a, job, names);
}

bool aggregate_sees_receives(const struct aggregate *a, const struct job_total *job)
{
    static const char *const names[] = {"tp_btf/tcp_rcv_space_adjust", NULL};

    return sees(a, job, names);
}
