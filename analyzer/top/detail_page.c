/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Details in words and drawings: operations with their histograms, bursts, volumes, profiles. */
#include <curses.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/human.h"
#include "analyzer/top/blend.h"
#include "analyzer/top/detail_proc.h"
#include "analyzer/top/navigate.h"
#include "analyzer/top/paint.h"
#include "analyzer/top/screen.h"

void detail_head(const struct pen *pen, const char *title, const char *more)
{
    fputc('\n', pen->out);
    draw_tone(pen, TONE_STRONG);
    fputs(title, pen->out);
    draw_tone(pen, TONE_FAINT);
    fprintf(pen->out, "%s%s", *more ? "  " : "", more);
    draw_tone(pen, TONE_PLAIN);
    fputc('\n', pen->out);
}

static void put_who(const struct pen *pen, const struct entity *e, const struct detail *detail)
{
    char span[HUMAN_SIZE], time[HUMAN_SIZE];

    draw_tone(pen, TONE_STRONG);
    draw_text(pen, *e->mounts ? e->mounts : e->name, 0);
    draw_tone(pen, TONE_PLAIN);
    if (e->pid)
        fprintf(pen->out, "  process %u", e->pid);
    if (e->tid)
        fprintf(pen->out, ", thread %u", e->tid);
    if (e->start_ns)
        fprintf(pen->out, " since %.19s UTC", human_time(time, e->start_ns));
    if (*e->user) {
        fputs(", user ", pen->out);
        draw_text(pen, e->user, 0);
    }
    if (*e->job && e->kind != ENTITY_JOB) {
        fputs(", job ", pen->out);
        draw_text(pen, e->job, 0);
    }
    if (*e->fstype)
        fprintf(pen->out, ", %s, %s %s", e->fstype, e->state, e->source);
    if (e->exited)
        fputs(", has ended", pen->out);
    if (e->kind <= ENTITY_FLOW && e->kind != ENTITY_NODE)
        fprintf(pen->out, "; over %s", human_duration(span, detail->seconds));
    fputc('\n', pen->out);
}

static const char *quantile(const struct histogram *h, double q, bool skip_zeros, char *(*format)(char *, double),
                            char *buffer)
{
    uint64_t value;

    if (q < 1 ? !histogram_quantile(h, q, skip_zeros, &value) : !histogram_max(h, &value))
        return "-";
    return format(buffer, (double)value);
}

/* A narrow screen has the figures that matter most, so that the drawings are on it. */
#define NARROW 110

static void put_operation(const struct pen *pen, const struct axis *axis, const struct record *record, double seconds)
{
    char a[HUMAN_SIZE], b[HUMAN_SIZE], c[HUMAN_SIZE], d[HUMAN_SIZE], e[HUMAN_SIZE], f[HUMAN_SIZE], g[HUMAN_SIZE];
    const struct histogram *h = &record->latency_ns;

    fprintf(pen->out, "%-13s %7s %6s", operation_info(record->op)->name,
            human_rate(a, (double)histogram_count(h) / seconds), human_rate(b, (double)record->errors));
    if (COLS >= NARROW)
        fprintf(pen->out, " %10s %9s %9s",
                operation_info(record->op)->has_size ? human_bytes(c, (double)record->bytes / seconds) : "",
                quantile(h, 0.5, false, human_ns, d), quantile(h, 0.95, false, human_ns, e));
    fprintf(pen->out, " %9s", quantile(h, 0.99, false, human_ns, f));
    if (COLS >= NARROW)
        fprintf(pen->out, " %9s", quantile(h, 1, false, human_ns, g));
    fputs("  ", pen->out);
    draw_tone(pen, TONE_GOOD);
    draw_octaves(pen, axis, h);
    draw_tone(pen, TONE_PLAIN);
    fputc('\n', pen->out);
}

