/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/command.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/agent_client.h"
#include "analyzer/record_run.h"
#include "lib/log.h"
#include "probe/finder.h"
#include "probe/sampler.h"

/* Without rights of one's own the local agent's are as good, if there is one. */
static const char *default_agent(void)
{
    struct agent_client *client = NULL;

    if (geteuid() == 0 || agent_connect(AGENT_SOCKET, &client))
        return NULL;
    agent_close(client);
    return AGENT_SOCKET;
}

/* Values that can be told to be wrong as they are. 0 or -EINVAL, logged. */
static int check(const struct record_options *o)
{
    if (o->interval_ns < 10000000 || o->interval_ns > 3600000000000ull)
        log_error("%sinterval: give a time from 10ms to 1h", option_from(&o->interval_ns));
    else if (!o->tree_depth || o->tree_depth > TREE_DEPTH_MAX)
        log_error("%stree-depth: give a number of folders from 1 to %d", option_from(&o->tree_depth), TREE_DEPTH_MAX);
    else if (!o->burst_factor)
        log_error("%sburst-factor: give a whole number from 1", option_from(&o->burst_factor));
    else if (o->job && !*o->job)
        log_error("%sjob: give it a name, or leave it out", option_from(&o->job));
    else if (finder_check_names(o->job_env, true))
        log_error("%sjob-env: %s: give up to seven names of variables, with commas", option_from(&o->job_env),
                  o->job_env);
    else if (o->pod_labels && finder_check_names(o->pod_labels, false))
        log_error("%spod-labels: %s: give names of labels, with commas", option_from(&o->pod_labels), o->pod_labels);
    else
        return 0;
    return -EINVAL;
}

int command_record(int argc, char **argv)
{
    struct record_options options = {
        .output = "unblend.rec", .interval_ns = 1000000000, .kernel_memory = PROBE_MEMORY_DEFAULT,
        .burst_factor = PROBE_BURST_FACTOR, .job_env = FINDER_JOB_ENV, .tree_depth = TREE_DEPTH_DEFAULT};
    const char *flavour = "auto";
    const struct option_spec specs[] = {
        {"output", 'o', OPTION_STRING, "FILE", &options.output,
         "the recording"},
        {"interval", 'i', OPTION_DURATION, "TIME", &options.interval_ns,
         "one batch each TIME"},
        {"duration", 'd', OPTION_DURATION, "TIME", &options.duration_ns, "stop after TIME"},
        {"all", 'a', OPTION_FLAG, NULL, &options.all,
         "the whole node, not only COMMAND and its descendants"},
        {"job", 'j', OPTION_STRING, "NAME", &options.job,
         "the job's name (default: from the environment, else the command's)"},
        {"job-env", 0, OPTION_STRING, "NAME[,NAME...]", &options.job_env,
         "variables that name a process's job, behind UNBLEND_JOB"},
        {"pod-labels", 0, OPTION_STRING, "NAME[,NAME...]", &options.pod_labels,
         "labels of pods and containers to record with their jobs"},
        {"root", 0, OPTION_STRING, "DIR", &options.root,
         "the node's proc, sys, run and var are below DIR (in a container)"},
        {"agent", 0, OPTION_STRING, "SOCKET", &options.agent,
         "record through the local agent, which then knows the job too"},
        OUTWARD_PSEUDONYMS(&options.outward, "record keyed pseudonyms instead of names"),
        OUTWARD_NAMES(&options.outward, "with --pseudonyms: "),
        {"paths", 0, OPTION_FLAG, NULL, &options.paths,
         "record trees too: what was done in which folders, by name"},
        {"tree-depth", 0, OPTION_COUNT, "N", &options.tree_depth,
         "with --paths: a tree is the first N folders of a volume, 1 to 4"},
        {"platform-metrics", 0, OPTION_STRING, "FILE", &options.platform_metrics,
         "the storage system's own counters, as OpenMetrics or CSV, written anew by somebody"},
        {"pseudo", 0, OPTION_FLAG, NULL, &options.pseudo,
         "count operations on proc, sysfs and their like too"},
        {"burst-factor", 0, OPTION_COUNT, "N", &options.burst_factor,
         "a slot of 100 ms with N times the mean of the last minute is in a burst"},
        {"kernel-memory", 0, OPTION_SIZE, "SIZE", &options.kernel_memory,
         "memory the probe may use in the kernel"},
        {"max-cost", 0, OPTION_PERCENT, "PERCENT", &options.max_cost,
         "of the node's processors; watch less when watching costs more (default: no limit)"},
        {"flavour", 0, OPTION_STRING, "NAME[,NAME...]", &flavour,
         "watch calls only through tp_btf, tracepoint, fentry or kprobe"},
    };
    const struct option_program program = {
        .name = "unblend record",
        .usage = "[OPTION...] [-- COMMAND [ARGUMENT...]]",
        .summary = "Runs COMMAND and records every storage operation of it and its descendants.",
        .options = specs,
        .count = sizeof(specs) / sizeof(*specs),
        .config = SYSCONFDIR "/unblend/record.conf",
    };
    int first, parsed = option_parse(&program, argc, argv, &first);

    if (parsed)
        return parsed > 0 ? 0 : 2;
    if (first == argc && first && strcmp(argv[first - 1], "--") == 0) {
        log_error("no command stands behind --: give one, or leave -- out to record the whole node");
        return 2;
    }
    if (check(&options) || outward_check(&options.outward))
        return 2;
    if (flavour_parse(flavour, &options.flavours)) {
        log_error("%sflavour: %s: give " FLAVOUR_NAMES, option_from(&flavour), flavour);
        return 2;
    }
    if (options.root && finder_check_root(option_from(&options.root), options.root))
        return 1;
    if (!options.agent && options.flavours.order[0] == FLAVOUR_AUTO && !options.platform_metrics)
        options.agent = default_agent();
    return record_run(&options, argv + first);
}
