/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/command.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/compare.h"
#include "analyzer/human.h"
#include "analyzer/progress.h"
#include "analyzer/report.h"
#include "analyzer/scenario.h"
#include "analyzer/view/view.h"
#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/moment.h"
#include "lib/output.h"

#define MEMORY_KEPT  (128 << 20)
#define MEMORY_GROWN (16 << 20)

static const struct view *const views[] = {&view_text, &view_json, &view_html};

struct arguments {
    const char *format, *out, *since, *until, *node, *job, *by, *db, *profiles;
    const char *platform, *compare, *what_if;
    bool suspects;
    struct outward_options outward;
    char **files;
    unsigned file_count;
};

static int parse(int argc, char **argv, struct arguments *a)
{
    const struct option_spec options[] = {
        {"format", 'f', OPTION_STRING, "FORMAT", &a->format, "text (default), json or html"},
        {"output", 'o', OPTION_STRING, "OUT", &a->out, "file to write instead of standard output"},
        {"since", 0, OPTION_STRING, "TIME", &a->since,
         "intervals from then on: 2026-03-01T12:00:00Z, or 2h for two hours ago"},
        {"until", 0, OPTION_STRING, "TIME", &a->until, "intervals before that time"},
        {"node", 0, OPTION_STRING, "GLOB", &a->node, "nodes with such names only"},
        {"job", 0, OPTION_STRING, "GLOB", &a->job, "jobs with such names only"},
        {"by", 0, OPTION_STRING, "KEY", &a->by,
         "add up by job (default), user, node, volume, or the name of a label"},
        {"compare", 0, OPTION_STRING, "FILE", &a->compare, "say what moved beyond noise since that recording"},
        {"platform", 0, OPTION_STRING, "FILE", &a->platform,
         "what the shared storage can do, to compare demand with: see unblend-platform(5)"},
        {"what-if", 0, OPTION_STRING, "SCENARIO,...", &a->what_if,
         "with --platform, what becomes of 2x, of PROFILE=2+PROFILE=0.5, or of 2x@FILE, on another platform (default "
         "1x,2x,4x)"},
        {"suspects", 0, OPTION_FLAG, NULL, &a->suspects,
         "print the names of nodes that are worse than their peers, one a line"},
        {"db", 0, OPTION_STRING, "CONNINFO", &a->db, "read a collector's PostgreSQL database"},
        OUTWARD_PSEUDONYMS(&a->outward, "show keyed pseudonyms instead of names"),
        OUTWARD_NAMES(&a->outward, "with --pseudonyms: "),
        {"profiles", 0, OPTION_STRING, "DIR", &a->profiles, "more profiles, as JSON files"},
    };
    const struct option_program program = {
        "unblend report",
        "[OPTION...] (FILE... | --db CONNINFO)",
        "Says what was done to storage: by which job, how often, how much, how fast, and what it "
        "looks like.",
        options,
        sizeof(options) / sizeof(*options),
        SYSCONFDIR "/unblend/report.conf",
        NULL,
    };

    return option_parse_mixed(&program, argc, argv, &a->files, &a->file_count);
}

static int find_view(const struct arguments *a, const struct view **out)
{
    for (size_t i = 0; i < sizeof(views) / sizeof(*views); i++)
        if (strcmp(views[i]->name, a->format) == 0) {
            *out = views[i];
            return 0;
        }
    log_error("%scannot write the format '%s': choose text, json or html", option_from(&a->format), a->format);
    return -EINVAL;
}

static void find_grouping(const char *by, struct aggregate *totals)
{
    static const char *const names[] = {[GROUP_JOB] = "job",
                                        [GROUP_USER] = "user",
                                        [GROUP_NODE] = "node",
                                        [GROUP_VOLUME] = "volume"};

    totals->grouping = by ? GROUP_LABEL : GROUP_JOB;
    totals->label = by;
    for (size_t i = 0; by && i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(names[i], by) == 0)
            totals->grouping = (enum grouping)i;
}

