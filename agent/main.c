/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/agent.h"

#include "config.h"

#include <string.h>

#include "agent/spool.h"
#include "lib/address.h"
#include "lib/log.h"
#include "lib/notify.h"
#include "lib/option.h"
#include "lib/output.h"
#include "lib/program.h"
#include "lib/remote.h"
#include "probe/finder.h"
#include "probe/sampler.h"

#define NOT_GIVEN UINT64_MAX /* of a number */

static bool is_role(const char *role)
{
    return strcmp(role, "client") == 0 || strcmp(role, "storage") == 0 ||
           strcmp(role, "converged") == 0;
}

int main(int argc, char **argv)
{
    struct agent_options agent = {
        .state = AGENT_STATE,
        .socket = AGENT_SOCKET,
        .role = "client",
        .job_env = FINDER_JOB_ENV,
        .cluster = "default",
        .interval_ns = 10000000000ull,
        .spool_max = SPOOL_MAX_DEFAULT,
        .kernel_memory = PROBE_MEMORY_DEFAULT,
        .max_cost = sampler_modest_cost(),
        .burst_factor = PROBE_BURST_FACTOR,
        .tree_depth = NOT_GIVEN,
    };
    const char *flavour = "auto";
    bool verbose = false, no_depth;
    const struct option_spec options[] = {
        {"collector", 'c', OPTION_STRING, "URL", &agent.collector,
         "push to this collector (https://HOST:PORT); without it nothing leaves the node"},
        {"token-file", 't', OPTION_STRING, "FILE", &agent.token_file,
         "the node's token, as `unblend-collector enroll` printed it"},
        {"ca-file", 0, OPTION_STRING, "FILE", &agent.ca_file,
         "trust these certificates instead of the system's"},
        {"join-file", 0, OPTION_STRING, "FILE", &agent.join_file,
         "a join token, exchanged once for the node's own when --token-file is not there"},
        {"tls-cert", 0, OPTION_STRING, "FILE", &agent.tls_cert,
         "the node's certificate chain, PEM, if the collector wants one"},
        {"tls-key", 0, OPTION_STRING, "FILE", &agent.tls_key, "its private key, PEM"},
        {"state", 0, OPTION_STRING, "DIR", &agent.state,
         "the spool and what must survive a restart"},
        {"spool-max", 0, OPTION_SIZE, "SIZE", &agent.spool_max,
         "disk that waiting batches may take; beyond it the oldest are dropped, counted and told"},
        {"socket", 's', OPTION_STRING, "PATH", &agent.socket,
         "where record, top and report find the agent"},
        {"interval", 'i', OPTION_DURATION, "TIME", &agent.interval_ns,
         "one batch each TIME"},
        {"cluster", 0, OPTION_STRING, "NAME", &agent.cluster, "the cluster this node belongs to"},
        {"node", 0, OPTION_STRING, "NAME", &agent.node, "the node's name (default: the host's)"},
        {"role", 0, OPTION_STRING, "client|storage|converged", &agent.role,
         "what the node is"},
        {"platform-metrics", 0, OPTION_STRING, "FILE", &agent.platform_metrics,
         "the storage system's own counters, as OpenMetrics or CSV, written anew by somebody"},
        {"metrics", 0, OPTION_STRING, "ADDR:PORT", &agent.metrics,
         "serve OpenMetrics there, over plain HTTP to whoever asks (default: nowhere)"},
        {"otlp", 0, OPTION_STRING, "URL", &agent.otlp,
         "post OpenTelemetry metrics to URL/v1/metrics at the end of each interval (default: nowhere)"},
        {"otlp-token-file", 0, OPTION_STRING, "FILE", &agent.otlp_token_file,
         "the bearer token that this receiver wants, if it wants one"},
        {"copy", 0, OPTION_STRING, "FILE", &agent.copy,
         "append every batch to this recording too"},
        {"kernel-memory", 0, OPTION_SIZE, "SIZE", &agent.kernel_memory,
         "memory the probe may use in the kernel"},
        {"max-cost", 0, OPTION_PERCENT, "PERCENT", &agent.max_cost,
         "of the node's processors; watch less when watching costs more (default: 1, or half a processor; 0: no "
         "limit)"},
        {"burst-factor", 0, OPTION_COUNT, "N", &agent.burst_factor,
         "a slot of 100 ms with N times the mean of the last minute is in a burst"},
        {"flavour", 0, OPTION_STRING, "NAME[,NAME...]", &flavour,
         "watch calls only through tp_btf, tracepoint, fentry or kprobe"},
        {"job-env", 0, OPTION_STRING, "NAME[,NAME...]", &agent.job_env,
         "variables that name a process's job, behind UNBLEND_JOB"},
        {"pod-labels", 0, OPTION_STRING, "NAME[,NAME...]", &agent.pod_labels,
         "labels of pods and containers to send with their jobs"},
        {"root", 0, OPTION_STRING, "DIR", &agent.root,
         "the node's proc, sys, run and var are below DIR (an agent in a container)"},
        {"pseudo", 0, OPTION_FLAG, NULL, &agent.pseudo,
         "count operations on proc, sysfs and their like too"},
        {"tree-depth", 0, OPTION_COUNT, "N", &agent.tree_depth,
         "tell operations by tree, the first N folders of a volume, to those who watch here: 1 to 4"},
        {"trees", 0, OPTION_FLAG, NULL, &agent.trees,
         "send trees to the collector, too, of two folders if --tree-depth says nothing else"},
        {"user", 0, OPTION_STRING, "NAME", &agent.user,
         "when started as root, become this user (default: unblend, else nobody; root: stay)"},
        OUTWARD_PSEUDONYMS(&agent.outward,
                           "send keyed pseudonyms instead of names, but for the node's and the cluster's"),
        OUTWARD_NAMES(&agent.outward, "with --pseudonyms: "),
        OUTWARD_ALLOW_LIST(&agent.outward, ""),
        {"verbose", 'v', OPTION_FLAG, NULL, &verbose, "say more"},
    };
    const struct option_program program = {
        .name = "unblend-agent",
        .usage = "[--collector URL --token-file FILE] [OPTION...]",
        .summary = "Watches every storage operation on this node and ships profiles to the collector.",
        .options = options,
        .count = sizeof(options) / sizeof(*options),
        .config = SYSCONFDIR "/unblend/agent.conf",
    };
    int first, parsed;

    program_begin(program.name);
    notify_init();
    parsed = option_parse(&program, argc, argv, &first);
    if (parsed)
        return parsed > 0 ? output_end(0) : 2;
    log_verbose(verbose);
    no_depth = !agent.tree_depth || (agent.tree_depth > TREE_DEPTH_MAX && agent.tree_depth != NOT_GIVEN);
    if (agent.tree_depth == NOT_GIVEN)
        agent.tree_depth = agent.trees ? TREE_DEPTH_DEFAULT : 0;
    if (first < argc)
        log_error("%s: no operand is expected here; see --help", argv[first]);
    else if (!is_role(agent.role))
        log_error("%srole %s: give client, storage or converged", option_from(&agent.role), agent.role);
    else if (flavour_parse(flavour, &agent.flavours))
        log_error("%sflavour: %s: give " FLAVOUR_NAMES, option_from(&flavour), flavour);
    else if (agent.interval_ns < 1000000000 || agent.interval_ns > 3600000000000ull ||
             agent.interval_ns % 1000000000)
        log_error("%sinterval: give a whole number of seconds, from 1s to 1h", option_from(&agent.interval_ns));
    else if (agent.spool_max < 1 << 20)
        log_error("%sspool-max: give at least 1M", option_from(&agent.spool_max));
    else if (finder_check_names(agent.job_env, true))
        log_error("%sjob-env: %s: give up to seven names of variables, with commas",
                  option_from(&agent.job_env), agent.job_env);
    else if (agent.pod_labels && finder_check_names(agent.pod_labels, false))
        log_error("%spod-labels: %s: give names of labels, with commas",
                  option_from(&agent.pod_labels), agent.pod_labels);
    else if (no_depth)
        log_error("%stree-depth: give a number of folders from 1 to %d",
                  option_from(&agent.tree_depth), TREE_DEPTH_MAX);
    else if (!agent.burst_factor)
        log_error("%sburst-factor: give a whole number from 1", option_from(&agent.burst_factor));
    else if (agent.collector && !agent.token_file)
        log_error("%scollector %s: --token-file is needed with it", option_from(&agent.collector), agent.collector);
    else if (!agent.tls_cert != !agent.tls_key)
        log_error("--tls-cert and --tls-key belong together: give both");
    else if (agent.collector && !strstr(agent.collector, "://"))
        log_error("%scollector %s: give a URL, as https://HOST:PORT", option_from(&agent.collector), agent.collector);
    else if (agent.collector && !remote_is_safe(agent.collector))
        log_error("%scollector %s: a token goes to https:// only, or to http:// on loopback",
                  option_from(&agent.collector), agent.collector);
    else if (agent.otlp && !remote_is_safe(agent.otlp))
        log_error("%sotlp %s: give https://HOST:PORT; plain http goes to this machine only",
                  option_from(&agent.otlp), agent.otlp);
    else if (agent.otlp_token_file && !agent.otlp)
        log_error("%sotlp-token-file %s: --otlp is needed with it",
                  option_from(&agent.otlp_token_file), agent.otlp_token_file);
    else if (!agent.collector && agent.token_file && !*option_from(&agent.token_file))
        log_error("token-file %s: --collector is needed with it", agent.token_file);
    else if (!agent.collector && agent.join_file && !*option_from(&agent.join_file))
        log_error("join-file %s: --collector is needed with it", agent.join_file);
    else if ((agent.metrics && address_check(option_from(&agent.metrics), agent.metrics)) ||
             outward_check(&agent.outward))
        return 2; /* logged */
    else
        return agent.root && finder_check_root(option_from(&agent.root), agent.root) ? 1 : agent_run(&agent);
    return 2;
}
