/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes a probe's parts, attaches the programs and lets the self-test fire every call; or says why that failed. */
#include "probe/probe_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/log.h"
#include "probe/calls.h"
#include "probe/hook.h"
#include "probe/rights.h"

static int make_finder(struct probe *probe, const struct probe_options *options)
{
    const struct finder_options finder = {
        .root = options->root,
        .job_env = options->job_env,
        .pod_labels = options->pod_labels,
        .own_job = options->own_job,
        .processes = probe->tables.table[ABI_TABLE_PROCESSES].entries,
        .names_map = load_map(probe->loaded, "job_names"),
        .tickets_map = load_map(probe->loaded, "tickets"),
        .cgroups_map = load_map(probe->loaded, "cgroup_news"),
    };

    return finder_new(&finder, probe->origin, &probe->finder);
}

static int make_parts(struct probe *probe, const struct probe_options *options)
{
    const struct volume_maps maps = {
        .volumes = load_map(probe->loaded, "volumes"),
        .mounts = load_map(probe->loaded, "mounts"),
        .namespaces = load_map(probe->loaded, "namespaces"),
        .pseudo_types = load_map(probe->loaded, "pseudo_types"),
    };
    const struct station_maps stations = {
        .places = load_map(probe->loaded, "station_places"),
        .stations = load_map(probe->loaded, "stations"),
        .fuse_servers = load_map(probe->loaded, "fuse_servers"),
    };
    struct drain_sources sources;
    char host[256] = "localhost", mounts[64];
    int err = tables_open(&probe->tables, load_object(probe->loaded));

    gethostname(host, sizeof(host) - 1);
    if (!err)
        err = volumes_new(&maps, options->node ? options->node : host, options->root, options->pseudo,
                          &probe->volumes);
    if (!err)
        err = origin_new(&probe->origin);
    if (!err)
        err = make_finder(probe, options);
    if (err)
        return err;
    volumes_refresh(probe->volumes);
    if (options->tree_depth)
        err = trees_new(load_object(probe->loaded), probe->volumes, options->tree_depth, &probe->trees);
    if (err)
        return err;
    sources = (struct drain_sources){
        .tables = &probe->tables,
        .volumes = probe->volumes,
        .origin = probe->origin,
        .finder = probe->finder,
        .trees = probe->trees,
        .shared_map = load_map(probe->loaded, "shared"),
        .last_map = load_map(probe->loaded, "last"),
        .slots_map = load_map(probe->loaded, "slots"),
        .phase_map = load_map(probe->loaded, "slot_phase"),
        .burst_factor = options->burst_factor ? options->burst_factor : PROBE_BURST_FACTOR,
        .async_map = load_map(probe->loaded, "async"),
        .told_map = load_map(probe->loaded, "files_told"),
    };
    err = stations_new(&stations, &probe->stations);
    if (!err)
        err = platform_new(options->root ? options->root : "", options->node ? options->node : host,
                           options->platform_metrics, &probe->platform);
    if (err)
        return err;
    snprintf(mounts, sizeof(mounts), "/proc/%s/mountinfo", volumes_owner(probe->volumes));
    probe->mount_fd = open(mounts, O_RDONLY | O_CLOEXEC);
    return drain_new(&sources, &probe->drain);
}

static int watch_for_test(void *context, pid_t pid)
{
    return probe_watch(context, pid, 0);
}

/* What was there before the test goes with it: the recording begins afterwards. */
static int drain_for_test(void *context, struct batch **out)
{
    _cleanup_(batch_freep) struct batch *batch = NULL;
    struct probe *probe = context;
    int err = batch_new(&batch);

    if (!err)
        err = drain_run(probe->drain, batch);
    if (!err)
        *out = take_pointer(batch);
    return err;
}

static int start(struct probe *probe, const struct probe_options *options)
{
    const struct selftest_host host = {watch_for_test, drain_for_test, probe};
    int err;

    probe->root = options->root ? options->root : "";
    probe->pressure = pressure_read(probe->root);
    probe->mount_fd = -1;
    err = load_open(options, &probe->loaded);
    if (!err)
        err = make_parts(probe, options);
    if (!err)
        err = load_attach(probe->loaded, options);
    if (err)
        return err;
    for (unsigned i = 0; i < hook_count; i++)
        if (strcmp(hook_table[i].program, "on_page_added") == 0 && load_attached(probe->loaded, i))
            drain_know_cache(probe->drain);
    volumes_refresh_namespaces(probe->volumes); /* of the processes that have files open */
    err = calls_test(load_calls(probe->loaded), &host);
    if (err)
        log_warning("the self-test could not be run: %s; counting goes on", log_errno(err));
    probe->missed = probe_missed(probe);
    err = platform_begin(probe->platform);
    if (err)
        return err;
    hook_arguments(NULL); /* no more questions about types */
    return 0;
}

int probe_try(const struct probe_options *options, struct probe **out)
{
    struct probe *probe = calloc(1, sizeof(*probe));

    if (!probe)
        return -ENOMEM;
    probe->grain = GRAIN_PROCESSES;
    *out = probe;
    return start(probe, options);
}

/* The plan's own reason for a flavour that was forced; libbpf's error says less. */
static void explain_failure(const struct probe *probe, const struct probe_options *options, int err,
                            char *why, size_t size)
{
    const struct calls *calls = probe->loaded ? load_calls(probe->loaded) : NULL;
    enum flavour forced = options->flavours.order[0];
    size_t used;

    if (forced == FLAVOUR_AUTO || !calls || calls_flavour(calls) != FLAVOUR_AUTO) {
        hook_explain(err, why, size);
        return;
    }
    used = (size_t)snprintf(why, size, "not through %s: ", flavour_name(forced));
    calls_explain(calls, forced, err, why + used, size - used);
}

static const char *instead(const struct probe_options *options, int err)
{
    bool lacks_rights = (err == -EPERM || err == -EACCES) && geteuid() != 0;

    return lacks_rights && options->instead ? options->instead : "";
}

int probe_new(const struct probe_options *options, struct probe **out)
{
    struct probe *probe = NULL;
    char why[300];
    int err;

    if (!rights_host_pids()) {
        log_error("cannot watch system calls: this container has process ids of its own, and the kernel's are "
                  "others: start it with the host's (docker run --pid=host, hostPID: true)");
        return -EOPNOTSUPP;
    }
    err = probe_try(options, &probe);
    if (err) {
        if (probe)
            explain_failure(probe, options, err, why, sizeof(why));
        log_error("cannot watch system calls: %s%s", probe ? why : log_errno(err), instead(options, err));
        probe_free(probe);
        return err;
    }
    load_release();
    *out = probe;
    return 0;
}
