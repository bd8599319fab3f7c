/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>

#include "analyzer/epoch.h"
#include "analyzer/human.h"
#include "analyzer/rhythm.h"
#include "analyzer/view/json.h"
#include "analyzer/view/text.h"

#define SHOWN_MIN 65536.0 /* bytes a second: a few lines of a log are no burst that anybody sees */

static json_t *spikes(const struct rhythm *r)
{
    json_t *list = json_array();
    bool failed = !list;

    for (uint32_t i = 0; i < r->spike_count && i < RHYTHM_SPIKES; i++)
        json_add(&failed, list,
                 json_pack("{s:o,s:f,s:f,s:f}", "start", json_time(r->spikes[i].start_ms * 1000000), "length_s",
                           r->spikes[i].length_s, "bytes", r->spikes[i].bytes, "peak_bytes_s", r->spikes[i].peak));
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}

/* How long the job's demand was watched, from its first interval to the end of its last one. */
static double watched_for(const struct aggregate *totals, const struct job_total *job)
{
    const struct series *series = &job->series;
    double from_s, end_s;

    if (!series->length)
        return 0;
    from_s = fmax((double)series_from(series) / 1e3, (double)totals->start_ns / 1e9);
    end_s = fmin((double)(series_last(series) + series->slot_ms) / 1e3, (double)totals->end_ns / 1e9);
    return watched_s(&totals->watched, from_s, end_s);
}

static json_t *one(const struct series *series, unsigned demands, double seconds)
{
    struct rhythm r;

    if (rhythm_of(series, demands, seconds, &r))
        return json_null();
    return json_pack("{s:o,s:o,s:i,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "mean_bytes_s", json_number(r.mean), "peak_bytes_s",
                     json_number(r.peak), "spikes", (int)r.spike_count, "period_s", json_number(r.period_s),
                     "steadiness", json_number(r.spike_count < 3 ? NAN : r.steadiness),
                     "spike_s", json_number(r.length_s), "spike_bytes", json_number(r.bytes), "spike_bytes_s",
                     json_number(r.bytes / r.length_s), "ramp_up_s", json_number(r.ramp_s), "first_spikes", spikes(&r));
}

static json_t *list_phases(const struct phases *phases)
{
    json_t *list = json_array();
    bool failed = !list;

    for (unsigned i = 0; i < phases->count; i++) {
        const struct phase *phase = &phases->list[i];

        json_add(&failed, list,
                 json_pack("{s:s,s:o,s:f,s:I,s:I,s:I}", "kind", phase_names[phase->kind], "start",
                           json_time(phase->start_ms * 1000000), "length_s", phase->length_s, "read_bytes",
                           (json_int_t)phase->sum.demand[DEMAND_READ_BYTES], "write_bytes",
                           (json_int_t)phase->sum.demand[DEMAND_WRITE_BYTES], "metadata_ops",
                           (json_int_t)phase->sum.demand[DEMAND_METADATA_OPS]));
    }
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *list_epochs(const struct job_total *job, const struct phases *phases)
{
    struct epochs epochs;

    epochs_of(job, phases, &epochs);
    if (!epochs.count)
        return json_null();
    return json_pack("{s:i,s:f,s:f,s:s}", "count", (int)epochs.count, "length_s", epochs.length_s, "bytes", epochs.bytes,
                     "told_by", epochs.of_set ? "working-set" : "phases");
}

json_t *json_rhythm(const struct job_total *job, const struct aggregate *totals)
{
    const struct series *series = &job->series;
    double seconds = watched_for(totals, job);
    struct phases phases;

    (void)phases_of(series, &phases); /* of nothing there are none */
    return json_pack("{s:o,s:o,s:o,s:o,s:o}", "data", one(series, DEMAND_BYTES, seconds), "read",
                     one(series, DEMAND_BIT(DEMAND_READ_BYTES), seconds), "write",
                     one(series, DEMAND_BIT(DEMAND_WRITE_BYTES), seconds),
                     "phases", list_phases(&phases), "epochs", list_epochs(job, &phases));
}

static void show(const struct pen *pen, const char *what, const struct series *series, unsigned demands, double seconds)
{
    char peak[HUMAN_SIZE], length[HUMAN_SIZE], period[HUMAN_SIZE], bytes[HUMAN_SIZE];
    struct draft line;
    struct rhythm r;

    if (rhythm_of(series, demands, seconds, &r) || !r.spike_count || !(r.peak >= SHOWN_MIN))
        return;
    draft_begin(&line, pen);
    fprintf(line.pen.out, "%s: mean %.0f %% of the highest interval (%s/s), %u spike%s of about %s and %s", what,
            100 * r.mean / r.peak, human_bytes(peak, r.peak), r.spike_count, r.spike_count == 1 ? "" : "s",
            human_duration(length, r.length_s), human_bytes(bytes, r.bytes));
    if (!isnan(r.period_s))
        fprintf(line.pen.out, ", every %s (%.0f %% steady)", human_duration(period, r.period_s), 100 * r.steadiness);
    draft_end(&line, 0, 2, TEXT_WIDTH);
}

static void show_phases(const struct pen *pen, const struct job_total *job)
{
    struct phases phases;
    struct epochs epochs;
    struct draft line;

    if (phases_of(&job->series, &phases))
        return;
    if (phases.count > 1) {
        draft_begin(&line, pen);
        fputs("phases: ", line.pen.out);
        phases_write(line.pen.out, &phases);
        draft_end(&line, 0, 2, TEXT_WIDTH);
    }
    epochs_of(job, &phases, &epochs);
    if (epochs.count) {
        draft_begin(&line, pen);
        epochs_write(line.pen.out, &epochs);
        draft_end(&line, 0, 2, TEXT_WIDTH);
    }
}

void text_rhythm(const struct pen *pen, const struct job_total *job, const struct aggregate *totals)
{
    double seconds = watched_for(totals, job);

    show_phases(pen, job);
    show(pen, "reads", &job->series, DEMAND_BIT(DEMAND_READ_BYTES), seconds);
    show(pen, "writes", &job->series, DEMAND_BIT(DEMAND_WRITE_BYTES), seconds);
}
