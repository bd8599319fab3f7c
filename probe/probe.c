/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/probe.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/log.h"
#include "probe/bpf/abi.h"
#include "probe/drain.h"
#include "probe/hook.h"
#include "probe/load.h"

struct probe {
    struct loaded *loaded;
    uint64_t missed; /* so many events the kernel has skipped up to the last drain */
    struct tables tables;
    struct volumes *volumes;
    struct origin *origin;
    struct drain *drain;
    int mount_fd;
};

static int make_parts(struct probe *probe, const struct probe_options *options)
{
    const struct volume_maps maps = {
        .volumes = load_map(probe->loaded, "volumes"),
        .mounts = load_map(probe->loaded, "mounts"),
        .namespaces = load_map(probe->loaded, "namespaces"),
        .pseudo_types = load_map(probe->loaded, "pseudo_types"),
    };
    struct drain_sources sources;
    char host[256] = "localhost";
    int err = tables_open(&probe->tables, load_object(probe->loaded));

    gethostname(host, sizeof(host) - 1);
    if (!err)
        err = volumes_new(&maps, options->node ? options->node : host, options->pseudo,
                          &probe->volumes);
    if (!err)
        err = origin_new(&probe->origin);
    if (err)
        return err;
    volumes_refresh(probe->volumes);
    sources = (struct drain_sources){
        .tables = &probe->tables,
        .volumes = probe->volumes,
        .origin = probe->origin,
        .shared_map = load_map(probe->loaded, "shared"),
        .last_map = load_map(probe->loaded, "last"),
        .async_map = load_map(probe->loaded, "async"),
    };
    probe->mount_fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
    return drain_new(&sources, &probe->drain);
}

static int start(struct probe *probe, const struct probe_options *options)
{
    int err;

    probe->mount_fd = -1;
    err = load_open(options, &probe->loaded);
    if (!err)
        err = make_parts(probe, options);
    if (!err)
        err = load_attach(probe->loaded, options);
    return err;
}

int probe_new(const struct probe_options *options, struct probe **out)
{
    struct probe *probe = calloc(1, sizeof(*probe));
    char why[200];
    int err;

    if (!probe)
        return -ENOMEM;
    err = start(probe, options);
    if (err) {
        hook_explain(err, why, sizeof(why));
        log_error("cannot watch system calls: %s", why);
        probe_free(probe);
        return err;
    }
    *out = probe;
    return 0;
}

void probe_free(struct probe *probe)
{
    if (!probe)
        return;
    drain_free(probe->drain);
    volumes_free(probe->volumes);
    origin_free(probe->origin);
    tables_close(&probe->tables);
    load_close(probe->loaded);
    if (probe->mount_fd >= 0)
        close(probe->mount_fd);
    free(probe);
}

/* The table entry of a living process; made here when the kernel side does not know it yet. */
static int find_process(struct probe *probe, pid_t pid, uint32_t *index)
{
    uint32_t tgid = (uint32_t)pid;
    int by_tgid = load_map(probe->loaded, "by_tgid"), err;
    struct abi_process *process;

    if (bpf_map_lookup_elem(by_tgid, &tgid, index) == 0)
        return 0;
    err = table_take(&probe->tables.table[ABI_TABLE_PROCESSES], index);
    if (err)
        return err;
    process = process_at(&probe->tables, *index);
    process->tgid = tgid;
    process->uid = getuid();
    return bpf_map_update_elem(by_tgid, &tgid, index, BPF_ANY) ? -errno : 0;
}

int probe_adopt(struct probe *probe, pid_t pid, const struct job *job, uint32_t *id)
{
    _cleanup_close_ int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    struct abi_task state = {0};
    int tasks = load_map(probe->loaded, "tasks"), err;

    if (pidfd < 0)
        return -errno;
    err = find_process(probe, pid, &state.process);
    if (!err)
        err = origin_job(probe->origin, job, id);
    if (err)
        return err;
    process_at(&probe->tables, state.process)->job = *id;
    /* Watched already (by a probe of the whole node): only its job is new. */
    if (bpf_map_update_elem(tasks, &pidfd, &state, BPF_NOEXIST) && errno != EEXIST)
        return -errno;
    return 0;
}