static int check(const struct arguments *a, const struct view **view, struct source_window *window)
{
    char *const before[] = {(char *)a->compare};

    if (find_view(a, view) || outward_check(&a->outward) ||
        moment_option("since", &a->since, &window->since_ns) || moment_option("until", &a->until, &window->until_ns))
        return -EINVAL;
    if (window->since_ns >= window->until_ns) {
        log_error("nothing lies between --since %s and --until %s: give the earlier one first", a->since ? a->since : "ever",
                  a->until ? a->until : "ever");
        return -EINVAL;
    }
    if (!a->db == !a->file_count) {
        log_error("%s: try 'unblend report --help'",
                  a->db ? "both --db and files are given: choose one" : "no recording is named");
        return -EINVAL;
    }
    if (source_spare(a->files, a->file_count, a->out) || source_spare(before, a->compare != NULL, a->out))
        return -EINVAL;
    window->node = a->node;
    window->job = a->job;
    return 0;
}

/* Which labels there are, only what was read tells. */
static void doubt_label(const struct aggregate *totals)
{
    if (totals->grouping == GROUP_LABEL && totals->job_count == 1 && strcmp(totals->jobs[0].name, "?") == 0)
        log_warning("--by %s: no job has such a label: all of them are added up as '?'", totals->label);
}

/* They are in no list of names, as whoever reads that drains them. */
static void warn_of_unlike(const struct suspects *suspects)
{
    uint32_t nodes = 0;

    for (uint32_t i = 0; i < suspects->unlike_count; i++)
        nodes += !i || strcmp(suspects->unlike[i].node, suspects->unlike[i - 1].node) != 0;
    if (nodes)
        log_warning("--suspects: %u node%s longer than others, but for something else (other sizes, order or "
                    "outcomes), and cannot be compared: -f json names %s in suspects_unlike",
                    nodes, nodes == 1 ? " takes" : "s take", nodes == 1 ? "it" : "them");
}

#define CLOCKS    3 /* nodes that are named */
#define CLOCK_OFF 86400000000000

/* Nothing of it is left out, but spans and what is reckoned by them are longer than what happened. */
static void doubt_clocks(const struct aggregate *totals)
{
    const int64_t now_ns = wall_clock_ns();
    char text[HUMAN_SIZE];
    uint32_t said = 0;

    for (uint32_t i = 0; i < totals->node_count; i++) {
        const struct node_total *node = &totals->nodes[i];
        int64_t ahead = node_ahead_ns(node, now_ns);

        if (ahead > CLOCK_OFF && said++ < CLOCKS)
            log_warning("the clock of node %s of %s is %s ahead of this one: set the clocks; --until or --node makes a "
                        "report without it",
                        node->node, node->cluster, human_duration(text, (double)ahead / 1e9));
    }
    if (said > CLOCKS)
        log_warning("the clocks of %u more nodes are ahead", said - CLOCKS);
}

static int write_report(const struct view *view, struct report *report, const char *path)
{
    FILE *out = path ? fopen(path, "we") : stdout;
    bool names = report->look_for_suspects && view == &view_text;
    int err = out ? 0 : -errno;

    if (!err && names) {
        view_suspects(&report->suspects, out);
        warn_of_unlike(&report->suspects);
    }
    else if (!err)
        err = view->write(report, out);
    if (!err)
        err = output_flush(out);
    if (path && out && fclose(out) && !err)
        err = -errno;
    if (err)
        log_error("cannot write %s: %s", path ? path : "the report", log_why(err));
    return err;
}

/* "a.rec, jobs like x, from 2026-03-01T12:00:00.000Z": what a report without anything is of. */
static char *describe(const struct arguments *a, const struct source_window *window)
{
    char inputs[COMMAND_INPUTS_SIZE], since[HUMAN_SIZE] = "", until[HUMAN_SIZE] = "", *text;

    command_inputs(inputs, a->files, a->file_count);
    if (window->since_ns != INT64_MIN)
        human_time(since, window->since_ns);
    if (window->until_ns != INT64_MAX)
        human_time(until, window->until_ns);
    if (asprintf(&text, "%s%s%s%s%s%s%s%s%s", inputs, a->node ? ", nodes like " : "", a->node ? a->node : "",
                 a->job ? ", jobs like " : "", a->job ? a->job : "", *since ? ", from " : "", since,
                 *until ? ", before " : "", until) < 0)
        return NULL;
    return text;
}

/* Reads one side of a comparison, or all there is. */
static int build(const struct arguments *a, const struct source_window *window, bool before,
                 const struct catalogue *catalogue, struct offer *const *offers, struct progress *progress,
                 struct report *report)
{
    char *const first[] = {(char *)a->compare};
    struct source *source = NULL;
    int err;

