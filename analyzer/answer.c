/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/answer.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/human.h"
#include "analyzer/remedy.h"

#define GROWTH_DAYS_MIN 2.0
#define HIGH_USE        0.8 /* from here on queues grow faster than demand */
#define FULL_USE        0.95

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

static void __attribute__((format(printf, 3, 4))) say(struct answer *a, enum answer_state state,
                                                      const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    free(a->verdict);
    a->verdict = write_text(format, arguments);
    a->state = state;
    va_end(arguments);
}

/* One more sentence. */
static void __attribute__((format(printf, 2, 3))) add(struct answer *a, const char *format, ...)
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

/* The busiest slot by bytes. */
static void add_peak(struct answer *a, const struct series *series)
{
    char rate[HUMAN_SIZE], time[HUMAN_SIZE], slot[HUMAN_SIZE];
    uint64_t most = 0;
    uint32_t at = 0;

    for (uint32_t i = 0; i < series->length; i++)
        if (demand_sum(&series->slots[i], DEMAND_BYTES) > most) {
            most = demand_sum(&series->slots[i], DEMAND_BYTES);
            at = i;
        }
    if (!most)
        return;
    human_time(time, (series->first + at) * (int64_t)series->slot_ms * 1000000);
    add(a, "Programs asked for most at %.10s %.8s UTC: %s/s over %s.", time, time + 11,
        human_bytes(rate, (double)most * 1e3 / series->slot_ms), human_duration(slot, series->slot_ms / 1e3));
}

/* What waits in a queue for longer than it takes to be served says that more comes than goes. */
static void add_queue(struct answer *a, const struct backends *backends)
{
    const struct backend *worst = NULL;
    char queue[HUMAN_SIZE], service[HUMAN_SIZE];
    double most = 0, q = 0, s = 0;

    for (uint32_t i = 0; i < backends->count; i++)
        for (unsigned r = REQUEST_READ; r <= REQUEST_WRITE; r++) {
            const struct station *station = &backends->list[i].requests[r];

            if (station->known & STATION_QUEUE && station->known & STATION_SERVICE && station->ops &&
                (double)station->queue_sum_ns > most) {
                most = (double)station->queue_sum_ns;
                worst = &backends->list[i];
                q = (double)station->queue_sum_ns / (double)station->ops;
                s = (double)station->service_sum_ns / (double)station->ops;
            }
        }
    if (worst)
        add(a, "Requests to %s on %s waited %s in the queue and took %s, on average.", worst->volume, worst->node,
            human_ns(queue, q), human_ns(service, s));
}

/* Demand with what the platform can do: of what reached it, where that was seen. */
static void compare(struct answer *a, const struct report *report)
{
    static const char *const words[METRIC_COUNT] = {"bytes read", "bytes written", "reads", "writes",
                                                    "metadata operations", "operations in flight"};
    const struct capacity *c = &report->capacity;
    const struct capacity_entry *entry = &c->cluster[c->cluster_count - 1];
    const struct capacity_use *use = NULL;
    char time[HUMAN_SIZE];

    for (unsigned w = CAPACITY_WINDOWS; w-- > 0;)
        if (entry->use[w].known)
            use = &entry->use[w];
    if (!use) {
        say(a, ANSWER_UNSURE, "Cannot tell, because the platform file limits nothing that was seen.");
        return;
    }
    human_time(time, use->max_ms * 1000000);
    say(a, use->max >= FULL_USE ? ANSWER_BAD : use->max >= HIGH_USE ? ANSWER_PLAIN : ANSWER_GOOD,
        "%s: %.0f %% of what %s can do at most, by %s, at %.10s %.8s UTC.",
        use->max >= FULL_USE ? "Yes" : use->max >= HIGH_USE ? "Nearly" : "No", 100 * use->max, report->offer->name,
        words[use->binding], time, time + 11);
    add(a, "%.0f %% on average, %.0f %% in the 95th percentile%s.", 100 * use->mean, 100 * use->p95,
        entry->reached ? "" : ", of what programs asked for: what reached it was not seen");
}

