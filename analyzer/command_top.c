/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/command.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>

#include "analyzer/agent_client.h"
#include "analyzer/source.h"
#include "analyzer/top/describe.h"
#include "analyzer/top/run.h"
#include "lib/cleanup.h"
#include "lib/log.h"
#include "lib/program.h"
#include "probe/sampler.h"

#define INTERVAL_NS_MIN 100000000
#define NOT_GIVEN       UINT64_MAX /* of numbers */

struct arguments {
    struct top_arguments top;
    bool jobs, processes, threads, list;
    uint64_t max_cost, pid;
    const char *agent, *db, *replay, *tab, *user, *filter;
};

static int parse(int argc, char **argv, struct arguments *a)
{
    struct top_arguments *top = &a->top;
    const struct option_spec options[] = {
        {"batch", 'b', OPTION_FLAG, NULL, &top->batch, "write text instead of using the terminal"},
        {"count", 'n', OPTION_COUNT, "COUNT", &top->count, "end after that many samples"},
        {"delay", 'd', OPTION_DURATION, "SEC", &top->interval_ns, "between samples"},
        {"only", 'o', OPTION_FLAG, NULL, &top->active, "only rows that do I/O"},
        {"accumulated", 'a', OPTION_FLAG, NULL, &top->since_start, "amounts since the start instead of rates"},
        {"processes", 'P', OPTION_FLAG, NULL, &a->processes, "processes, as it is without any of these"},
        {"threads", 'H', OPTION_FLAG, NULL, &a->threads, "threads instead of processes"},
        {"jobs", 0, OPTION_FLAG, NULL, &a->jobs, "jobs instead of processes"},
        {"tab", 0, OPTION_STRING, "NAME", &a->tab,
         "begin with nodes, processes, threads, jobs, volumes, devices, profiles, bursts or coverage"},
        {"sort", 's', OPTION_STRING, "COLUMN", &top->sort, "by name, as in JSON"},
        {"tree", 0, OPTION_FLAG, NULL, &top->tree, "processes below their jobs"},
        {"pid", 'p', OPTION_COUNT, "PID", &a->pid, "only that process"},
        {"user", 'u', OPTION_STRING, "USER", &a->user, "only that user's processes and jobs"},
        {"filter", 'f', OPTION_STRING, "WORDS", &a->filter,
         "only what matches: user:, pid:, job:, volume:, fs:, node: or a regular expression"},
        {"kilobytes", 'k', OPTION_FLAG, NULL, &top->style.kilobytes, "bytes in KiB, always"},
        {"time", 't', OPTION_FLAG, NULL, &top->style.time, "in batch mode, the time before each line"},
        {"quiet", 'q', OPTION_TIMES, NULL, &top->quiet,
         "in batch mode, titles only once; -qq: none; -qqq: no summary either"},
        {"json", 0, OPTION_FLAG, NULL, &top->json, "write one line of JSON a sample"},
        {"csv", 0, OPTION_FLAG, NULL, &top->csv, "write a line of CSV a row"},
        {"agent", 0, OPTION_STRING, "SOCKET", &a->agent, "watch through an agent's socket"},
        {"db", 0, OPTION_STRING, "CONNINFO", &a->db, "watch the cluster in a collector's database"},
        {"replay", 0, OPTION_STRING, "FILE", &a->replay, "show a recording"},
        {"speed", 0, OPTION_COUNT, "N", &top->speed, "play a recording that many times faster than it happened"},
        {"theme", 0, OPTION_STRING, "NAME", &top->theme, "dark, light or mono; NO_COLOR makes it mono"},
        {"ascii", 0, OPTION_FLAG, NULL, &top->ascii, "draw with ASCII only"},
        {"max-cost", 0, OPTION_PERCENT, "PERCENT", &a->max_cost,
         "of the node's processors; watch less when watching costs more (0: no limit)"},
        {"list", 0, OPTION_FLAG, NULL, &a->list, "list columns and keys, and exit"},
    };
    const struct option_program program = {
        "unblend top",
        "[OPTION...]",
        "Shows every storage operation of every process: sizes, rates, metadata, latency.",
        options,
        sizeof(options) / sizeof(*options),
        SYSCONFDIR "/unblend/top.conf",
        NULL,
    };
    char **operands;
    unsigned count;
    int result = option_parse_mixed(&program, argc, argv, &operands, &count);

    if (result)
        return result;
    if (count)
        log_error("'%s' is no option: try 'unblend top --help'", operands[0]);
    free(operands);
    return count ? -EINVAL : 0;
}

/* The options that choose rows are words of the filter. */
static int make_filter(struct arguments *a)
{
    _cleanup_fclose_ FILE *text = open_memstream(&a->top.filter, &(size_t){0});
    struct filter *filter;
    char why[160];
    int err;

    if (!text)
        return -ENOMEM;
    if (a->filter)
        fprintf(text, "%s ", a->filter);
    if (a->user)
        fprintf(text, "user:%s ", a->user);
    if (a->pid != NOT_GIVEN)
        fprintf(text, "pid:%llu ", (unsigned long long)a->pid);
    fflush(text);
    if (a->top.filter && *a->top.filter)
        a->top.filter[strlen(a->top.filter) - 1] = '\0';
    err = filter_new(a->top.filter, &filter, why, sizeof(why));
    if (err)
        log_error("%s--filter '%s': %s", option_from(&a->filter), a->top.filter, *why ? why : log_why(err));
    else
        filter_free(filter);
    return err;
}

