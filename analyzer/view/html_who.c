/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who: the cluster's profiles, jobs, and their owners. */
#include "analyzer/view/html.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/view/html_chart.h"

#define LISTED   60 /* jobs in the table */
#define DETAILED 12 /* jobs with tables of their own */
#define PARTS    8

static double seconds_of(const struct tally *tally)
{
    double sum = 0;

    for (enum operation op = OP_FIRST; op < OP_FILE_END; op++)
        sum += (double)tally->op[op].latency_sum_ns / 1e9;
    return sum;
}

static void blend(FILE *out, const struct report *report, bool bytes)
{
    struct chart_share parts[PARTS];
    unsigned count = 0;

    for (uint32_t i = 0; i < report->cluster.count && count < PARTS; i++) {
        const struct profile_share *p = &report->cluster.shares[i];
        double share = bytes ? p->share_bytes : p->share_ops;

        if (!p->pipeline && share > 0)
            parts[count++] = (struct chart_share){
                p->profile, share, strcmp(p->profile, PROFILE_UNKNOWN) ? chart_color(i) : CHART_UNKNOWN};
    }
    if (count)
        chart_shares(out, bytes ? "Profiles, by bytes" : "Profiles, by operations", parts, count);
}

static const char *mostly(const struct profile_list *list)
{
    return list->count ? list->shares[0].profile : "\xe2\x80\x93";
}

static void jobs(FILE *out, const struct report *report)
{
    static const char *const columns[] = {"<Job",     "<User", "Nodes",   "<Mostly",    "Operations",
                                          "Metadata", "Read",  "Written", "In storage", "<Share of it", NULL};
    const struct aggregate *totals = &report->totals;
    double most = 0;

    for (uint32_t i = 0; i < totals->job_count; i++)
        most = fmax(most, seconds_of(&totals->jobs[i].tally));
    html_table(out, "Jobs by bytes; &#8220;in storage&#8221; is the time inside operations, of all threads together",
               columns);
    for (uint32_t i = 0; i < totals->job_count && i < LISTED; i++) {
        const struct job_total *job = &totals->jobs[i];
        struct ratios ratios;

        ratios_of(&job->tally, &ratios);
        fputs("<tr>", out);
        html_name(out, job->name);
        html_words(out, job->user ? job->user : "\xe2\x80\x93");
        html_count(out, job->node_count);
        html_words(out, mostly(&report->profiles[i]));
        html_count(out, tally_file_ops(&job->tally));
        html_percent(out, ratios.metadata_ops);
        html_bytes(out, (double)job->tally.op[OP_READ].bytes);
        html_bytes(out, (double)job->tally.op[OP_WRITE].bytes);
        html_seconds(out, seconds_of(&job->tally));
        html_bar(out, most > 0 ? seconds_of(&job->tally) / most : 0, 6);
        fputs("</tr>\n", out);
    }
    html_table_end(out);
    if (totals->job_count > LISTED)
        fprintf(out, "<p class=\"faint\">And %u more; --job GLOB selects, --format json has all.</p>\n",
                totals->job_count - LISTED);
}

struct owner {
    const char *name;
    unsigned jobs;
    uint64_t ops;
    double read, written, seconds;
};

static int by_seconds(const void *a, const void *b)
{
    const struct owner *x = a, *y = b;

    return x->seconds != y->seconds ? (x->seconds < y->seconds) - (x->seconds > y->seconds) : strcmp(x->name, y->name);
}

