/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/view/view.h"

#include <errno.h>
#include <string.h>

#include "analyzer/view/json.h"

json_t *json_suspects(const struct suspects *suspects)
{
    json_t *list = json_array();
    bool failed = !list;

    for (uint32_t i = 0; i < suspects->count; i++) {
        const struct suspect *s = &suspects->list[i];

        json_add(&failed, list,
                 json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:o,s:o,s:o,s:i,s:i,s:i}", "cluster", s->cluster, "node", s->node,
                           "job", s->job, "volume", s->volume, "op", operation_info(s->op)->name, "metric",
                           symptom_names[s->symptom], "value", json_number(s->value), "median", json_number(s->median),
                           "mads", json_number(s->mads), "peers", (int)s->peers, "bad_intervals", (int)s->bad,
                           "intervals", (int)s->intervals));
    }
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}

json_t *json_suspects_unlike(const struct suspects *suspects)
{
    json_t *list = json_array();
    bool failed = !list;

    for (uint32_t i = 0; i < suspects->unlike_count; i++) {
        const struct suspect *s = &suspects->unlike[i];

        json_add(&failed, list,
                 json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:i,s:i}", "cluster", s->cluster, "node", s->node, "job", s->job,
                           "volume", s->volume, "op", operation_info(s->op)->name, "metric",
                           symptom_names[s->symptom], "unlike_intervals", (int)s->bad, "intervals",
                           (int)s->intervals));
    }
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}

void view_suspects(const struct suspects *suspects, FILE *out)
{
    for (uint32_t i = 0; i < suspects->count; i++)
        if (!i || strcmp(suspects->list[i].node, suspects->list[i - 1].node) != 0)
            fprintf(out, "%s\n", suspects->list[i].node);
}
