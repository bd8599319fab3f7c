/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/probe.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "probe/bpf/configabi.h"
#include "probe/probe_parts.h"
#include "probe/procfile.h"
#include "probe/stall.h"

/* As proc knows it, to a tick below; 0 where that cannot be read. CLOCK_BOOTTIME. */
static uint64_t started_ns(const struct probe *probe, uint32_t tgid)
{
    struct procfile_stat stat;

    return procfile_read_stat(probe->root, tgid, &stat) ? stat.start_ticks * PROCFILE_TICK_NS : 0;
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
    process->start_ns = started_ns(probe, tgid);
    return bpf_map_update_elem(by_tgid, &tgid, index, BPF_ANY) ? -errno : 0;
}

/* The kernel says EAGAIN while somebody else's probe gives the same task its first storage. */
static int make_state(int tasks, int pidfd, const struct abi_task *state)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    int err = -EAGAIN;

    for (int i = 0; i < 1000 && err == -EAGAIN; i++) {
        err = bpf_map_update_elem(tasks, &pidfd, state, BPF_NOEXIST) ? -errno : 0;
        if (err == -EAGAIN)
            nanosleep(&pause, NULL);
    }
    return err == -EEXIST ? 0 : err;
}

int probe_watch(struct probe *probe, pid_t pid, uint32_t job)
{
    _cleanup_close_ int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    struct abi_task state = {.uncounted = 1};
    int err = pidfd < 0 ? -errno : find_process(probe, pid, &state.process);

    if (err)
        return err;
    if (job)
        process_at(&probe->tables, state.process)->job = job;
    return make_state(load_map(probe->loaded, "tasks"), pidfd, &state);
}

void probe_free(struct probe *probe)
{
    if (!probe)
        return;
    drain_free(probe->drain);
    trees_free(probe->trees);
    stations_free(probe->stations);
    platform_free(probe->platform);
    volumes_free(probe->volumes);
    finder_free(probe->finder);
    origin_free(probe->origin);
    tables_close(&probe->tables);
    load_close(probe->loaded);
    if (probe->mount_fd >= 0)
        close(probe->mount_fd);
    free(probe);
}

int probe_adopt(struct probe *probe, pid_t pid, const struct job *job, uint32_t *id)
{
    int err = origin_job(probe->origin, job, id);

    return err ? err : probe_watch(probe, pid, *id);
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

        living += process->job == id && process->tgid && is_alive(process);
    }
    /* Those without a place in the table are some job's, and as well this one's. */
    living += (unsigned)counters[ABI_COUNTER_HOMELESS];
    /* A child may have taken a place that was passed already, and its parent have exited since. */
    return living || counters[ABI_COUNTER_FORKS] == forks ? living : 1;
}

int probe_look(struct probe *probe)
{
    int err = finder_fetch(probe->finder);

    load_late(probe->loaded);
    volumes_refresh_namespaces(probe->volumes); /* some last for less than the time between drains */
    return err ? err : drain_look(probe->drain);
}

int probe_drain(struct probe *probe, struct batch *batch)
{
    const struct table *processes = &probe->tables.table[ABI_TABLE_PROCESSES];
    struct pressure pressure;
    int err = finder_fetch(probe->finder);

    volumes_refresh_namespaces(probe->volumes);
    load_settle(probe->loaded);
    if (!err)
        err = drain_run(probe->drain, batch);
    if (!err)
        finder_tidy(probe->finder, processes->memory, processes->high + 1);
    if (!err)
        err = stations_drain(probe->stations, probe->volumes, probe->origin, &probe->tables, batch);
    if (!err)
        err = platform_drain(probe->platform, batch);
    if (!err)
        err = origin_report(probe->origin, batch);
    pressure = pressure_read(probe->root);
    batch->pressure = pressure_between(&probe->pressure, &pressure);
    probe->pressure = pressure;
    return err ? err : probe_cover(probe, batch);
}

int probe_stalls(struct probe *probe, bool everything, struct stalls **out)
{
    const struct stall_sources sources = {
        .tables = &probe->tables,
        .finder = probe->finder,
        .origin = probe->origin,
        .root = probe->root,
        .since_ns = &load_control(probe->loaded)->since_ns,
    };

    return stalls_new(&sources, everything, out);
}

uint64_t probe_run_ns(const struct probe *probe)
{
    return load_run_ns(probe->loaded);
}

int probe_mount_fd(const struct probe *probe)
{
    return probe->mount_fd;
}

void probe_mounts_changed(struct probe *probe)
{
    volumes_refresh(probe->volumes);
}

const struct loaded *probe_loaded(const struct probe *probe)
{
    return probe->loaded;
}