static int owners(FILE *out, const struct aggregate *totals)
{
    static const char *const columns[] = {"<User", "Jobs", "Operations", "Read", "Written", "In storage", NULL};
    struct owner *list = calloc(totals->job_count + 1u, sizeof(*list));
    uint32_t count = 0;

    if (!list)
        return -ENOMEM;
    for (uint32_t i = 0; i < totals->job_count; i++) {
        const struct job_total *job = &totals->jobs[i];
        const char *name = job->user ? job->user : "?";
        uint32_t at = 0;

        while (at < count && strcmp(list[at].name, name) != 0)
            at++;
        count += at == count;
        list[at].name = name;
        list[at].jobs++;
        list[at].ops += tally_file_ops(&job->tally);
        list[at].read += (double)job->tally.op[OP_READ].bytes;
        list[at].written += (double)job->tally.op[OP_WRITE].bytes;
        list[at].seconds += seconds_of(&job->tally);
    }
    qsort(list, count, sizeof(*list), by_seconds);
    html_table(out, "Owners by time in storage", columns);
    for (uint32_t i = 0; i < count && i < LISTED; i++) {
        fputs("<tr>", out);
        html_name(out, list[i].name);
        html_count(out, list[i].jobs);
        html_count(out, list[i].ops);
        html_bytes(out, list[i].read);
        html_bytes(out, list[i].written);
        html_seconds(out, list[i].seconds);
        fputs("</tr>\n", out);
    }
    html_table_end(out);
    free(list);
    return 0;
}

static void attempts(FILE *out, const struct job_total *job)
{
    char start[HUMAN_SIZE], end[HUMAN_SIZE];

    if (job->attempt_count < 2)
        return;
    fprintf(out, "<p>%u attempts: ", job->attempt_count);
    for (uint32_t i = 0; i < job->attempt_count && i < 6; i++) {
        const struct attempt *a = &job->attempts[i];

        fputs(i ? "; " : "", out);
        html_text(out, a->node);
        fprintf(out, " from %s", a->start_ns ? html_moment(start, a->start_ns) : "before");
        if (a->end_ns)
            fprintf(out, " to %s", html_moment(end, a->end_ns));
        if (a->exit >= 0)
            fprintf(out, ", exit %d", a->exit);
    }
    fprintf(out, "%s.</p>\n", job->attempt_count > 6 ? " and more" : "");
}

static void detail(FILE *out, const struct job_total *job, const struct profile_list *list, bool open)
{
    fprintf(out, "<details class=\"job\"%s><summary>", open ? " open" : "");
    html_text(out, job->name);
    fputs(" <span>", out);
    html_text(out, job->kind);
    if (job->user) {
        fputs(", user ", out);
        html_text(out, job->user);
    }
    if (job->node_count == 1) {
        fputs(", on ", out);
        html_text(out, job->nodes[0]);
    } else {
        fprintf(out, ", on %u nodes", job->node_count);
    }
    if (job->process_count)
        fprintf(out, ", %u process%s", job->process_count, job->process_count == 1 ? "" : "es");
    fputs("</span></summary>\n", out);
    attempts(out, job);
    html_profiles(out, list);
    html_operations(out, &job->tally);
    fputs("</details>\n", out);
}

int html_who(FILE *out, struct report *report)
{
    const struct aggregate *totals = &report->totals;
    int err = 0;

    fputs("<section>\n", out);
    html_heading(out, "who", "Who: jobs and profiles");
    if (!isnan(report->blend.effective))
        fprintf(out, "<p>A volume sees %s%.1f profiles at a time (blend index %.2f: 0 when one comes after the other, "
                     "0.5 for two evenly).%s</p>\n", report_mingles(report) ? "up to " : "", report->blend.effective,
                report->blend.blend,
                report_mingles(report) ? " What a process or a sum did one after the other is taken to be at once." : "");
    fputs("<div class=\"charts\">\n", out);
    blend(out, report, true);
    blend(out, report, false);
    fputs("</div>\n", out);
    jobs(out, report);
    if (totals->grouping == GROUP_JOB)
        err = owners(out, totals);
    for (uint32_t i = 0; !err && i < totals->job_count && i < DETAILED; i++)
        detail(out, &totals->jobs[i], &report->profiles[i], totals->job_count == 1);
    fputs("</section>\n", out);
    return err;
}
