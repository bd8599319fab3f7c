/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/view/view.h"

#include <errno.h>
#include <string.h>

#include "analyzer/view/json.h"

static json_t *suspect(const struct suspect *s)
{
    return json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:o,s:o,s:o,s:i,s:i,s:i}", "cluster", s->cluster, "node", s->node, "job",
                     s->job, "volume", s->volume, "op", operation_info(s->op)->name, "metric",
                     symptom_names[s->symptom], "value", json_number(s->value), "median", json_number(s->median), "mads",
                     json_number(s->mads), "peers", (int)s->peers, "bad_intervals", (int)s->bad, "intervals",
                     (int)s->intervals);
}

static json_t *unlike(const struct suspect *s)
{
    return json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:i,s:i}", "cluster", s->cluster, "node", s->node, "job", s->job,
                     "volume", s->volume, "op", operation_info(s->op)->name, "metric", symptom_names[s->symptom],
                     "unlike_intervals", (int)s->bad, "intervals", (int)s->intervals);
}

static json_t *list_of(json_t *(*make)(const struct suspect *), const struct suspect *from, uint32_t count)
{
    json_t *list = json_array();
    bool failed = !list;

    for (uint32_t i = 0; i < count; i++)
        json_add(&failed, list, make(&from[i]));
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}

json_t *json_suspects(const struct suspects *suspects)
{
    return list_of(suspect, suspects->list, suspects->count);
}

json_t *json_suspects_unlike(const struct suspects *suspects)
{
    return list_of(unlike, suspects->unlike, suspects->unlike_count);
}

void view_suspects(const struct suspects *suspects, FILE *out)
{
    for (uint32_t i = 0; i < suspects->count; i++)
        if (!i || strcmp(suspects->list[i].node, suspects->list[i - 1].node) != 0)
            fprintf(out, "%s\n", suspects->list[i].node);
}
