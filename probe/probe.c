/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/probe.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/log.h"
#include "probe/bpf/abi.h"
#include "probe/drain.h"
#include "probe/hook.h"
#include "probe/objects.h"
#include "probe/syscall_table.h"

#define HOOKS_MAX 16

struct probe {
    struct bpf_object *syscalls, *block;
    struct bpf_link *links[HOOKS_MAX];
    int programs[HOOKS_MAX]; /* descriptors of attached programs, for their losses; 0 for none */
    bool at_functions; /* of the hooks that have one, the other program is attached */
    char why[HOOKS_MAX][200];
    uint64_t missed; /* so many events the kernel has skipped up to the last drain */
    struct tables tables;
    struct volumes *volumes;
    struct origin *origin;
    struct drain *drain;
    int mount_fd;
};

/* libbpf's messages are for --verbose; one of them is the verifier's whole log, line by line. */
static int quiet(enum libbpf_print_level level, const char *format, va_list args)
{
    _cleanup_free_ char *text = NULL;
    char *rest, *line;

    if (level > LIBBPF_WARN || vasprintf(&text, format, args) < 0)
        return 0;
    for (rest = text; (line = strsep(&rest, "\n"));)
        if (*line)
            log_debug("%s", line);
    return 0;
}

static int configure(struct bpf_object *object, const struct probe_options *options)
{
    struct bpf_map *map = bpf_object__find_map_by_name(object, ".rodata.config");
    struct abi_config *config;
    size_t size = 0;

    if (!map)
        return -ENOENT;
    /* libbpf keeps the initial value writable until the object is loaded. */
    config = (struct abi_config *)bpf_map__initial_value(map, &size);
    if (!config || size < sizeof(*config))
        return -EINVAL;
    config->all = options->all;
    config->pseudo = options->pseudo;
    config->request_argument = hook_arguments("block_rq_issue") > 1;
    config->has_io_start = hook_arguments("block_io_start") > 0;
    syscall_table(config->syscalls);
    return 0;
}

static int open_object(const char *start, const char *end, const char *name,
                       struct bpf_object **object)
{
    LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = name);

    *object = bpf_object__open_mem(start, (size_t)(end - start), &options);
    return *object ? 0 : -errno;
}

/* The block object works on the maps of the first one. */
static int share_maps(struct bpf_object *object, const struct bpf_object *owner)
{
    struct bpf_map *map;

    bpf_object__for_each_map(map, object)
    {
        struct bpf_map *original = bpf_object__find_map_by_name(owner, bpf_map__name(map));
        int err;

        if (!original || bpf_map__is_internal(map))
            continue;
        err = bpf_map__reuse_fd(map, bpf_map__fd(original));
        if (err)
            return err;
    }
    return 0;
}

/* System calls at the functions behind them; false when that is not possible, or not needed. */
static bool attach_functions(struct probe *probe)
{
    unsigned missing = 0;

    for (unsigned i = 0; i < hook_count; i++) {
        struct bpf_program *program;

        if (!hook_table[i].instead)
            continue;
        program = bpf_object__find_program_by_name(probe->syscalls, hook_table[i].instead);
        if (bpf_program__autoload(program))
            probe->links[i] = hook_attach_functions(program, strstr(hook_table[i].instead, "exit"));
        if (probe->links[i])
            probe->programs[i] = bpf_program__fd(program);
        else
            missing++;
    }
    for (unsigned i = 0; missing && i < hook_count; i++) {
        bpf_link__destroy(probe->links[i]);
        probe->links[i] = NULL;
    }
    return !missing;
}

/* Attaches the programs of one object that are not yet; what cannot be attached has its reason in why. */
static int attach(struct probe *probe, struct bpf_object *object, bool block)
{
    int failed = 0;

    for (unsigned i = 0; i < hook_count; i++) {
        struct bpf_program *program;

        if (hook_table[i].block != block || probe->links[i])
            continue;
        program = bpf_object__find_program_by_name(object, hook_table[i].program);
        if (!bpf_program__autoload(program))
            continue;
        probe->links[i] = bpf_program__attach(program);
        if (!probe->links[i]) {
            failed = -errno;
            hook_explain(failed, probe->why[i], sizeof(probe->why[i]));
            continue;
        }
        probe->programs[i] = bpf_program__fd(program);
    }
    return failed;
}

static int load_syscalls(struct probe *probe, const struct probe_options *options)
{
    int err = open_object(object_syscall, object_syscall_end, "unblend", &probe->syscalls);

    if (!err)
        err = configure(probe->syscalls, options);
    if (err)
        return err;
    for (unsigned i = 0; i < hook_count; i++)
        if (hook_table[i].instead)
            bpf_program__set_autoload(
                bpf_object__find_program_by_name(probe->syscalls, hook_table[i].instead),
                hook_preemptible());
    tables_size(probe->syscalls, options->memory ? options->memory : PROBE_MEMORY_DEFAULT);
    return bpf_object__load(probe->syscalls);
}