void probe_job_exit(struct probe *probe, uint32_t id, int status, int64_t end_ns)
{
    struct job *job = origin_find(probe->origin, id);

    if (job) {
        job->exit = status;
        job->end_ns = end_ns;
    }
}

unsigned probe_job_living(struct probe *probe, uint32_t id)
{
    struct table *table = &probe->tables.table[ABI_TABLE_PROCESSES];
    const volatile uint64_t *counters = probe->tables.counters;
    uint64_t forks = counters[ABI_COUNTER_FORKS];
    unsigned living = 0;

    table_find_high(table);
    for (uint32_t i = 1; i <= table->high; i++) {
        const struct abi_process *process = process_at(&probe->tables, i);

        living += process->job == id && process->tgid &&
                  !__atomic_load_n(&process->exited, __ATOMIC_ACQUIRE);
    }
    /* Those without a place in the table are some job's, and as well this one's. */
    living += (unsigned)counters[ABI_COUNTER_HOMELESS];
    /* A child may have taken a place that was passed already, and its parent have exited since. */
    return living || counters[ABI_COUNTER_FORKS] == forks ? living : 1;
}

static int cover(struct probe *probe, struct batch *batch)
{
    struct hook hooks[32];
    uint64_t missed = load_missed(probe->loaded), recovered;
    unsigned count = 0;

    /* Read after those that were missed; what is recovered was missed before. */
    recovered = probe->tables.counters[ABI_COUNTER_RECOVERED];
    missed = missed > recovered ? missed - recovered : 0;

    for (unsigned i = 0; i < hook_count; i++)
        hooks[count++] = (struct hook){
            .name = load_name(probe->loaded, i),
            .attached = load_attached(probe->loaded, i),
            .why = load_attached(probe->loaded, i) ? NULL : load_why(probe->loaded, i),
        };
    for (unsigned i = 0; i < way_in_count; i++)
        hooks[count++] = (struct hook){
            .name = ways_in[i].name,
            .attached = load_sees(probe->loaded, i),
            .why = load_sees(probe->loaded, i) ? NULL : ways_in[i].why,
        };
    if (missed > probe->missed) {
        batch->coverage.lost += missed - probe->missed;
        probe->missed = missed;
    }
    return batch_hooks(batch, hooks, count);
}

int probe_drain(struct probe *probe, struct batch *batch)
{
    int err;

    volumes_refresh_namespaces(probe->volumes);
    err = drain_run(probe->drain, batch);
    if (!err)
        err = origin_report(probe->origin, batch);
    return err ? err : cover(probe, batch);
}

int probe_mount_fd(const struct probe *probe)
{
    return probe->mount_fd;
}

void probe_mounts_changed(struct probe *probe)
{
    volumes_refresh(probe->volumes);
}

int probe_doctor(struct probe_check *checks, unsigned max)
{
    const struct probe_options options = {.memory = PROBE_MEMORY_MIN};
    struct probe *probe = calloc(1, sizeof(*probe));
    unsigned count = 0;
    int err;

    if (!probe)
        return -ENOMEM;
    err = start(probe, &options);
    for (unsigned i = 0; i < hook_count && count < max; i++, count++) {
        struct probe_check *check = &checks[count];

        *check = (struct probe_check){.hook = probe->loaded ? load_name(probe->loaded, i) : hook_table[i].name,
                                      .purpose = hook_table[i].purpose,
                                      .available = probe->loaded && load_attached(probe->loaded, i)};
        if (!check->available && probe->loaded && *load_why(probe->loaded, i))
            snprintf(check->why, sizeof(check->why), "%s", load_why(probe->loaded, i));
        else if (!check->available)
            hook_explain(err, check->why, sizeof(check->why));
    }
    for (unsigned i = 0; i < way_in_count && count < max; i++, count++) {
        checks[count] = (struct probe_check){
            .hook = ways_in[i].name, .purpose = ways_in[i].purpose, .available = !err && ways_in[i].is_seen()};
        if (err)
            hook_explain(err, checks[count].why, sizeof(checks[count].why));
        else if (!checks[count].available)
            snprintf(checks[count].why, sizeof(checks[count].why), "%s", ways_in[i].why);
    }
    probe_free(probe);
    return (int)count;
}
