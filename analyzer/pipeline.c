/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/pipeline.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/evidence.h"
#include "analyzer/figure.h"
#include "analyzer/human.h"
#include "lib/cleanup.h"

#define UNMET_MAX 4 /* pipelines of which it is said what they lack */

static double quantile(const struct histogram *sizes)
{
    uint64_t value;

    return histogram_quantile(sizes, 0.5, true, &value) ? (double)value : NAN;
}

/* Half of the bytes move in pieces of that size or more: many reads of headers do not outvote what they describe. */
static double middle_of_bytes(const struct histogram *sizes)
{
    uint32_t half = figure_half_of(sizes);

    return half < sizes->length && figure_bytes_of(sizes, 1) > 0 ? (double)bucket_lower(sizes->cells[half].bucket) : NAN;
}

/* How uneven writes are: in windows of 10 s, or of 1 s where saves come more often than those. */
static int write_peak(const struct job_total *job, double *out)
{
    struct burst burst;
    int err;

    *out = NAN;
    if (!job->series.length)
        return 0;
    err = burst_of(&job->series, DEMAND_BIT(DEMAND_WRITE_BYTES), series_from(&job->series),
                   series_last(&job->series), &burst);
    if (!err)
        *out = fmax(burst.peak_to_mean[BURST_WINDOWS - 2], burst.peak_to_mean[BURST_WINDOWS - 1]);
    return err;
}

/* Share of the bytes of one that move while the other goes on as on average; in part where that is slower. NAN: there is
   no other. */
static double beside(const struct series *series, enum demand one, enum demand other)
{
    double all = 0, others = 0, sum = 0;

    for (uint32_t i = 0; i < series->length; i++) {
        all += (double)series->slots[i].demand[one];
        others += (double)series->slots[i].demand[other] / series->length;
    }
    for (uint32_t i = 0; i < series->length; i++)
        sum += (double)series->slots[i].demand[one] * fmin(1, (double)series->slots[i].demand[other] / others);
    return others > 0 ? sum / all : NAN;
}

/* Small when phases are apart, and 1 where short spikes of one come while the other goes on. */
static double overlap(const struct series *series)
{
    return fmax(beside(series, DEMAND_WRITE_BYTES, DEMAND_READ_BYTES),
                beside(series, DEMAND_READ_BYTES, DEMAND_WRITE_BYTES));
}

/* How much of what is transferred is read; sources do not say whether that is of operations or of bytes. */
static double reads_of(const struct ratios *ratios)
{
    return fabs(ratios->read_bytes - 0.5) < fabs(ratios->read_ops - 0.5) ? ratios->read_bytes : ratios->read_ops;
}

static double share_of(const struct profile_list *patterns, const char *name, bool bytes)
{
    for (uint32_t i = 0; i < patterns->count; i++)
        if (patterns->shares[i].profile && strcmp(patterns->shares[i].profile, name) == 0)
            return bytes ? patterns->shares[i].share_bytes : patterns->shares[i].share_ops;
    return 0;
}

static int value_of(const char *feature, const struct job_total *job,
                    const struct profile_list *patterns, double *out)
{
    struct ratios ratios;

    ratios_of(&job->tally, &ratios);
    *out = NAN;
    if (strncmp(feature, "share_bytes.", 12) == 0)
        *out = share_of(patterns, feature + 12, true);
    else if (strncmp(feature, "share_ops.", 10) == 0)
        *out = share_of(patterns, feature + 10, false);
    else if (strcmp(feature, "job.read_ops") == 0)
        *out = ratios.read_ops;
    else if (strcmp(feature, "job.reads") == 0)
        *out = reads_of(&ratios);
    else if (strcmp(feature, "job.read_p50") == 0)
        *out = quantile(&job->tally.op[OP_READ].size);
    else if (strcmp(feature, "job.read_bytes_p50") == 0)
        *out = middle_of_bytes(&job->tally.op[OP_READ].size);
    else if (strcmp(feature, "job.write_p50") == 0)
        *out = quantile(&job->tally.op[OP_WRITE].size);
    else if (strcmp(feature, "job.opens_per_close") == 0)
        *out = (double)(tally_succeeded(&job->tally, OP_OPEN) +
                        tally_succeeded(&job->tally, OP_CREATE)) /
               (double)tally_succeeded(&job->tally, OP_CLOSE);
    else if (strcmp(feature, "job.read_write_overlap") == 0)
        *out = overlap(&job->series);
    else if (strcmp(feature, "job.write_peak_to_mean") == 0)
        return write_peak(job, out);
    return 0;
}

static char *percent(char *buffer, double value)
{
    snprintf(buffer, HUMAN_SIZE, "%.0f %%", 100 * value);
    return buffer;
}

static char *plain(char *buffer, double value)
{
    snprintf(buffer, HUMAN_SIZE, "%.3g", value);
    return buffer;
}