static void put_operations(const struct pen *pen, const struct detail *detail)
{
    struct axis axis = {0};
    double seconds = detail->seconds > 0 ? detail->seconds : 1;

    for (enum operation op = OP_FIRST; op < OP_COUNT; op++)
        axis_hold(&axis, &detail->tally.op[op].latency_ns);
    detail_head(pen, "Operations", "each with the histogram of how long it took, by powers of two");
    draw_tone(pen, TONE_FAINT);
    fprintf(pen->out, COLS < NARROW ? "%-13s %7s %6s" : "%-13s %7s %6s %10s %9s %9s", "", "ops/s", "errors", "bytes/s",
            "p50", "p95");
    fprintf(pen->out, COLS < NARROW ? " %9s  " : " %9s %9s  ", "p99", "max");
    draw_axis(pen, &axis, human_ns);
    draw_tone(pen, TONE_PLAIN);
    fputc('\n', pen->out);
    for (enum operation op = OP_FIRST; op < OP_COUNT; op++) {
        const struct record *record = &detail->tally.op[op];
        struct record named = *record;

        named.op = op; /* a tally's records have none before the first */
        if (record->latency_ns.length || record->in_flight)
            put_operation(pen, &axis, &named, seconds);
    }
}

static void put_sizes(const struct pen *pen, const struct detail *detail)
{
    struct axis axis = {0};
    char a[HUMAN_SIZE], b[HUMAN_SIZE], c[HUMAN_SIZE], d[HUMAN_SIZE];

    for (enum operation op = OP_FIRST; op < OP_COUNT; op++)
        axis_hold(&axis, &detail->tally.op[op].size);
    if (axis.first == axis.last)
        return;
    detail_head(pen, "Sizes", "of transfers, and of the files that were opened");
    draw_tone(pen, TONE_FAINT);
    fprintf(pen->out, COLS < NARROW ? "%-13s %7s %16s  " : "%-13s %7s %17s %9s %9s %9s  ", "", "zero", "p50", "p95",
            "p99", "max");
    draw_axis(pen, &axis, human_bytes);
    draw_tone(pen, TONE_PLAIN);
    fputc('\n', pen->out);
    for (enum operation op = OP_FIRST; op < OP_COUNT; op++) {
        const struct histogram *h = &detail->tally.op[op].size;
        char zeros[HUMAN_SIZE];

        if (!h->length)
            continue;
        fprintf(pen->out, COLS < NARROW ? "%-13s %7s %16s  " : "%-13s %7s %17s %9s %9s %9s  ", operation_info(op)->name,
                human_rate(zeros, (double)histogram_zeros(h)), quantile(h, 0.5, true, human_bytes, a),
                quantile(h, 0.95, true, human_bytes, b), quantile(h, 0.99, true, human_bytes, c),
                quantile(h, 1, true, human_bytes, d));
        draw_tone(pen, TONE_GOOD);
        draw_octaves(pen, &axis, h);
        draw_tone(pen, TONE_PLAIN);
        fputc('\n', pen->out);
    }
}

static void put_bursts(const struct pen *pen, const struct detail *detail, bool process)
{
    static const char *const names[FLOW_KINDS][2] = {{"data, burst", "data, steady"}, {"meta, burst", "meta, steady"}};
    struct axis axis = {0};
    char count[HUMAN_SIZE], a[HUMAN_SIZE], b[HUMAN_SIZE];

    for (unsigned i = 0; i < FLOW_KINDS; i++) {
        axis_hold(&axis, &detail->burst[i]);
        axis_hold(&axis, &detail->steady[i]);
    }
    if (axis.first == axis.last)
        return;
    detail_head(pen, "In bursts and outside of them",
                process ? "how long operations of its job took" : "how long it took");
    draw_tone(pen, TONE_FAINT);
    fprintf(pen->out, COLS < NARROW ? "%-13s %7s %16s  " : "%-13s %7s %17s %9s %19s  ", "", "ops", "p50", "p99", "");
    draw_axis(pen, &axis, human_ns);
    draw_tone(pen, TONE_PLAIN);
    fputc('\n', pen->out);
    for (unsigned i = 0; i < 2 * FLOW_KINDS; i++) {
        const struct histogram *h = i % 2 ? &detail->steady[i / 2] : &detail->burst[i / 2];

        if (!h->length)
            continue;
        fprintf(pen->out, COLS < NARROW ? "%-13s %7s %16s  " : "%-13s %7s %17s %9s %19s  ", names[i / 2][i % 2],
                human_rate(count, (double)histogram_count(h)), quantile(h, 0.5, false, human_ns, a),
                quantile(h, 0.99, false, human_ns, b), "");
        draw_tone(pen, i % 2 ? TONE_GOOD : TONE_BAD);
        draw_octaves(pen, &axis, h);
        draw_tone(pen, TONE_PLAIN);
        fputc('\n', pen->out);
    }
}

