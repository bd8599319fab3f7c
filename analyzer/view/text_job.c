/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/view/text.h"

#include <math.h>
#include <string.h>

#include "analyzer/figure.h"
#include "analyzer/human.h"
#include "analyzer/view/text_detail.h"
#include "analyzer/view/text_volume.h"
#include "analyzer/wait.h"

#define SHARE_MISLEADS 0.1 /* so far from what devices see */
#define BAR_WIDTH 28
#define BAR_WIDTH_BESIDE 12 /* where shares have intervals */
#define INTERVAL_WIDTH 12 /* "(35 to 100)" */
#define COUNT_WIDTH 11
#define ERRORS_WIDTH 7

static void show_name(const struct pen *pen, const struct job_total *job)
{
    char read[HUMAN_SIZE], written[HUMAN_SIZE], ops[HUMAN_SIZE];

    fputc('\n', pen->out);
    draw_tone(pen, TONE_STRONG);
    draw_text(pen, job->name, 50);
    draw_tone(pen, TONE_PLAIN);
    fputs("  ", pen->out);
    draw_text(pen, job->kind, 0);
    if (job->user) {
        fputs(", user ", pen->out);
        draw_text(pen, job->user, 0);
    }
    if (job->node_count == 1) {
        fputs(", on ", pen->out);
        draw_text(pen, job->nodes[0], 0);
    } else {
        fprintf(pen->out, ", on %u nodes", job->node_count);
    }
    fprintf(pen->out, "\n  %s operation%s, %s read, %s written",
            human_count(ops, tally_file_ops(&job->tally)), tally_file_ops(&job->tally) == 1 ? "" : "s",
            human_bytes(read, (double)job->tally.op[OP_READ].bytes),
            human_bytes(written, (double)job->tally.op[OP_WRITE].bytes));
    if (job->process_count)
        fprintf(pen->out, ", %u process%s", job->process_count, job->process_count == 1 ? "" : "es");
    fputc('\n', pen->out);
}

/* "<1" for what is there and rounds to nothing. */
static void show_percent(const struct pen *pen, double share)
{
    if (isnan(share))
        fputs("    -  ", pen->out);
    else if (share > 0 && share < 0.005)
        fputs("  <1 % ", pen->out);
    else
        fprintf(pen->out, "%4.0f %% ", 100 * share);
}

/* A share with its interval, if it has one: "39 % (35 to 43)". */
static void show_share(const struct pen *pen, double share, const struct share_interval *interval, bool wide)
{
    char text[INTERVAL_WIDTH + 1] = "";

    show_percent(pen, share);
    if (!isnan(interval->low))
        snprintf(text, sizeof(text), "(%.0f to %.0f)", 100 * interval->low, 100 * interval->high);
    if (wide)
        fprintf(pen->out, "%-*s", INTERVAL_WIDTH, text);
}

static bool has_intervals(const struct profile_list *profiles)
{
    for (uint32_t i = 0; i < profiles->count; i++)
        if (!isnan(profiles->shares[i].ops_interval.low))
            return true;
    return false;
}

static void show_profiles(const struct pen *pen, const struct profile_list *profiles)
{
    bool wide = has_intervals(profiles);
    unsigned width = wide ? BAR_WIDTH_BESIDE : BAR_WIDTH;

    text_heading(pen, wide ? "Profile                         bytes                 ops          confidence"
                           : "Profile                                         bytes    ops   confidence");
    for (uint32_t i = 0; i < profiles->count; i++) {
        const struct profile_share *share = &profiles->shares[i];
        double length = isnan(share->share_bytes) ? share->share_ops : share->share_bytes;

        if (share->pipeline && strcmp(share->profile, PROFILE_UNKNOWN) == 0)
            continue; /* every job has one; the JSON says so, too */
        fprintf(pen->out, "  %-16s ", share->profile);
        draw_bar(pen, share->pipeline ? 0 : length, width);
        show_share(pen, share->share_bytes, &share->bytes_interval, wide);
        show_share(pen, share->share_ops, &share->ops_interval, wide);
        fprintf(pen->out, "      %3.0f %%\n", 100 * share->confidence);
        if (share->share_ops < 0.005 && !(share->share_bytes >= 0.005))
            continue; /* a trace needs no explanation */
        draw_tone(pen, TONE_FAINT);
        draw_paragraph(pen, (const char *const *)share->evidence, share->evidence_count, 6,
                       TEXT_WIDTH);
        draw_tone(pen, TONE_PLAIN);
    }
}

