/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/fit_memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/vector.h"

struct fit *fit_memory_find(const struct fit_memory *memory, const bool *chosen, size_t signatures)
{
    for (uint32_t i = 0; i < memory->count; i++)
        if (memcmp(memory->fits[i].chosen, chosen, signatures * sizeof(*chosen)) == 0)
            return &memory->fits[i];
    return NULL;
}

static void fit_clear(struct fit *fit)
{
    free(fit->chosen);
    free(fit->of.rows);
    free(fit->of.amounts);
    free(fit->of.parts);
}

struct fit *fit_memory_add(struct fit_memory *memory, const bool *chosen, size_t signatures, size_t groups)
{
    struct fit *fit;

    if (memory->count == FIT_MEMORY_MAX)
        fit_clear(&memory->fits[--memory->count]);
    if (vector_reserve((void **)&memory->fits, &memory->capacity, memory->count, sizeof(*fit)))
        return NULL;
    fit = &memory->fits[memory->count];
    *fit = (struct fit){.score = INFINITY};
    for (size_t s = 0; s < signatures; s++)
        fit->of.count += chosen[s];
    fit->chosen = calloc(signatures + 1, sizeof(*fit->chosen));
    fit->of.rows = calloc(fit->of.count + 1, sizeof(*fit->of.rows));
    fit->of.amounts = calloc(fit->of.count + 1, sizeof(*fit->of.amounts));
    fit->of.parts = calloc(fit->of.count * groups + 1, sizeof(*fit->of.parts));
    if (!fit->chosen || !fit->of.rows || !fit->of.amounts || !fit->of.parts) {
        fit_clear(fit);
        return NULL;
    }
    memcpy(fit->chosen, chosen, signatures * sizeof(*chosen));
    memory->count++;
    return fit;
}

struct row_memory *fit_memory_rows(struct fit_memory *memory, unsigned claims, size_t signatures, size_t groups)
{
    struct row_memory *rows = &memory->rows[claims];

    if (!rows->rows)
        rows->rows = calloc(signatures * groups + 1, sizeof(*rows->rows));
    if (!rows->made)
        rows->made = calloc(signatures + 1, sizeof(*rows->made));
    return rows->rows && rows->made ? rows : NULL;
}

void fit_memory_clear(struct fit_memory *memory)
{
    for (unsigned claims = 0; claims < FIT_MEMORY_CLAIMS; claims++) {
        free(memory->rows[claims].rows);
        free(memory->rows[claims].made);
    }
    for (uint32_t i = 0; i < memory->count; i++)
        fit_clear(&memory->fits[i]);
    free(memory->fits);
    *memory = (struct fit_memory){0};
}