static void saturated(const struct report *report, struct answer *a)
{
    const struct windows *windows = &report->totals.windows;
    char in[HUMAN_SIZE], out[HUMAN_SIZE];
    uint64_t burst, steady;

    if (!report->offer) {
        say(a, ANSWER_UNSURE, "Cannot tell, because nobody said what storage can do (--platform).");
    } else if (!report->capacity.cluster_count) {
        say(a, ANSWER_UNSURE, "Cannot tell, because no shared volume was seen.");
    } else {
        compare(a, report);
    }
    if (histogram_quantile(&windows->burst[FLOW_DATA], 0.99, false, &burst) &&
        histogram_quantile(&windows->steady[FLOW_DATA], 0.99, false, &steady))
        add(a, "In bursts the p99 of reads and writes was %s, outside of them %s.", human_ns(in, (double)burst),
            human_ns(out, (double)steady));
    add_queue(a, &report->totals.backends);
    add_peak(a, &report->totals.series);
}

/* For how long, at most, some thread of the job was inside a read: longer than an interval it cannot be on a node. */
static double reading_s(const struct job_total *job)
{
    double sum = 0;

    for (uint32_t v = 0; v < job->volume_count; v++) {
        const struct series *busy = &job->volumes[v].busy;

        for (uint32_t i = 0; i < busy->length; i++)
            sum += fmin((double)busy->slots[i].demand[BUSY_READ] / 1e9,
                        busy->slot_ms / 1e3 * (job->node_count ? job->node_count : 1));
    }
    return sum;
}

static void gpus(const struct report *report, struct answer *a)
{
    const struct aggregate *totals = &report->totals;
    const struct job_total *most = NULL;
    double longest = 0;
    char time[HUMAN_SIZE];

    say(a, ANSWER_UNSURE, "Cannot tell, because no GPU was watched.");
    for (uint32_t i = 0; i < totals->job_count; i++) {
        double s = reading_s(&totals->jobs[i]);

        if (s > longest) {
            longest = s;
            most = &totals->jobs[i];
        }
    }
    if (most)
        add(a, "It cannot have been more than the time inside reads: most of it in %s, at most %s of its nodes' time.",
            most->name, longest < 60 ? human_ns(time, 1e9 * longest) : human_duration(time, longest));
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
        say(a, ANSWER_PLAIN, "Nobody: no storage I/O was seen.");
        return;
    }
    if (leaders[0] && leaders[0] == leaders[1] && leaders[0] == leaders[2])
        say(a, ANSWER_PLAIN, "%s, all three.", leaders[0]->name);
    else
        say(a, ANSWER_PLAIN, "Metadata: %s. Bytes: %s. Waiting: %s.", leaders[0] ? leaders[0]->name : "nobody",
            leaders[1] ? leaders[1]->name : "nobody", leaders[2]->name);
    if (leaders[0])
        add(a, "%.0f %% of metadata operations (%s).", 100 * most[0] / all[0], human_count(text[0], (uint64_t)most[0]));
    if (leaders[1])
        add(a, "%.0f %% of bytes (%s).", 100 * most[1] / all[1], human_bytes(text[1], most[1]));
    add(a, "%.0f %% of the time inside operations (%s in all threads).", 100 * most[2] / all[2],
        most[2] < 60 ? human_ns(text[2], 1e9 * most[2]) : human_duration(text[2], most[2]));
}