static int choose_tab(struct arguments *a)
{
    a->top.tab = a->db ? 0 : TAB_PROCESSES;
    if ((a->jobs && !a->processes) || (a->db && (a->top.batch || a->top.json || a->top.csv)))
        a->top.tab = TAB_JOBS; /* what the database knows best; --tab nodes shows them */
    if (a->threads && !a->processes)
        a->top.tab = TAB_THREADS;
    if (a->tab)
        a->top.tab = tab_find(a->tab);
    if (a->top.tab == TAB_THREADS && (a->db || a->replay)) {
        log_error("threads: %s: watch the node itself",
                  a->db ? "--db: a collector knows jobs only" : "--replay: recordings hold processes");
        return -EINVAL;
    }
    if (a->top.tab < tab_count && (a->db || !tabs[a->top.tab].cluster))
        return 0;
    log_error(a->top.tab < tab_count ? "%s--tab %s: needs a cluster, give --db" : "%sthere is no tab '%s': see --help",
              option_from(&a->tab), a->tab);
    return -EINVAL;
}

/* Numbers of which 0 means nothing; those that are not given become what that is. */
static int check_numbers(struct arguments *a)
{
    const struct {
        const char *name;
        const uint64_t *value;
    } numbers[] = {{"count", &a->top.count}, {"pid", &a->pid}, {"speed", &a->top.speed}};

    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        if (!*numbers[i].value) {
            log_error("%s--%s: give a whole number from 1", option_from(numbers[i].value), numbers[i].name);
            return -EINVAL;
        }
    if (a->top.speed != NOT_GIVEN && !a->replay && !*option_from(&a->top.speed)) {
        log_error("--speed does nothing without --replay: give both, or none");
        return -EINVAL;
    }
    a->top.count = a->top.count == NOT_GIVEN ? 0 : a->top.count;
    a->top.speed = a->top.speed == NOT_GIVEN ? 1 : a->top.speed;
    return 0;
}

static int check(struct arguments *a)
{
    a->top.replay = a->replay != NULL;
    a->top.cluster = a->db != NULL;
    if (!!a->agent + !!a->db + !!a->replay > 1) {
        log_error("more than one of --agent, --db and --replay is given: choose one");
        return -EINVAL;
    }
    if (a->top.json && a->top.csv) {
        log_error("both --json and --csv are given: choose one");
        return -EINVAL;
    }
    if (a->top.interval_ns < INTERVAL_NS_MIN) {
        log_error("%s--delay: less than 0.1 s is too short: choose a longer one", option_from(&a->top.interval_ns));
        return -EINVAL;
    }
    if (a->top.theme && top_theme(a->top.theme) < 0) {
        log_error("%sthere is no theme '%s': choose dark, light or mono", option_from(&a->top.theme), a->top.theme);
        return -EINVAL;
    }
    a->top.style.quiet = a->top.quiet > 3 ? 3 : (unsigned)a->top.quiet;
    if (check_numbers(a) || choose_tab(a) || make_filter(a))
        return -EINVAL;
    if (a->top.sort && column_find(a->top.sort, strlen(a->top.sort)) == column_count) {
        log_error("%sthere is no column '%s': 'unblend top --list' names them", option_from(&a->top.sort), a->top.sort);
        return -EINVAL;
    }
    return 0;
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

static int open_source(struct arguments *a, bool terminal, bool *damaged, struct source **out)
{
    char *path = (char *)a->replay;

    if (a->replay)
        return source_recording(&path, 1, NULL, damaged, out);
    if (a->db)
        return source_follow(a->db, a->top.interval_ns, terminal ? 0 : (unsigned)MIN(a->top.count, UINT_MAX), out);
    a->top.local = true;
    return a->agent ? source_agent(a->agent, a->top.interval_ns, out)
                    : open_default(a->top.interval_ns, a->max_cost, out);
}

int command_top(int argc, char **argv)
{
    struct arguments a = {.top = {.interval_ns = 1000000000, .count = NOT_GIVEN, .speed = NOT_GIVEN},
                          .pid = NOT_GIVEN, .max_cost = SAMPLER_MAX_COST};
    struct source *source;
    bool damaged = false, terminal;
    int status = parse(argc, argv, &a);

    if (status)
        return status < 0 ? 2 : 0;
    if (a.list) {
        top_describe(stdout);
        return 0;
    }
    if (check(&a))
        return 2;
    program_stay_small(); /* it is left open all day */
    terminal = !a.top.batch && !a.top.json && !a.top.csv && isatty(STDOUT_FILENO) && isatty(STDIN_FILENO);
    if (!terminal)
        signal(SIGPIPE, SIG_DFL); /* `unblend top -b | head` ends quietly */
    if (open_source(&a, terminal, &damaged, &source))
        return 1;
    if (a.top.tab == TAB_THREADS)
        source->by_thread(source, true);
    if (terminal)
        return top_screen(source, &a.top) ? 1 : 0;
    status = top_batch(source, &a.top) ? 1 : 0;
    source_freep(&source);
    free(a.top.filter);
    return status;
}
