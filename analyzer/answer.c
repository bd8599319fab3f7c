/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/answer.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/answer_private.h"
#include "analyzer/human.h"
#include "analyzer/remedy.h"

#define GROWTH_DAYS_MIN 2.0

const char *const answer_states[ANSWER_STATES] = {"plain", "good", "bad", "unsure"};

static const char *const questions[ANSWERS][2] = {
    [ANSWER_SATURATED] = {"saturated", "Is storage saturated, by what, and when?"},
    [ANSWER_GPUS] = {"gpus", "Do GPUs wait for it, in which jobs, for how long?"},
    [ANSWER_CAUSES] = {"causes", "Who causes most metadata, bytes and waiting?"},
    [ANSWER_CHANGE] = {"change", "Which one change helps most, and by how much?"},
    [ANSWER_GROWTH] = {"growth", "What grew?"},
    [ANSWER_FULL] = {"full", "When is it full?"},
    [ANSWER_UNSEEN] = {"unseen", "What was not seen?"},
};

static char *write_text(const char *format, va_list arguments)
{
    char *text;

    return vasprintf(&text, format, arguments) < 0 ? NULL : text;
}

void answer_say(struct answer *a, enum answer_state state, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    free(a->verdict);
    a->verdict = write_text(format, arguments);
    a->state = state;
    va_end(arguments);
}

void answer_add(struct answer *a, const char *format, ...)
{
    va_list arguments;
    char *text, *joined;

    va_start(arguments, format);
    text = write_text(format, arguments);
    va_end(arguments);
    if (text && a->detail && asprintf(&joined, "%s%s%s", a->detail, *a->detail ? " " : "", text) >= 0) {
        free(a->detail);
        a->detail = joined;
    }
    free(text);
}

static double seconds_of(const struct tally *tally)
{
    double seconds = 0;

    for (enum operation op = OP_FIRST; op < OP_FILE_END; op++)
        seconds += (double)tally->op[op].latency_sum_ns / 1e9;
    return seconds;
}

static uint64_t metadata_of(const struct tally *tally)
{
    uint64_t ops = 0;

    for (enum operation op = OP_FIRST; op < OP_FILE_END; op++)
        if (operation_info(op)->class == OP_CLASS_METADATA)
            ops += tally_ops(tally, op);
    return ops;
}

static void causes(const struct report *report, struct answer *a)
{
    const struct aggregate *totals = &report->totals;
    const struct job_total *leaders[3] = {NULL};
    double most[3] = {0}, all[3] = {0};
    char text[3][HUMAN_SIZE];

    for (uint32_t i = 0; i < totals->job_count; i++) {
        const struct tally *tally = &totals->jobs[i].tally;
        const double values[3] = {(double)metadata_of(tally), (double)tally_file_bytes(tally), seconds_of(tally)};

        for (unsigned n = 0; n < 3; n++) {
            all[n] += values[n];
            if (values[n] > most[n]) {
                most[n] = values[n];
                leaders[n] = &totals->jobs[i];
            }
        }
    }
    if (!leaders[2]) {
        answer_say(a, ANSWER_PLAIN, "Nobody: no storage I/O was seen.");
        return;
    }
    if (leaders[0] && leaders[0] == leaders[1] && leaders[0] == leaders[2])
        answer_say(a, ANSWER_PLAIN, "%s, all three.", leaders[0]->name);
    else
        answer_say(a, ANSWER_PLAIN, "Metadata: %s. Bytes: %s. Waiting: %s.", leaders[0] ? leaders[0]->name : "nobody",
            leaders[1] ? leaders[1]->name : "nobody", leaders[2]->name);
    if (leaders[0])
        answer_add(a, "%.0f %% of metadata operations (%s).", 100 * most[0] / all[0],
                   human_count(text[0], (uint64_t)most[0]));
    if (leaders[1])
        answer_add(a, "%.0f %% of bytes (%s).", 100 * most[1] / all[1], human_bytes(text[1], most[1]));
    answer_add(a, "%.0f %% of the time inside operations (%s in all threads).", 100 * most[2] / all[2],
        most[2] < 60 ? human_ns(text[2], 1e9 * most[2]) : human_duration(text[2], most[2]));
}

/* What may cost more than the change saves, of which nobody can tell what mending it would save. */
static void dearer(const struct report *report, double seconds, struct answer *a)
{
    double span_s = (double)(report->totals.end_ns - report->totals.start_ns) / 1e9;
    const struct finding *dearest = NULL;

    for (uint32_t i = 0; i < report->findings.count; i++) {
        const struct finding *f = &report->findings.list[i];

        if (isnan(f->gain) && !finding_is_trifle(f, span_s) && f->cost_high > seconds &&
            (!dearest || f->cost_high > dearest->cost_high))
            dearest = f;
    }
    if (dearest)
        answer_add(a, "Dearer, but with a gain that cannot be told: %s.", dearest->id);
}

