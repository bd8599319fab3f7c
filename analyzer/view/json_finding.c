/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/view/json.h"

json_t *json_findings(const struct finding_list *findings)
{
    json_t *list = json_array();
    bool failed = !list;

    for (uint32_t i = 0; i < findings->count; i++) {
        const struct finding *f = &findings->list[i];
        json_t *evidence = json_array();

        failed |= !evidence;
        for (uint32_t k = 0; k < f->evidence_count; k++)
            json_add(&failed, evidence, json_string(f->evidence[k]));
        json_add(&failed, list,
                 json_pack("{s:s,s:s,s:o,s:o,s:o,s:o,s:s,s:o,s:o,s:{s:s,s:o,s:o},s:o,s:s,s:o,s:f}", "id", f->id,
                           "severity", f->severity, "job", json_text(f->job), "node", json_text(f->node), "volume",
                           json_text(f->volume), "user", json_text(f->user), "metric", f->metric, "value",
                           json_number(f->value), "expected", json_number(f->expected), "cost", "unit", "op_seconds",
                           "low", json_number(f->cost_low), "high", json_number(f->cost_high), "evidence", evidence,
                           "remedy", f->remedy, "gain", json_number(f->gain), "confidence", f->confidence));
    }
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}