static void show_operations(const struct pen *pen, const struct tally *tally)
{
    char ops[HUMAN_SIZE], errors[HUMAN_SIZE], bytes[HUMAN_SIZE], a[HUMAN_SIZE], b[HUMAN_SIZE],
        c[HUMAN_SIZE], d[HUMAN_SIZE];

    text_heading(pen, "Operation           count  errors    bytes size p50      p99 time p50      p99");
    for (enum operation op = OP_FIRST; op < OP_COUNT; op++) {
        const struct record *record = &tally->op[op];
        bool sized = operation_info(op)->has_size;

        if (!record_ops(record))
            continue;
        fprintf(pen->out, "  %-13s %*s", operation_info(op)->name, COUNT_WIDTH,
                text_count(ops, record_ops(record), COUNT_WIDTH));
        draw_tone(pen, record->errors ? TONE_BAD : TONE_FAINT);
        fprintf(pen->out, " %*s", ERRORS_WIDTH, record->errors ? text_count(errors, record->errors, ERRORS_WIDTH) : "-");
        draw_tone(pen, TONE_PLAIN);
        fprintf(pen->out, "%9s%9s%9s%9s%9s\n",
                sized ? human_bytes(bytes, (double)record->bytes) : "",
                text_quantile(a, &record->size, 0.5, true, human_bytes),
                text_quantile(b, &record->size, 0.99, true, human_bytes),
                text_quantile(c, &record->latency_ns, 0.5, false, human_ns),
                text_quantile(d, &record->latency_ns, 0.99, false, human_ns));
    }
}

/* Bytes that devices wrote of which no write tells, as of mappings that are written to, where reads' share would be another
   one with them; else 0. Journals and blocks that are written again make the two differ, too: by less. */
static double written_by_no_call(const struct tally *tally, const struct ratios *r)
{
    double device = (double)tally->op[OP_BLOCK_WRITE].bytes, written = (double)tally->op[OP_WRITE].bytes;
    double read = (double)tally->op[OP_READ].bytes;

    return device > 2 * written && r->read_bytes - read / (read + device) > SHARE_MISLEADS ? device : 0;
}

static void show_ratios(const struct pen *pen, const struct tally *tally)
{
    char texts[4][120], opens[HUMAN_SIZE], device[HUMAN_SIZE];
    const char *sentences[4];
    struct ratios r;
    double unseen;
    uint32_t n = 0;

    ratios_of(tally, &r);
    unseen = written_by_no_call(tally, &r);
    if (unseen > 0)
        snprintf(texts[n++], sizeof(*texts),
                 "devices wrote %s, as mappings are written back: of the bytes that calls move %.0f %% are read",
                 human_bytes(device, unseen), 100 * r.read_bytes);
    else if (!isnan(r.read_bytes))
        snprintf(texts[n++], sizeof(*texts), "%.0f %% of the bytes are read", 100 * r.read_bytes);
    if (!isnan(r.read_ops))
        snprintf(texts[n++], sizeof(*texts), "%.0f %% of %s are reads", 100 * r.read_ops,
                 unseen > 0 ? "these calls" : "reads and writes");
    if (!isnan(r.metadata_ops))
        snprintf(texts[n++], sizeof(*texts), "%.0f %% of operations are metadata",
                 100 * r.metadata_ops);
    if (figure_tells_per_mib((double)tally->op[OP_READ].bytes + (double)tally->op[OP_WRITE].bytes))
        snprintf(texts[n++], sizeof(*texts), "%s opens per MiB", human_ratio(opens, r.opens_per_mib));
    for (uint32_t i = 0; i < n; i++)
        sentences[i] = texts[i];
    fputc('\n', pen->out);
    draw_paragraph(pen, sentences, n, 2, TEXT_WIDTH);
}

static const struct histogram *size_of(const struct tally *tally, enum operation op)
{
    return &tally->op[op].size;
}

static const struct histogram *latency_of(const struct tally *tally, enum operation op)
{
    return &tally->op[op].latency_ns;
}

static void show_wait(const struct pen *pen, const struct job_total *job)
{
    struct wait wait;
    struct gpu_loss loss;
    char a[HUMAN_SIZE], b[HUMAN_SIZE], c[HUMAN_SIZE], d[HUMAN_SIZE], e[HUMAN_SIZE], text[6 * HUMAN_SIZE + 64];
    const char *sentence = text;
    struct draft line;

    wait_of(job, &wait);
    snprintf(text, sizeof(text), "%s waited in operations: metadata %s, small reads %s, bandwidth %s, fsync %s",
             human_duration(a, wait.all_s), human_duration(b, wait.metadata_s), human_duration(c, wait.small_reads_s),
             human_duration(d, wait.bandwidth_s), human_duration(e, wait.fsync_s));
    draw_paragraph(pen, &sentence, 1, 2, TEXT_WIDTH);
    if (!isnan(wait.exposed))
        fprintf(pen->out, "  exposed: %.0f %% of %s in which nothing else was done\n", 100 * wait.exposed,
                human_duration(a, (double)job->watched_ns / 1e9));
    if (!gpu_loss_of(&job->gpu, &loss))
        return;
    draft_begin(&line, pen);
    fprintf(line.pen.out, "GPUs: idle for %.0f %% of %s", 100 * loss.idle, human_duration(a, 3600 * loss.watched_h));
    if (isnan(loss.usual))
        fprintf(line.pen.out, "; never without I/O, so how much of it is for that cannot be told");
    else
        fprintf(line.pen.out, ", %.0f %% when there was no I/O; lost to I/O %s to %s", 100 * loss.usual,
                human_duration(b, 3600 * loss.low_h), human_duration(c, 3600 * loss.high_h));
    draft_end(&line, 0, 2, TEXT_WIDTH);
}

