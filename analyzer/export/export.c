/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/export/export.h"

#include <ctype.h>
#include <string.h>

const struct volume_total *export_volume(const struct export *export, const struct job_total *job)
{
    const struct volume_total *best = NULL;

    for (uint32_t v = 0; v < job->volume_count; v++) {
        const struct volume_total *volume = &job->volumes[v];
        uint64_t bytes = tally_file_bytes(&volume->tally), ops = tally_file_ops(&volume->tally);

        if (!ops || (export->volume && strcmp(export->volume, volume->name) != 0))
            continue;
        if (!best || bytes > tally_file_bytes(&best->tally) ||
            (bytes == tally_file_bytes(&best->tally) && ops > tally_file_ops(&best->tally)))
            best = volume;
    }
    return best;
}

double export_span_s(const struct job_total *job)
{
    int64_t first = INT64_MAX, last = INT64_MIN;

    for (uint32_t i = 0; i < job->unit_count; i++) {
        first = job->units[i].first_ns < first ? job->units[i].first_ns : first;
        last = job->units[i].last_ns > last ? job->units[i].last_ns : last;
    }
    return first < last ? (double)(last - first) / 1e9 : job->series.length * job->series.slot_ms / 1e3;
}

void export_put_name(FILE *out, const char *name)
{
    for (; *name; name++)
        fputc(iscntrl((unsigned char)*name) ? '?' : *name, out);
}