/* How a feature is told where it is not as it should be; the last has the place of all others. */
static const struct wording {
    const char *feature; /* or how its name begins: the rest is said */
    const char *before, *after;
    char *(*number)(char *buffer, double value);
} wordings[] = {
    {"share_bytes.", " has ", " of bytes", percent},
    {"share_ops.", " has ", " of operations", percent},
    {"job.reads", "reads are ", " of what is read and written", percent},
    {"job.read_ops", "reads are ", " of read and write operations", percent},
    {"job.read_p50", "the median read has ", "", human_bytes},
    {"job.read_bytes_p50", "half of the bytes come in reads of at least ", "", human_bytes},
    {"job.write_p50", "the median write has ", "", human_bytes},
    {"job.opens_per_close", "there are ", " opens a close", plain},
    {"job.read_write_overlap", "of what is read, or of what is written, ", " comes while the other goes on",
     percent},
    {"job.write_peak_to_mean", "writes at their peak are ", " times their mean", plain},
    {"", " is ", "", plain},
};

static const struct wording *wording_of(const char *feature)
{
    const struct wording *w = wordings;

    while (strncmp(feature, w->feature, strlen(w->feature)) != 0)
        w++;
    return w;
}

/* "reads are 47 % of what is read and written" */
static int say_met(struct profile_share *share, const struct requirement *r, double value)
{
    const struct wording *w = wording_of(r->feature);
    char number[HUMAN_SIZE];

    return evidence_add(share, "%s%s%s%s", r->feature + strlen(w->feature), w->before, w->number(number, value), w->after);
}

/* 1 if every requirement holds, with a sentence each; 0 if not. */
static int matches(const struct profile *profile, const struct job_total *job,
                   const struct profile_list *patterns, struct profile_share *share)
{
    _cleanup_free_ double *values = calloc(profile->requirement_count + 1u, sizeof(*values));

    if (!values)
        return -ENOMEM;
    for (uint32_t i = 0; i < profile->requirement_count; i++) {
        const struct requirement *r = &profile->requirements[i];

        if (value_of(r->feature, job, patterns, &values[i]))
            return -ENOMEM;
        if (!(values[i] >= r->min && values[i] <= r->max))
            return 0;
    }
    for (uint32_t i = 0; i < profile->requirement_count; i++)
        if (say_met(share, &profile->requirements[i], values[i]))
            return -ENOMEM;
    return 1;
}

/* "reads are 23 % of read and write operations; nlp-mixed has 35 % to 60 %" */
static int say_unmet(struct profile_share *share, const char *name, const struct requirement *r, double value)
{
    const struct wording *w = wording_of(r->feature);
    char is[160], number[HUMAN_SIZE], min[HUMAN_SIZE], max[HUMAN_SIZE];

    if (isnan(value))
        snprintf(is, sizeof(is), "%s is not known", r->feature);
    else
        snprintf(is, sizeof(is), "%s%s%s%s", r->feature + strlen(w->feature), w->before, w->number(number, value),
                 w->after);
    if (isinf(r->max))
        return evidence_add(share, "%s; %s has at least %s", is, name, w->number(min, r->min));
    if (isinf(r->min))
        return evidence_add(share, "%s; %s has at most %s", is, name, w->number(max, r->max));
    return evidence_add(share, "%s; %s has %s to %s", is, name, w->number(min, r->min), w->number(max, r->max));
}

/* The first requirement of each that does not hold. */
static int say_none_fits(const struct catalogue *catalogue, const struct job_total *job,
                         const struct profile_list *patterns, struct profile_share *share)
{
    int err = evidence_add(share, "no pipeline of the catalogue fits patterns, ratio and timing");
    unsigned said = 0;

    for (uint32_t p = 0; !err && p < catalogue->count && said < UNMET_MAX; p++) {
        const struct profile *profile = &catalogue->profiles[p];

        for (uint32_t i = 0; !err && profile->pipeline && i < profile->requirement_count; i++) {
            const struct requirement *r = &profile->requirements[i];
            double value;

            err = value_of(r->feature, job, patterns, &value);
            if (err || (value >= r->min && value <= r->max))
                continue;
            err = say_unmet(share, profile->name, r, value);
            said++;
            break;
        }
    }
    return err;
}

/* It is called unknown no more surely than its patterns are known that speak against the others. */
static double confidence_of(const struct profile_list *patterns)
{
    double sum = 0, shares = 0;

    for (uint32_t i = 0; i < patterns->count; i++) {
        const struct profile_share *p = &patterns->shares[i];

        if (p->pipeline || !(p->share_ops > 0))
            continue;
        sum += p->share_ops * p->confidence;
        shares += p->share_ops;
    }
    return shares > 0 ? sum / shares : 0;
}

int pipeline_of(const struct catalogue *catalogue, const struct job_total *job,
                const struct profile_list *patterns, struct profile_share *share)
{
    share->profile = PROFILE_UNKNOWN;
    share->pipeline = true;
    share->share_ops = 1;
    share->share_bytes = tally_file_bytes(&job->tally) ? 1 : NAN;
    share->ops = tally_file_ops(&job->tally);
    share->bytes = tally_file_bytes(&job->tally);
    share->confidence = confidence_of(patterns);
    for (uint32_t p = 0; p < catalogue->count; p++) {
        const struct profile *profile = &catalogue->profiles[p];
        int found = profile->pipeline ? matches(profile, job, patterns, share) : 0;

        if (found < 0)
            return found;
        if (!found)
            continue;
        share->profile = profile->name;
        share->confidence = profile->confidence;
        return profile->limit ? evidence_add(share, "%s", profile->limit) : 0;
    }
    return say_none_fits(catalogue, job, patterns, share);
}
