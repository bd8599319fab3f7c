/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/command.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/agent_client.h"
#include "analyzer/source.h"
#include "analyzer/view/top.h"
#include "lib/cleanup.h"
#include "lib/log.h"
#include "probe/sampler.h"

#define INTERVAL_NS_MIN 100000000

struct arguments {
    bool batch, active, accumulated, jobs, json;
    uint64_t count, interval_ns, max_cost;
    const char *agent, *db, *replay, *sort;
};

static int parse(int argc, char **argv, struct arguments *a)
{
    const struct option_spec options[] = {
        {"batch", 'b', OPTION_FLAG, NULL, &a->batch, "write text instead of using the terminal"},
        {"count", 'n', OPTION_COUNT, "COUNT", &a->count, "end after that many samples"},
        {"delay", 'd', OPTION_DURATION, "SEC", &a->interval_ns, "between samples"},
        {"only", 'o', OPTION_FLAG, NULL, &a->active, "only processes that do I/O"},
        {"accumulated", 'a', OPTION_FLAG, NULL, &a->accumulated,
         "amounts since the start instead of rates"},
        {"jobs", 'p', OPTION_FLAG, NULL, &a->jobs, "jobs instead of processes"},
        {"sort", 's', OPTION_STRING, "COLUMN", &a->sort, "by name, as in JSON"},
        {"json", 0, OPTION_FLAG, NULL, &a->json, "write one line of JSON a sample"},
        {"agent", 0, OPTION_STRING, "SOCKET", &a->agent, "watch through an agent's socket"},
        {"db", 0, OPTION_STRING, "CONNINFO", &a->db, "watch the jobs in a collector's database"},
        {"max-cost", 0, OPTION_PERCENT, "PERCENT", &a->max_cost,
         "of the node's processors; watch less when watching costs more (0: no limit)"},
        {"replay", 0, OPTION_STRING, "FILE", &a->replay, "show a recording"},
    };
    const struct option_program program = {
        "unblend top",
        "[OPTION...]",
        "Shows every storage operation of every process: sizes, rates, metadata, latency.",
        options,
        sizeof(options) / sizeof(*options),
        NULL,
    };
    char **operands;
    unsigned count;
    int result = command_parse(&program, argc, argv, &operands, &count);

    if (result)
        return result;
    if (count)
        log_error("'%s' is no option: try 'unblend top --help'", operands[0]);
    free(operands);
    return count ? -EINVAL : 0;
}

static int check(const struct arguments *a, struct top_options *options)
{
    *options = (struct top_options){.sort = TOP_DEFAULT_SORT,
                                    .active = a->active,
                                    .accumulated = a->accumulated,
                                    .jobs = a->jobs,
                                    .paced = a->replay != NULL};
    if (!!a->agent + !!a->db + !!a->replay > 1) {
        log_error("more than one of --agent, --db and --replay is given: choose one");
        return -EINVAL;
    }
    if (a->interval_ns < INTERVAL_NS_MIN) {
        log_error("--delay: less than 0.1 s is too short: choose a longer one");
        return -EINVAL;
    }
    if (a->json && a->accumulated) {
        log_error("--json holds rates: leave out --accumulated");
        return -EINVAL;
    }
    if (!a->sort)
        return 0;
    for (options->sort = 0; options->sort < top_column_count; options->sort++)
        if (strcmp(top_columns[options->sort].key, a->sort) == 0)
            return 0;
    log_error("there is no column '%s': the JSON of --json names them", a->sort);
    return -EINVAL;
}

/* The agent's socket if it answers, else a probe of one's own. */
static int open_default(uint64_t interval_ns, uint64_t max_cost, struct source **out)
{
    struct agent_client *client;

    if (agent_connect(AGENT_SOCKET, &client) == 0) {
        agent_close(client);
        return source_agent(AGENT_SOCKET, interval_ns, out);
    }
    if (geteuid() == 0)
        return source_live(interval_ns, max_cost, out);
    log_error("cannot watch this node: no agent answers at %s, and a probe needs root: start "
              "unblend-agent, or use sudo",
              AGENT_SOCKET);
    return -EPERM;
}

static int open_source(const struct arguments *a, bool *damaged, struct source **out)
{
    char *path = (char *)a->replay;

    if (a->replay)
        return source_recording(&path, 1, NULL, damaged, out);
    if (a->db)
        return source_follow(a->db, a->interval_ns, out);
    return a->agent ? source_agent(a->agent, a->interval_ns, out)
                    : open_default(a->interval_ns, a->max_cost, out);
}

static int write_sample(const struct arguments *a, const struct top_options *options,
                        const struct batch *batch)
{
    struct top_sample sample;
    struct pen pen;
    int err = top_sample_new(batch, options, &sample);

    if (err) {
        log_error("cannot make a sample: %s", log_errno(err));
        return err;
    }
    pen_init(&pen, stdout);
    err = a->json ? top_write_json(stdout, &sample) : top_write_text(&pen, &sample, options);
    if (err)
        log_error("cannot write the sample: %s", log_errno(err));
    top_sample_clear(&sample);
    return err;
}

static int run_batch(const struct arguments *a, const struct top_options *options,
                     struct source *source)
{
    _cleanup_(batch_freep) struct batch *sum = NULL;
    uint64_t shown = 0;
    int got;

    while (!a->count || shown < a->count) {
        _cleanup_(batch_freep) struct batch *batch = NULL;

        got = source->next(source, &batch);
        if (got == -EINTR)
            continue;
        if (got != 1)
            return got;
        /* rates over a splinter of an interval would mislead; live ones begin with one */
        if (!batch->duration_ns ||
            (!a->replay && !a->db && !shown && batch->duration_ns < a->interval_ns / 2))
            continue;
        if (options->accumulated && ((!sum && batch_new(&sum)) || batch_merge(sum, batch, true))) {
            log_error("cannot add up: %s", log_errno(-ENOMEM));
            return -ENOMEM;
        }
        got = write_sample(a, options, options->accumulated ? sum : batch);
        if (got)
            return got;
        shown++;
    }
    return 0;
}

int command_top(int argc, char **argv)
{
    struct arguments a = {.interval_ns = 1000000000, .max_cost = SAMPLER_MAX_COST};
    struct top_options options;
    struct source *source;
    bool damaged = false;
    int status = parse(argc, argv, &a);

    if (status)
        return status < 0 ? 2 : 0;
    if (check(&a, &options))
        return 2;
    signal(SIGPIPE, SIG_DFL); /* `unblend top -b | head` ends quietly */
    if (open_source(&a, &damaged, &source))
        return 1;
    if (!a.batch && !a.json && isatty(STDOUT_FILENO) && isatty(STDIN_FILENO))
        return top_screen(source, &options, a.count) ? 1 : 0;
    status = run_batch(&a, &options, source) ? 1 : 0;
    source_freep(&source);
    return status;
}
