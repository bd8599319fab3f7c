/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/probe.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "probe/bpf/abi.h"
#include "probe/bpf/configabi.h"
#include "probe/bypass.h"
#include "probe/calls.h"
#include "probe/drain.h"
#include "probe/hook.h"
#include "probe/load.h"
#include "probe/platform.h"
#include "probe/pressure.h"
#include "probe/rights.h"
#include "probe/stall.h"
#include "probe/stations.h"

struct probe {
    struct loaded *loaded;
    uint64_t missed; /* so many events the kernel has skipped up to the last drain */
    struct tables tables;
    struct volumes *volumes;
    struct origin *origin;
    struct finder *finder;
    struct drain *drain;
    struct stations *stations;
    struct trees *trees; /* NULL: not asked for */
    struct platform *platform;
    const char *root; /* the caller's */
    struct pressure pressure; /* at the last drain */
    int mount_fd;
    enum probe_step step;
    enum grain grain; /* that is asked for */
};

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
        err = platform_new(options->root ? options->root : "", options->node ? options->node : host, options->platform_metrics, &probe->platform);
    if (err)
        return err;
    snprintf(mounts, sizeof(mounts), "/proc/%s/mountinfo", volumes_owner(probe->volumes));
    probe->mount_fd = open(mounts, O_RDONLY | O_CLOEXEC);
    return drain_new(&sources, &probe->drain);
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

/* The process and its descendants are watched from now on; where they are already, only the job is new. */
static int watch(struct probe *probe, pid_t pid, uint32_t job)
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

static int watch_for_test(void *context, pid_t pid)
{
    return watch(context, pid, 0);
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

/* Events that no program has seen, since the start. */
static uint64_t count_missed(const struct probe *probe)
{
    uint64_t missed = load_missed(probe->loaded), recovered;

    /* Read after those that were missed; what is recovered was missed before. */
    recovered = probe->tables.counters[ABI_COUNTER_RECOVERED];
    return missed > recovered ? missed - recovered : 0;
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
    probe->missed = count_missed(probe);
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

    size_t used = 0;

    if (forced == FLAVOUR_AUTO || !calls || calls_flavour(calls) != FLAVOUR_AUTO) {
        hook_explain(err, why, size);
        return;
    }
    used = (size_t)snprintf(why, size, "not through %s: ", flavour_name(forced));
    calls_explain(calls, forced, err, why + used, size - used);
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
        log_error("cannot watch system calls: %s", probe ? why : log_errno(err));
        probe_free(probe);
        return err;
    }
    load_release();
    *out = probe;
    return 0;
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

    return err ? err : watch(probe, pid, *id);
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

/* What a step leaves out beside whole hooks. */
static unsigned cover_step(const struct probe *probe, struct hook *hooks)
{
    unsigned count = 0;

    if (probe->step >= PROBE_JOB_KEYS)
        hooks[count++] = (struct hook){.name = "processes", .why = PROBE_TOO_DEAR};
    if (probe->step >= PROBE_JOB_KEYS)
        hooks[count++] = (struct hook){.name = "order of transfers", .why = PROBE_TOO_DEAR};
    if (probe->step >= PROBE_METADATA_ONLY)
        hooks[count++] = (struct hook){.name = "read, write, seek", .why = PROBE_TOO_DEAR};
    return count;
}

/* Why a hook is not attached; of the one that reads and writes come through, how, too. */
static const char *hook_note(const struct loaded *loaded, unsigned i)
{
    if (!load_attached(loaded, i))
        return load_why(loaded, i);
    return i == HOOK_CALL_ENTRY ? calls_why(load_calls(loaded)) : NULL;
}

static int cover(struct probe *probe, struct batch *batch)
{
    struct hook hooks[64 + SYSCALL_CALLS_MAX];
    struct calls *calls = load_calls(probe->loaded);
    uint64_t missed = count_missed(probe);
    unsigned count = 0;

    for (unsigned i = 0; i < hook_count; i++)
        if (!load_awaits(probe->loaded, i)) /* nothing happens there that could go unseen */
            hooks[count++] = (struct hook){
                .name = load_name(probe->loaded, i),
                .attached = load_attached(probe->loaded, i),
                .why = hook_note(probe->loaded, i),
            };
    count += calls_exceptions(calls, &hooks[count]);
    for (unsigned i = 0; i < way_in_count; i++) {
        const char *why = load_blind(probe->loaded, i);

        hooks[count++] = (struct hook){.name = ways_in[i].name, .attached = !why, .why = why};
    }
    count += cover_step(probe, hooks + count);
    if (probe->tables.counters[ABI_COUNTER_SLOTS_BLURRED])
        hooks[count++] = (struct hook){.name = "burst-slots",
                                       .why = "slots of 100 ms found no room and are counted with later ones: give "
                                              "the probe more memory"};
    if (probe->tables.counters[ABI_COUNTER_UNSTATIONED])
        hooks[count++] = (struct hook){.name = "storage-side",
                                       .why = "requests found no room in the storage side's table, or their end was "
                                              "not seen: give the probe more memory"};
    if (probe->tables.counters[ABI_COUNTER_UNSEEN])
        hooks[count++] = (struct hook){.name = "block-ends",
                                       .why = "the kernel has shown the end of block requests to no program, as some "
                                              "sandboxes' kernels do: they are among the lost"};
    if (platform_name(probe->platform))
        hooks[count++] = (struct hook){.name = "platform-metrics",
                                       .attached = !platform_why(probe->platform),
                                       .why = platform_why(probe->platform)};
    if (missed > probe->missed) {
        batch->coverage.lost += missed - probe->missed;
        probe->missed = missed;
    }
    return batch_hooks(batch, hooks, count) ? -ENOMEM : bypass_look(probe->root, batch);
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
    return err ? err : cover(probe, batch);
}

static void set_grain(struct probe *probe)
{
    drain_set_grain(probe->drain, probe->step < PROBE_JOB_KEYS ? probe->grain : GRAIN_JOBS,
                     load_control(probe->loaded)->since_ns);
}

int probe_set_step(struct probe *probe, enum probe_step step)
{
    const uint32_t data = 1u << OP_READ | 1u << OP_WRITE | 1u << OP_SEEK;
    volatile struct abi_control *control = load_control(probe->loaded);
    bool back = probe->step == PROBE_DETACHED && step < PROBE_DETACHED;
    int err;

    /* Calls that nobody will see end, or saw begin, are none of ours. */
    if (step == PROBE_DETACHED)
        control->since_ns = UINT64_MAX;
    control->no_order = step >= PROBE_JOB_KEYS;
    control->shed = step >= PROBE_METADATA_ONLY ? data : 0;
    err = load_step(probe->loaded, step);
    if (back)
        control->since_ns = (uint64_t)monotonic_ns();
    probe->step = step;
    set_grain(probe);
    return err;
}

void probe_set_grain(struct probe *probe, enum grain grain)
{
    probe->grain = grain;
    set_grain(probe);
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
