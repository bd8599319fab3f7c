/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "analyzer/top/feed.h"
#include "analyzer/top/run.h"
#include "lib/cleanup.h"
#include "lib/log.h"

#define WIDTH 132 /* where nobody tells how wide the output is */

struct batch_run {
    const struct top_arguments *arguments;
    struct model *model;
    struct layout layout;
    uint64_t shown;
};

static unsigned output_width(void)
{
    const char *named = getenv("COLUMNS");
    struct winsize size;
    long width = named ? strtol(named, NULL, 10) : 0;

    if (width >= 20 && width <= 10000)
        return (unsigned)width;
    return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : WIDTH;
}

static int write_sample(const struct batch_run *run, const struct sample *sample)
{
    const struct top_arguments *a = run->arguments;
    const struct row_options options = {.active = a->active, .current = true, .since_start = a->since_start,
                                        .tree = a->tree && !a->json && !a->csv};
    struct text_style style = a->style;
    struct shown shown = {run->model, sample, &tabs[a->tab], &run->layout, NULL, 0, a->since_start};
    _cleanup_free_ struct row *rows = NULL;
    struct pen pen;
    int err = rows_new(run->model, shown.tab, &run->layout, &options, &rows, &shown.count);

    if (err)
        return err;
    shown.rows = rows;
    if (a->json)
        return write_json(stdout, &shown);
    if (a->csv)
        return write_csv(stdout, &shown, !run->shown);
    pen_init(&pen, stdout);
    pen.utf8 &= !a->ascii;
    style.first = !run->shown;
    style.width = output_width() - (style.time ? 9 : 0);
    return write_text(&pen, &shown, &style);
}

static int run_batch(struct batch_run *run, struct source *source)
{
    const struct top_arguments *a = run->arguments;

    while (!a->count || run->shown < a->count) {
        _cleanup_(sample_clear) struct sample sample = {0};
        int got = sample_next(source, &sample), err;

        if (got == -EINTR)
            continue;
        if (got != 1)
            return got;
        /* rates over a splinter of an interval would mislead; live ones begin with one */
        if (!sample.batch->duration_ns || (a->local && !run->shown && sample.batch->duration_ns < a->interval_ns / 2))
            continue;
        err = model_add(run->model, &sample);
        if (!err)
            err = write_sample(run, &sample);
        if (err) {
            log_error("cannot write the sample: %s", log_why(err));
            return err;
        }
        run->shown++;
    }
    return 0;
}

int top_batch(struct source *source, const struct top_arguments *arguments)
{
    struct batch_run run = {.arguments = arguments};
    struct catalogue catalogue = {0};
    char why[160];
    int err = catalogue_load(NULL, &catalogue);

    if (err)
        return err;
    layout_init(&tabs[arguments->tab], &run.layout);
    if (arguments->sort)
        run.layout.sort = column_find(arguments->sort, strlen(arguments->sort));
    err = model_new(&catalogue, &run.model);
    if (!err) {
        run.model->unhurried = arguments->replay;
        run.model->local = arguments->local;
    }
    if (!err)
        err = filter_new(arguments->filter, &run.model->filter, why, sizeof(why));
    if (err)
        log_error("cannot begin: %s", log_why(err));
    else
        err = run_batch(&run, source);
    if (run.model)
        filter_free(run.model->filter);
    model_free(run.model);
    catalogue_clear(&catalogue);
    return err;
}