static void change(const struct report *report, struct answer *a)
{
    struct remedy r;
    char ops[HUMAN_SIZE], time[HUMAN_SIZE];
    double all = seconds_of(&report->totals.tally);

    if (!remedy_best(report, &r)) {
        answer_say(a, ANSWER_GOOD, "None that would save a thousandth of the time in operations.");
        dearer(report, 0, a);
        return;
    }
    human_count(ops, (uint64_t)r.ops);
    if (r.seconds < 60)
        human_ns(time, 1e9 * r.seconds);
    else
        human_duration(time, r.seconds);
    switch (r.kind) {
    case REMEDY_PACK:
        answer_say(a, ANSWER_PLAIN, "Packing the files that %s reads on %s saves %s opens and %s.", r.job->name,
            r.volume->name, ops, time);
        answer_add(a, "In files of 1 GiB, opened once each; what faster reading gains comes on top.");
        break;
    case REMEDY_ENLARGE:
        answer_say(a, ANSWER_PLAIN, "Reading 1 MiB at a time in %s on %s saves %s reads and at least %s.", r.job->name,
            r.volume->name, ops, time);
        break;
    case REMEDY_LOOK:
        answer_say(a, ANSWER_PLAIN, "Not looking for files that are not there saves %s %s calls on %s and %s.",
            r.job->name, ops, r.volume->name, time);
        break;
    case REMEDY_APART:
        answer_say(a, ANSWER_PLAIN, "Running %s while %s does not use %s saves it %s%s.", r.job->name, r.other->name,
            r.volume->name, r.at_most ? "up to " : "", time);
        break;
    }
    answer_add(a, "That is %s%.1f %% of the time that all threads spent in operations.", r.at_most ? "up to " : "",
        100 * r.seconds / all);
    dearer(report, r.seconds, a);
    if (report->findings.count)
        answer_add(a, "%u finding%s below.", report->findings.count, report->findings.count == 1 ? " is" : "s are");
}

/* Bytes asked for in the first and the second half of the span. */
static void halves(const struct series *series, int64_t middle_ms, double *before, double *after)
{
    *before = *after = 0;
    for (uint32_t i = 0; i < series->length; i++)
        *((series->first + i) * series->slot_ms < middle_ms ? before : after) +=
            (double)demand_sum(&series->slots[i], DEMAND_BYTES);
}

static void growth(const struct report *report, struct answer *a)
{
    const struct aggregate *totals = &report->totals;
    double days = (double)(totals->end_ns - totals->start_ns) / 86400e9, most = 0, b = 0, c;
    int64_t middle = (totals->start_ns + (totals->end_ns - totals->start_ns) / 2) / 1000000;
    const struct volume_total *grown = NULL;
    char text[HUMAN_SIZE], more[HUMAN_SIZE];

    if (report->ahead) {
        answer_say(a, ANSWER_UNSURE, "Cannot tell, because %s.", report->ahead);
        return;
    }
    if (days < GROWTH_DAYS_MIN) {
        answer_say(a, ANSWER_UNSURE, "Cannot tell, because the span is only %s.", human_duration(text, days * 86400));
        answer_add(a, "Two days show a trend, two weeks a rate with its interval.");
        return;
    }
    for (uint32_t i = 0; i < totals->volume_count; i++) {
        halves(&totals->volumes[i].series, middle, &b, &c);
        if (c - b > most) {
            most = c - b;
            grown = &totals->volumes[i];
        }
    }
    if (grown)
        halves(&grown->series, middle, &b, &c);
    human_bytes(more, b);
    halves(&totals->series, middle, &b, &c);
    answer_say(a, ANSWER_PLAIN, "Demand %s by %.0f %%, from the first to the second half of %.0f days.",
        c >= b ? "grew" : "fell", b > 0 ? 100 * fabs(c - b) / b : 0, days);
    if (grown)
        answer_add(a, "Most on %s: %s more than the %s before.", grown->name, human_bytes(text, most), more);
}