static void put_volumes(const struct pen *pen, const struct detail *detail)
{
    double seconds = detail->seconds > 0 ? detail->seconds : 1;

    if (!detail->volume_count)
        return;
    detail_head(pen, "Volumes", "");
    draw_tone(pen, TONE_FAINT);
    fprintf(pen->out, "%7s %10s %10s %7s %5s  %-8s %s\n", "ops/s", "read/s", "written/s", "meta/s", "fly", "fs",
            "volume");
    draw_tone(pen, TONE_PLAIN);
    for (uint32_t i = 0; i < detail->volume_count; i++) {
        const struct detail_volume *v = &detail->volumes[i];
        const uint64_t *count = v->amounts.count;
        char a[HUMAN_SIZE], b[HUMAN_SIZE], c[HUMAN_SIZE], d[HUMAN_SIZE];

        fprintf(pen->out, "%7s %10s %10s %7s %5llu  %-8s ", human_rate(a, (double)count[COUNT_OPS] / seconds),
                human_bytes(b, (double)count[COUNT_READ_BYTES] / seconds),
                human_bytes(c, (double)count[COUNT_WRITE_BYTES] / seconds),
                human_rate(d, (double)count[COUNT_METADATA_OPS] / seconds), (unsigned long long)v->amounts.in_flight,
                v->fstype);
        draw_text(pen, v->name, 0);
        fputc('\n', pen->out);
    }
}

static int put_profiles(const struct pen *pen, const struct screen *screen, const struct entity *e)
{
    struct profile_list list;
    int err;

    if (e->kind != ENTITY_PROCESS && e->kind != ENTITY_JOB && e->kind != ENTITY_PROFILE)
        return 0;
    err = blend_explain(screen->model, e, &list);
    if (err)
        return err;
    detail_head(pen, e->kind == ENTITY_PROFILE ? "Evidence" : "Profile", "over the last half minute or so");
    if (!list.count)
        fputs("n/a: too few operations to tell\n", pen->out);
    for (uint32_t i = 0; i < list.count; i++) {
        const struct profile_share *share = &list.shares[i];

        fprintf(pen->out, "%-16s ", share->profile);
        draw_tone(pen, TONE_GOOD);
        draw_bar(pen, isnan(share->share_bytes) ? share->share_ops : share->share_bytes, 20);
        draw_tone(pen, TONE_PLAIN);
        if (!isnan(share->share_bytes))
            fprintf(pen->out, " %3.0f %% of bytes,", 100 * share->share_bytes);
        fprintf(pen->out, " %3.0f %% of operations, confidence %.0f %%\n", 100 * share->share_ops,
                100 * share->confidence);
        draw_tone(pen, TONE_FAINT);
        draw_paragraph(pen, (const char *const *)share->evidence, share->evidence_count, 4,
                       COLS > 20 ? (unsigned)COLS : 20);
        draw_tone(pen, TONE_PLAIN);
    }
    profile_list_clear(&list);
    return 0;
}

int page_detail(struct screen *screen)
{
    const struct entity *e = selected_entity(screen);
    struct pen pen = {.utf8 = !paint_is_ascii(), .color = true};
    char *text = NULL;
    size_t size;
    int err = 0;

    if (!e || (screen->detail.painted == screen->model->sample && screen->detail.painted_width == COLS))
        return 0; /* the last page stays */
    pen.out = open_memstream(&text, &size);
    if (!pen.out)
        return -ENOMEM;
    put_who(&pen, e, &screen->detail);
    if (e->kind == ENTITY_COVERAGE || e->kind == ENTITY_PROFILE)
        fprintf(pen.out, "%s\n", *e->why ? e->why : e->state);
    if (e->kind == ENTITY_NODE)
        fputs("The jobs of all nodes together are in the other tabs.\n", pen.out);
    if (e->kind < ENTITY_NODE || e->kind == ENTITY_FLOW) {
        put_operations(&pen, &screen->detail);
        put_sizes(&pen, &screen->detail);
        put_bursts(&pen, &screen->detail, entity_is_somebody(e));
        put_volumes(&pen, &screen->detail);
        detail_put_proc(&pen, screen, e);
    }
    err = put_profiles(&pen, screen, e);
    if (fclose(pen.out))
        err = -ENOMEM;
    if (err) {
        free(text);
        return err;
    }
    page_set(screen, text);
    screen->detail.painted = screen->model->sample;
    screen->detail.painted_width = COLS;
    return 0;
}