/* Without the block layer the rest goes on: the reason stands in the coverage. */
static void load_block(struct probe *probe, const struct probe_options *options)
{
    char why[200];
    int err = open_object(object_block, object_block_end, "unblend_block", &probe->block);

    if (!err)
        err = configure(probe->block, options);
    if (!err)
        err = share_maps(probe->block, probe->syscalls);
    for (unsigned i = 0; !err && i < hook_count; i++) {
        const char *tracepoint = strchr(hook_table[i].name, '/') + 1;

        if (!hook_table[i].block || hook_arguments(tracepoint) > 0)
            continue;
        bpf_program__set_autoload(
            bpf_object__find_program_by_name(probe->block, hook_table[i].program), false);
        snprintf(probe->why[i], sizeof(probe->why[i]), "this kernel has no tracepoint %s",
                 tracepoint);
    }
    if (!err)
        err = bpf_object__load(probe->block);
    if (!err) {
        attach(probe, probe->block, true);
        return;
    }
    hook_explain(err, why, sizeof(why));
    for (unsigned i = 0; i < hook_count; i++)
        if (hook_table[i].block)
            memcpy(probe->why[i], why, sizeof(why));
}

static int map_fd(const struct probe *probe, const char *name)
{
    return bpf_object__find_map_fd_by_name(probe->syscalls, name);
}

static int make_parts(struct probe *probe, const struct probe_options *options)
{
    const struct volume_maps maps = {
        .volumes = map_fd(probe, "volumes"),
        .mounts = map_fd(probe, "mounts"),
        .namespaces = map_fd(probe, "namespaces"),
        .pseudo_types = map_fd(probe, "pseudo_types"),
    };
    struct drain_sources sources;
    char host[256] = "localhost";
    int err = tables_open(&probe->tables, probe->syscalls);

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
        .shared_map = map_fd(probe, "shared"),
        .last_map = map_fd(probe, "last"),
    };
    probe->mount_fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
    return drain_new(&sources, &probe->drain);
}

/* Kernels before 5.11 count maps against the limit of locked memory. */
static void lift_memory_limit(struct rlimit *before)
{
    const struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};

    getrlimit(RLIMIT_MEMLOCK, before);
    setrlimit(RLIMIT_MEMLOCK, &unlimited);
}

/* Everything but the block layer is needed; what of that is missing stands in why. */
static int start(struct probe *probe, const struct probe_options *options)
{
    struct rlimit before;
    int err;

    probe->mount_fd = -1;
    libbpf_set_print(quiet);
    lift_memory_limit(&before);
    err = load_syscalls(probe, options);
    if (!err)
        err = make_parts(probe, options);
    if (!err)
        probe->at_functions = attach_functions(probe);
    if (!err)
        err = attach(probe, probe->syscalls, false);
    if (!err)
        load_block(probe, options);
    hook_arguments(NULL);
    setrlimit(RLIMIT_MEMLOCK, &before); /* the recorded command shall have the limit it would have had */
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
    for (unsigned i = 0; i < HOOKS_MAX; i++)
        bpf_link__destroy(probe->links[i]);
    drain_free(probe->drain);
    volumes_free(probe->volumes);
    origin_free(probe->origin);
    tables_close(&probe->tables);
    bpf_object__close(probe->block);
    bpf_object__close(probe->syscalls);
    if (probe->mount_fd >= 0)
        close(probe->mount_fd);
    free(probe);
}

/* The table entry of a living process; made here when the kernel side does not know it yet. */
static int find_process(struct probe *probe, pid_t pid, uint32_t *index)
{
    uint32_t tgid = (uint32_t)pid;
    int by_tgid = map_fd(probe, "by_tgid"), err;
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
    int tasks = map_fd(probe, "tasks"), err;

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

/* Events for which the kernel has skipped a program because it was running already. */
static uint64_t missed_events(const struct probe *probe)
{
    uint64_t missed = 0;

    for (unsigned i = 0; i < hook_count; i++) {
        struct bpf_prog_info info = {0};
        uint32_t size = sizeof(info);

        if (probe->programs[i] && !bpf_obj_get_info_by_fd(probe->programs[i], &info, &size))
            missed += info.recursion_misses;
    }
    return missed;
}

static const char *hook_name(const struct probe *probe, unsigned hook)
{
    const struct hook_info *info = &hook_table[hook];

    return probe->at_functions && info->instead ? info->instead_name : info->name;
}

static int cover(struct probe *probe, struct batch *batch)
{
    struct hook hooks[HOOKS_MAX + 8];
    uint64_t missed = missed_events(probe);
    unsigned count = 0;

    for (unsigned i = 0; i < hook_count; i++)
        hooks[count++] = (struct hook){
            .name = hook_name(probe, i),
            .attached = probe->links[i] != NULL,
            .why = probe->links[i] ? NULL : probe->why[i],
        };
    for (unsigned i = 0; i < blind_spot_count; i++)
        hooks[count++] = (struct hook){.name = blind_spots[i].name, .why = blind_spots[i].why};
    batch->coverage.lost += missed - probe->missed;
    probe->missed = missed;
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

        *check = (struct probe_check){.hook = hook_name(probe, i),
                                      .purpose = hook_table[i].purpose,
                                      .available = probe->links[i] != NULL};
        if (!check->available && *probe->why[i])
            memcpy(check->why, probe->why[i], sizeof(check->why));
        else if (!check->available)
            hook_explain(err, check->why, sizeof(check->why));
    }
    for (unsigned i = 0; i < blind_spot_count && count < max; i++, count++) {
        checks[count] = (struct probe_check){.hook = blind_spots[i].name,
                                             .purpose = "operations of this kind"};
        snprintf(checks[count].why, sizeof(checks[count].why), "%s", blind_spots[i].why);
    }
    probe_free(probe);
    return (int)count;
}