static void show_row(const struct pen *pen, const struct axis *axis, const char *name, const struct histogram *h)
{
    fprintf(pen->out, "  %-11s", name);
    draw_octaves(pen, axis, h);
    fputc('\n', pen->out);
}

/* Beneath the sizes of transfers, those of them that jump. */
static void show_jumped(const struct pen *pen, const struct axis *axis, const struct record *record)
{
    struct histogram jumped;

    if (figure_jumped(record, &jumped) == 1 && jumped.length) {
        draw_tone(pen, TONE_FAINT);
        show_row(pen, axis, "  jumping", &jumped);
        draw_tone(pen, TONE_PLAIN);
    }
    histogram_clear(&jumped);
}

static void show_shape(const struct pen *pen, const struct tally *tally, const char *name,
                       const struct histogram *(*of)(const struct tally *, enum operation),
                       void (*beneath)(const struct pen *, const struct axis *, const struct record *),
                       char *(*unit)(char *, double))
{
    static const enum operation drawn[] = {OP_READ,   OP_WRITE, OP_MMAP_FAULT, OP_OPEN,
                                           OP_CREATE, OP_STAT,  OP_FSYNC};
    struct axis axis = {0};
    unsigned count = sizeof(drawn) / sizeof(*drawn);

    for (unsigned i = 0; i < count; i++)
        axis_hold(&axis, of(tally, drawn[i]));
    if (axis.first == axis.last)
        return;
    text_heading(pen, name);
    for (unsigned i = 0; i < count; i++) {
        if (!of(tally, drawn[i])->length)
            continue;
        show_row(pen, &axis, operation_info(drawn[i])->name, of(tally, drawn[i]));
        if (beneath)
            beneath(pen, &axis, &tally->op[drawn[i]]);
    }
    draw_tone(pen, TONE_FAINT);
    fprintf(pen->out, "  %-11s", "");
    draw_axis(pen, &axis, unit);
    draw_tone(pen, TONE_PLAIN);
    fputc('\n', pen->out);
}

static void show_latency(const struct pen *pen, const char *where, const struct histogram *h)
{
    uint64_t p50, p99;
    char a[HUMAN_SIZE], b[HUMAN_SIZE], c[HUMAN_SIZE];

    if (histogram_quantile(h, 0.5, false, &p50) && histogram_quantile(h, 0.99, false, &p99))
        fprintf(pen->out, "  reads and writes %s: %s, p50 %s, p99 %s\n", where,
                human_count(c, histogram_count(h)), human_ns(a, (double)p50), human_ns(b, (double)p99));
}

static void show_burst(const struct pen *pen, const struct job_total *job, const struct aggregate *totals)
{
    struct burst burst;
    char window[HUMAN_SIZE], period[HUMAN_SIZE];

    if (!job->series.length || burst_within(&job->series, DEMAND_BYTES, &job->series, &burst))
        return;
    if (windows_complete(&job->windows, &job->series))
        windows_burst(&job->windows, &job->windows, MEASURE_BYTES, &burst);
    for (unsigned w = 0; w < BURST_WINDOWS; w++)
        if (!isnan(burst.peak_to_mean[w]))
            fprintf(pen->out,
                    "  in windows of %s: peak %.1f times the mean, cv %.2f, %.0f %% idle\n",
                    human_duration(window, burst_window_ms[w] / 1e3), burst.peak_to_mean[w],
                    burst.cv[w], 100 * burst.idle[w]);
    if (!isnan(burst.period_s))
        fprintf(pen->out, "  demand repeats every %s\n", human_duration(period, burst.period_s));
    text_rhythm(pen, job, totals);
    show_latency(pen, "in bursts", &job->windows.burst[FLOW_DATA]);
    show_latency(pen, "outside of bursts", &job->windows.steady[FLOW_DATA]);
}

void text_job(const struct pen *pen, struct job_total *job, const struct profile_list *profiles,
              const struct aggregate *totals)
{
    show_name(pen, job);
    show_profiles(pen, profiles);
    show_operations(pen, &job->tally);
    text_detail(pen, &job->tally);
    show_ratios(pen, &job->tally);
    show_wait(pen, job);
    show_burst(pen, job, totals);
    show_shape(pen, &job->tally, "Sizes, one step a doubling", size_of, show_jumped, human_bytes);
    show_shape(pen, &job->tally, "Latency, one step a doubling", latency_of, NULL, human_ns);
    text_volumes(pen, job, totals);
}