    find_grouping(a->by, &report->totals);
    if (before)
        err = source_recording(first, 1, window, &report->damaged, &source);
    else
        err = a->db ? source_database(a->db, window, &source)
                    : source_recording(a->files, a->file_count, window, &report->damaged, &source);
    if (!err)
        err = progress_watch(progress, &source);
    if (!err)
        err = source_outward(&a->outward, offers, &source);
    if (!err)
        err = report_build(source, catalogue, report);
    source_freep(&source);
    return err;
}

/* The report's, if it has one, and those of scenarios, NULL behind them; malloc'ed. NULL without memory. */
static struct offer **all_offers(struct offer *offer, const struct scenario_list *scenarios)
{
    struct offer **offers = calloc(scenarios->count + 2u, sizeof(*offers));
    unsigned count = 0;

    if (offers && offer)
        offers[count++] = offer;
    for (unsigned i = 0; offers && i < scenarios->count; i++)
        if (scenarios->list[i].has_offer)
            offers[count++] = &scenarios->list[i].offer;
    return offers;
}

/* The report, with what moved since another one where that is asked for. */
static int make(const struct arguments *a, const struct view *view, const struct source_window *window,
                const struct catalogue *catalogue, struct offer *offer, const struct scenario_list *scenarios)
{
    /* --since and --until are about what is reported. */
    const struct source_window always = {INT64_MIN, INT64_MAX, window->node, window->job};
    _cleanup_free_ char *asked = describe(a, window);
    _cleanup_free_ struct offer **offers = all_offers(offer, scenarios);
    struct report report = {.offer = offer, .scenarios = scenarios, .look_for_suspects = a->suspects, .asked = asked,
                            .selected = a->job != NULL, .cut = window->until_ns != INT64_MAX},
        before = {.offer = offer};
    struct comparison comparison = {0};
    struct progress *progress = progress_start();
    int err = offers ? 0 : -ENOMEM;

    if (err)
        log_error("cannot make the report: %s", log_why(err));
    else
        err = build(a, window, false, catalogue, offers, progress, &report);
    if (!err && a->compare)
        err = build(a, &always, true, catalogue, offers, progress, &before);
    if (!err && a->compare) {
        err = compare_reports(&before, &report, &comparison);
        report.comparison = &comparison;
    }
    progress_stop(progress); /* before the report, which may go to the same terminal */
    if (!err) {
        doubt_label(&report.totals);
        doubt_clocks(&report.totals);
        err = write_report(view, &report, a->out);
    }
    comparison_clear(&comparison);
    report_clear(&before);
    report_clear(&report);
    return err;
}

/* Groups of a database's rows come and go, each of them as large as the one before: what they take is kept, and not
   given back to the kernel and asked for again. */
static void keep_memory(void)
{
    mallopt(M_TRIM_THRESHOLD, MEMORY_KEPT);
    mallopt(M_MMAP_THRESHOLD, MEMORY_KEPT);
    mallopt(M_TOP_PAD, MEMORY_GROWN);
}

/* The exit status. */
static int run(const struct arguments *a, const struct view *view,
               const struct source_window *window, const struct scenario_list *scenarios)
{
    struct catalogue catalogue = {0};
    struct offer offer = {0};
    int err, status = 0;

    if (a->db)
        keep_memory();
    err = catalogue_load(a->profiles, &catalogue);
    if (!err && a->what_if && scenarios_check(scenarios, &catalogue, a->platform))
        status = 2;
    if (!err && !status && a->platform)
        err = offer_load(a->platform, &offer);
    if (!err && !status)
        err = make(a, view, window, &catalogue, a->platform ? &offer : NULL, scenarios);
    offer_clear(&offer);
    catalogue_clear(&catalogue);
    return err ? 1 : status;
}

int command_report(int argc, char **argv)
{
    struct arguments a = {.format = "text"};
    struct source_window window = {.since_ns = INT64_MIN, .until_ns = INT64_MAX};
    struct scenario_list scenarios = {0};
    const struct view *view;
    int status = parse(argc, argv, &a);

    if (status)
        return status < 0 ? 2 : 0;
    signal(SIGPIPE, SIG_DFL); /* `unblend report | head` ends quietly */
    if (!a.db && !a.file_count)
        a.db = getenv("UNBLEND_DB"); /* a command line shows its password to everybody */
    status = check(&a, &view, &window) || scenarios_parse(a.what_if ? a.what_if : "1x,2x,4x", &scenarios)
                 ? 2
                 : run(&a, view, &window, &scenarios);
    scenarios_clear(&scenarios);
    free(a.files);
    return status;
}