static void full(const struct report *report, struct answer *a)
{
    const struct aggregate *totals = &report->totals;
    const struct volume_total *fullest = NULL, *first = NULL;
    double most = -1;
    struct growth soonest = {.known = false};
    char used[HUMAN_SIZE], total[HUMAN_SIZE], early[HUMAN_SIZE], late[HUMAN_SIZE];
    struct space space;

    for (uint32_t i = 0; i < totals->volume_count; i++) {
        const struct volume_total *volume = &totals->volumes[i];
        struct growth growth;

        if (!filling_last(&volume->filling, &space))
            continue;
        if ((double)space.used_bytes / (double)space.total_bytes > most) {
            most = (double)space.used_bytes / (double)space.total_bytes;
            fullest = volume;
        }
        if (!filling_growth(&volume->filling, &growth) && growth.known && growth.early_ns &&
            (!first || growth.early_ns < soonest.early_ns)) {
            soonest = growth;
            first = volume;
        }
    }
    if (!fullest) {
        answer_say(a, ANSWER_UNSURE, "Cannot tell, because used bytes are not in the records.");
        answer_add(a, "Agents ask for them once a minute.");
        return;
    }
    if (first) {
        human_time(early, soonest.early_ns);
        human_time(late, soonest.late_ns ? soonest.late_ns : soonest.early_ns);
        if (soonest.late_ns)
            answer_say(a, ANSWER_BAD, "%s, between %.10s and %.10s.", first->name, early, late);
        else
            answer_say(a, ANSWER_PLAIN, "%s, on %.10s at the earliest, if ever.", first->name, early);
        answer_add(a, "It grows by %s a day.", human_bytes(used, fmax(soonest.value, 0)));
    } else if (report->ahead) {
        answer_say(a, ANSWER_UNSURE, "Cannot tell, because %s.", report->ahead);
    } else if (totals->end_ns - totals->start_ns < FILLING_DAYS_MIN * 86400000000000LL) {
        answer_say(a, ANSWER_UNSURE, "Cannot tell, because two weeks are needed to see how fast volumes grow.");
    } else {
        answer_say(a, ANSWER_GOOD, "Never, as it goes now: no volume grows.");
    }
    filling_last(&fullest->filling, &space);
    answer_add(a, "Fullest is %s: %.0f %%, %s of %s.", fullest->name, 100 * most,
               human_bytes(used, (double)space.used_bytes), human_bytes(total, (double)space.total_bytes));
}

static void unseen(const struct report *report, struct answer *a)
{
    const struct aggregate *totals = &report->totals;
    uint64_t ops = tally_file_ops(&totals->tally);
    double share = ops + totals->lost ? (double)totals->lost / (double)(ops + totals->lost) : 0;
    unsigned missing = aggregate_missing_hooks(totals);
    char lost[HUMAN_SIZE], coarse[HUMAN_SIZE], nobody[HUMAN_SIZE], part[HUMAN_SIZE];

    if (report->damaged)
        answer_say(a, ANSWER_BAD, "Part of a recording: it is damaged.");
    else if (totals->lost || totals->dropped_batches)
        answer_say(a, share > 0.01 ? ANSWER_BAD : ANSWER_PLAIN, "%s operation%s, %s %% of all.",
            human_count(lost, totals->lost), totals->lost == 1 ? "" : "s", human_estimate(part, 100 * share));
    else if (missing || totals->bypass_count)
        answer_say(a, ANSWER_PLAIN, "No operation was lost; %u hook%s missing.", missing,
                   missing == 1 ? " is" : "s are");
    else
        answer_say(a, ANSWER_GOOD, "Nothing of what is watched was lost.");
    answer_add(a, "%s operation%s under a coarser key, %s without a job or volume.",
        human_count(coarse, totals->overflow), totals->overflow == 1 ? " stands" : "s stand",
        human_count(nobody, totals->unattributed));
    if (totals->bypass_count)
        answer_add(a, "%u way%s around the kernel found.", totals->bypass_count,
            totals->bypass_count == 1 ? " was" : "s were");
    if (totals->dropped_batches)
        answer_add(a, "%s batches were dropped on the way.", human_count(lost, totals->dropped_batches));
}

int answers_of(const struct report *report, struct answer out[ANSWERS])
{
    static void (*const all[ANSWERS])(const struct report *, struct answer *) = {
        answer_saturated, answer_gpus, causes, change, growth, full, unseen};
    bool failed = false;

    for (unsigned i = 0; i < ANSWERS; i++) {
        out[i] = (struct answer){.id = questions[i][0], .question = questions[i][1], .detail = strdup("")};
        if (out[i].detail)
            all[i](report, &out[i]);
        failed |= !out[i].detail || !out[i].verdict;
    }
    if (!failed)
        return 0;
    answers_clear(out);
    return -ENOMEM;
}

void answers_clear(struct answer answers[ANSWERS])
{
    for (unsigned i = 0; i < ANSWERS; i++) {
        free(answers[i].verdict);
        free(answers[i].detail);
        answers[i] = (struct answer){0};
    }
}