static void change(const struct report *report, struct answer *a)
{
    struct remedy r;
    char ops[HUMAN_SIZE], time[HUMAN_SIZE];
    double all = seconds_of(&report->totals.tally);

    if (!remedy_best(report, &r)) {
        say(a, ANSWER_GOOD, "None that would save a thousandth of the time in operations.");
        return;
    }
    human_count(ops, (uint64_t)r.ops);
    if (r.seconds < 60)
        human_ns(time, 1e9 * r.seconds);
    else
        human_duration(time, r.seconds);
    switch (r.kind) {
    case REMEDY_PACK:
        say(a, ANSWER_PLAIN, "Packing the files that %s reads on %s saves %s opens and %s.", r.job->name,
            r.volume->name, ops, time);
        add(a, "In files of 1 GiB, opened once each; what faster reading gains comes on top.");
        break;
    case REMEDY_ENLARGE:
        say(a, ANSWER_PLAIN, "Reading 1 MiB at a time in %s on %s saves %s reads and at least %s.", r.job->name,
            r.volume->name, ops, time);
        break;
    case REMEDY_LOOK:
        say(a, ANSWER_PLAIN, "Not looking for files that are not there saves %s %s calls on %s and %s.",
            r.job->name, ops, r.volume->name, time);
        break;
    case REMEDY_APART:
        say(a, ANSWER_PLAIN, "Running %s while %s does not use %s saves it %s.", r.job->name, r.other->name,
            r.volume->name, time);
        break;
    }
    add(a, "That is %.1f %% of the time that all threads spent in operations.", 100 * r.seconds / all);
    if (report->findings.count)
        add(a, "%u finding%s below.", report->findings.count, report->findings.count == 1 ? " is" : "s are");
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

    if (days < GROWTH_DAYS_MIN) {
        say(a, ANSWER_UNSURE, "Cannot tell, because the span is only %s.", human_duration(text, days * 86400));
        add(a, "Two days show a trend, two weeks a rate with its interval.");
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
    say(a, ANSWER_PLAIN, "Demand %s by %.0f %%, from the first to the second half of %.0f days.",
        c >= b ? "grew" : "fell", b > 0 ? 100 * fabs(c - b) / b : 0, days);
    if (grown)
        add(a, "Most on %s: %s more than the %s before.", grown->name, human_bytes(text, most), more);
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
        say(a, ANSWER_UNSURE, "Cannot tell, because used bytes are not in the records.");
        add(a, "Agents ask for them once a minute.");
        return;
    }
    if (first) {
        human_time(early, soonest.early_ns);
        human_time(late, soonest.late_ns ? soonest.late_ns : soonest.early_ns);
        if (soonest.late_ns)
            say(a, ANSWER_BAD, "%s, between %.10s and %.10s.", first->name, early, late);
        else
            say(a, ANSWER_PLAIN, "%s, on %.10s at the earliest, if ever.", first->name, early);
        add(a, "It grows by %s a day.", human_bytes(used, fmax(soonest.value, 0)));
    } else if (totals->end_ns - totals->start_ns < FILLING_DAYS_MIN * 86400000000000LL) {
        say(a, ANSWER_UNSURE, "Cannot tell, because two weeks are needed to see how fast volumes grow.");
    } else {
        say(a, ANSWER_GOOD, "Never, as it goes now: no volume grows.");
    }
    filling_last(&fullest->filling, &space);
    add(a, "Fullest is %s: %.0f %%, %s of %s.", fullest->name, 100 * most, human_bytes(used, (double)space.used_bytes),
        human_bytes(total, (double)space.total_bytes));
}

static void unseen(const struct report *report, struct answer *a)
{
    const struct aggregate *totals = &report->totals;
    uint64_t ops = tally_file_ops(&totals->tally);
    double share = ops + totals->lost ? (double)totals->lost / (double)(ops + totals->lost) : 0;
    unsigned missing = 0;
    char lost[HUMAN_SIZE], coarse[HUMAN_SIZE], nobody[HUMAN_SIZE];

    for (uint32_t i = 0; i < totals->hook_count; i++)
        missing += totals->hooks[i].missing;
    if (report->damaged)
        say(a, ANSWER_BAD, "Part of a recording: it is damaged.");
    else if (totals->lost || totals->dropped_batches)
        say(a, share > 0.01 ? ANSWER_BAD : ANSWER_PLAIN, "%s operations, %.2g %% of all.",
            human_count(lost, totals->lost), 100 * share);
    else if (missing || totals->bypass_count)
        say(a, ANSWER_PLAIN, "No operation was lost; %u hook%s missing.", missing, missing == 1 ? " is" : "s are");
    else
        say(a, ANSWER_GOOD, "Nothing of what is watched was lost.");
    add(a, "%s operations stand under a coarser key, %s without a job or volume.",
        human_count(coarse, totals->overflow), human_count(nobody, totals->unattributed));
    if (totals->bypass_count)
        add(a, "%u way%s around the kernel found.", totals->bypass_count,
            totals->bypass_count == 1 ? " was" : "s were");
    if (totals->dropped_batches)
        add(a, "%s batches were dropped on the way.", human_count(lost, totals->dropped_batches));
}

int answers_of(const struct report *report, struct answer out[ANSWERS])
{
    static void (*const all[ANSWERS])(const struct report *, struct answer *) = {saturated, gpus, causes, change,
                                                                                 growth,    full, unseen};
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
