/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/load.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/log.h"
#include "probe/bpf/abi.h"
#include "probe/again.h"
#include "probe/attach.h"
#include "probe/budget.h"
#include "probe/calls.h"
#include "probe/compat_table.h"
#include "probe/objects.h"
#include "probe/syscall_table.h"
#include "probe/tables.h"
#include "probe/uring.h"

#define HOOKS_MAX 32
#define CONTROL   ".data.control"

struct loaded {
    struct bpf_object *object[HOOK_OBJECTS];
    struct bpf_link *links[HOOKS_MAX];
    struct bpf_link **cpu_links; /* of the hook that is attached to each CPU */
    int cpu_count;
    bool at_functions[HOOK_OBJECTS]; /* its tracepoints are missing, and programs watch functions instead */
    struct calls *calls;
    struct probe_options options;
    int programs[HOOKS_MAX]; /* descriptors of attached programs, for their losses; 0 for none */
    char why[HOOKS_MAX][200];
    struct bpf_link *again[AGAIN_PROGRAMS];
    uint32_t ways_in; /* a bit for each that is seen */
    volatile struct abi_control *control;
    enum probe_step step;
    bool ready[HOOK_OBJECTS]; /* loaded, and attached where that could be */
    bool resting[HOOKS_MAX];  /* detached by a step; the program is still there */
};

static const struct {
    const char *start, *end, *name;
} objects[HOOK_OBJECTS] = {
    [HOOK_SYSCALL] = {object_syscall, object_syscall_end, "unblend"},
    [HOOK_BLOCK] = {object_block, object_block_end, "unblend_block"},
    [HOOK_FAULT] = {object_fault, object_fault_end, "unblend_fault"},
    [HOOK_URING] = {object_uring, object_uring_end, "unblend_uring"},
    [HOOK_AIO] = {object_aio, object_aio_end, "unblend_aio"},
    [HOOK_FUSE] = {object_fuse, object_fuse_end, "unblend_fuse"},
    [HOOK_FAULT_FUNCTION] = {object_fault_function, object_fault_function_end, "unblend_fault"},
    [HOOK_JOB] = {object_job, object_job_end, "unblend_job"},
    [HOOK_SEED] = {object_seed, object_seed_end, "unblend_seed"},
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
        return 0; /* its programs do not look */
    /* libbpf keeps the initial value writable until the object is loaded. */
    config = (struct abi_config *)bpf_map__initial_value(map, &size);
    if (!config || size < sizeof(*config))
        return -EINVAL;
    config->all = options->all;
    config->pseudo = options->pseudo;
    config->request_argument = hook_arguments("block_rq_issue") > 1;
    config->has_io_start = hook_arguments("block_io_start") > 0;
    config->page_shift = bucket_msb((uint64_t)sysconf(_SC_PAGESIZE));
    config->twice = uring_twice();
    config->has_compat = compat_table_known();
    syscall_table(config->syscalls, hook_aio());
    compat_table(config->syscalls, hook_aio());
    return 0;
}

static int open_object(struct loaded *loaded, enum hook_object which,
                       const struct probe_options *options)
{
    LIBBPF_OPTS(bpf_object_open_opts, open_options, .object_name = objects[which].name);

    const char *start = objects[which].start, *end = objects[which].end;

    if (which == HOOK_SYSCALL && hook_function("bpf_rdonly_cast")) {
        start = object_syscall_cast;
        end = object_syscall_cast_end;
    }
    loaded->object[which] = bpf_object__open_mem(start, (size_t)(end - start), &open_options);
    return loaded->object[which] ? configure(loaded->object[which], options) : -errno;
}

/* The other objects work on the maps of the first one. */
static int share_maps(struct bpf_object *object, const struct bpf_object *owner)
{
    struct bpf_map *map;

    bpf_object__for_each_map(map, object)
    {
        struct bpf_map *original = bpf_object__find_map_by_name(owner, bpf_map__name(map));
        int err;

        if (!original || (bpf_map__is_internal(map) && strcmp(bpf_map__name(map), CONTROL) != 0))
            continue;
        err = bpf_map__reuse_fd(map, bpf_map__fd(original));
        if (err)
            return err;
    }
    return 0;
}

/* The kernel's counter of major faults calls the program at each one, on each CPU. */
static int attach_to_cpus(struct loaded *loaded, const struct bpf_program *program)
{
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof(attributes),
        .config = PERF_COUNT_SW_PAGE_FAULTS_MAJ,
        .sample_period = 1,
    };
    int count = libbpf_num_possible_cpus();

    if (count < 0)
        return count;
    loaded->cpu_links = calloc((size_t)count, sizeof(*loaded->cpu_links));
    if (!loaded->cpu_links)
        return -ENOMEM;
    for (int cpu = 0; cpu < count; cpu++) {
        int fd = (int)syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

        if (fd < 0 && errno == ENODEV)
            continue; /* possible, and not there */
        if (fd < 0)
            return -errno;
        loaded->cpu_links[loaded->cpu_count] = bpf_program__attach_perf_event(program, fd);
        if (!loaded->cpu_links[loaded->cpu_count]) {
            int err = -errno;

            close(fd);
            return err;
        }
        loaded->cpu_count++; /* the link owns the descriptor */
    }
    return 0;
}

static bool is_attached(const struct loaded *loaded, unsigned hook)
{
    return loaded->links[hook] || (hook_table[hook].each_cpu && loaded->cpu_links);
}

/* Whether the present step leaves an object's hooks attached. Who belongs to whom must be known after a pause, too. */
static bool is_object_wanted(const struct loaded *loaded, enum hook_object object)
{
    if (loaded->step == PROBE_DETACHED)
        return object == HOOK_SYSCALL || object == HOOK_JOB;
    return loaded->step < PROBE_METADATA_ONLY || (object != HOOK_BLOCK && object != HOOK_FAULT && object != HOOK_FUSE);
}

static bool is_wanted(const struct loaded *loaded, unsigned hook)
{
    return is_object_wanted(loaded, hook_table[hook].object) && !(hook_is_call(hook) && loaded->step == PROBE_DETACHED);
}

/* Attaches the programs of one object that are not yet; what cannot be attached has its reason in why. */
static int attach(struct loaded *loaded, enum hook_object which)
{
    int failed = 0;

    for (unsigned i = 0; i < hook_count; i++) {
        struct bpf_program *program;
        int err = 0;

        if (hook_table[i].object != which || hook_is_call(i) || is_attached(loaded, i) || !is_wanted(loaded, i))
            continue;
        if (loaded->ready[which] && !loaded->resting[i])
            continue; /* could not be at the start */
        program = bpf_object__find_program_by_name(loaded->object[which], hook_table[i].program);
        if (!bpf_program__autoload(program))
            continue;
        if (hook_table[i].each_cpu) {
            err = attach_to_cpus(loaded, program);
        } else {
            loaded->links[i] = bpf_program__attach(program);
            err = loaded->links[i] ? 0 : -errno;
        }
        if (err) {
            failed = err;
            if (which == HOOK_AIO)
                snprintf(loaded->why[i], sizeof(loaded->why[i]),
                         "no kprobes here: the time of a request lasts until its completion is fetched");
            else
                hook_explain(err, loaded->why[i], sizeof(loaded->why[i]));
            if (hook_table[i].each_cpu && (err == -EACCES || err == -EPERM) && geteuid())
                snprintf(loaded->why[i], sizeof(loaded->why[i]),
                         "not permitted: run as root; the capability PERFMON is enough only where "
                         "kernel.perf_event_paranoid is below 3, which is what Debian sets");
            continue;
        }
        loaded->programs[i] = bpf_program__fd(program);
        loaded->resting[i] = false;
    }
    loaded->ready[which] = true;
    return failed;
}

/* Leaves out the programs whose tracepoint this kernel does not have. */
static bool leave_out_missing(struct loaded *loaded, enum hook_object which)
{
    bool missing = false;

    for (unsigned i = 0; i < hook_count; i++) {
        const char *tracepoint = strchr(hook_table[i].name, '/');

        if (hook_table[i].object != which || hook_table[i].each_cpu || !tracepoint ||
            hook_module_arguments(hook_table[i].module, tracepoint + 1) > 0)
            continue;
        bpf_program__set_autoload(
            bpf_object__find_program_by_name(loaded->object[which], hook_table[i].program), false);
        snprintf(loaded->why[i], sizeof(loaded->why[i]), "this kernel has no tracepoint %s%s%s%s", tracepoint + 1,
                 hook_table[i].module ? ", nor has its module " : "", hook_table[i].module ? hook_table[i].module : "",
                 hook_table[i].module ? ", if it is loaded" : "");
        missing = true;
    }
    return missing;
}

static void explain_all(struct loaded *loaded, enum hook_object which, const char *why)
{
    for (unsigned i = 0; i < hook_count; i++)
        if (hook_table[i].object == which && !*loaded->why[i])
            snprintf(loaded->why[i], sizeof(loaded->why[i]), "%s", why);
}

static int open_more(struct loaded *loaded, enum hook_object which, const struct probe_options *options)
{
    int err = open_object(loaded, which, options);

    return err ? err : share_maps(loaded->object[which], loaded->object[HOOK_SYSCALL]);
}

static void finish(struct loaded *loaded, enum hook_object which, int err)
{
    char why[200];

    if (!err)
        err = bpf_object__load(loaded->object[which]);
    if (!err) {
        attach(loaded, which);
        return;
    }
    hook_explain(err, why, sizeof(why));
    explain_all(loaded, which, why);
}

/* Without the block layer, io_uring or libaio the rest goes on: the reason stands in the coverage. */
static void load_more(struct loaded *loaded, enum hook_object which, const struct probe_options *options)
{
    int err = open_more(loaded, which, options);

    if (!err && which == HOOK_URING)
        uring_choose(loaded->object[which]);
    if (!err && leave_out_missing(loaded, which) && which != HOOK_BLOCK) {
        /* They only make sense together. */
        explain_all(loaded, which, "another hook that it needs is missing in this kernel");
        return;
    }
    finish(loaded, which, err);
    if (loaded->ready[which])
        again_attach(loaded->object[which], which, loaded->again);
}

/* The functions that handle page faults, for kernels without the tracepoints in them. 0 or -errno. */
static int attach_fault_functions(struct loaded *loaded, const struct probe_options *options)
{
    int err = open_more(loaded, HOOK_FAULT_FUNCTION, options);

    if (!err)
        err = bpf_object__load(loaded->object[HOOK_FAULT_FUNCTION]);
    for (unsigned i = 0; !err && i < hook_count; i++) {
        struct bpf_program *program;

        if (hook_table[i].object != HOOK_FAULT || !hook_table[i].instead)
            continue;
        program = bpf_object__find_program_by_name(loaded->object[HOOK_FAULT_FUNCTION], hook_table[i].instead);
        loaded->links[i] = bpf_program__attach(program);
        err = loaded->links[i] ? 0 : -errno;
        loaded->programs[i] = err ? 0 : bpf_program__fd(program);
    }
    return err;
}

static void load_faults(struct loaded *loaded, const struct probe_options *options)
{
    int err = open_more(loaded, HOOK_FAULT, options), functions;

    if (!err)
        leave_out_missing(loaded, HOOK_FAULT);
    if (!err && hook_arguments("mm_filemap_fault") <= 0) {
        functions = attach_fault_functions(loaded, options);
        loaded->at_functions[HOOK_FAULT] = !functions;
        for (unsigned i = 0; functions && i < hook_count; i++)
            if (hook_table[i].object == HOOK_FAULT && (hook_table[i].instead || hook_table[i].each_cpu)) {
                bpf_link__destroy(loaded->links[i]);
                loaded->links[i] = NULL;
                loaded->programs[i] = 0;
                snprintf(loaded->why[i], sizeof(loaded->why[i]),
                         "this kernel has no tracepoints in page faults (Linux 6.12 has), and does not let programs "
                         "watch its functions: %s", strerror(-functions));
                bpf_program__set_autoload(
                    bpf_object__find_program_by_name(loaded->object[HOOK_FAULT], hook_table[i].program), false);
            }
    }
    finish(loaded, HOOK_FAULT, err);
}

/* A program that runs once for each open file, when its iterator is read. 0 or -errno. */
static int run_iterator(const struct bpf_link *link)
{
    char nothing[64];
    ssize_t got;
    int fd = bpf_iter_create(bpf_link__fd(link)), err;

    if (fd < 0)
        return -errno;
    do
        got = read(fd, nothing, sizeof(nothing));
    while (got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN)));
    err = got < 0 ? -errno : 0;
    close(fd);
    return err;
}

/* When everything else is attached: what has been seen by then is not overwritten. */
static void seed(struct loaded *loaded, const struct probe_options *options)
{
    finish(loaded, HOOK_SEED, open_more(loaded, HOOK_SEED, options));
    for (unsigned i = 0; i < hook_count; i++) {
        int err;

        if (hook_table[i].object != HOOK_SEED || !loaded->links[i])
            continue;
        err = run_iterator(loaded->links[i]);
        bpf_link__destroy(loaded->links[i]);
        loaded->links[i] = NULL;
        if (!err)
            continue;
        loaded->programs[i] = 0;
        hook_explain(err, loaded->why[i], sizeof(loaded->why[i]));
    }
}

/* Kernels before 5.11 count maps against the limit of locked memory. */
static void lift_memory_limit(struct rlimit *before)
{
    const struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};

    getrlimit(RLIMIT_MEMLOCK, before);
    setrlimit(RLIMIT_MEMLOCK, &unlimited);
}

/* The programs' global variable, as they see it from now on. */
static int map_control(struct loaded *loaded, const struct budget *budget)
{
    struct abi_control *control = mmap(NULL, sizeof(*control), PROT_READ | PROT_WRITE, MAP_SHARED,
                                       load_map(loaded, CONTROL), 0);

    if (control == MAP_FAILED)
        return -errno;
    control->states_max = budget->states_max;
    loaded->control = control;
    return 0;
}

static int load_first(struct loaded *loaded, const struct probe_options *options)
{
    int err = open_object(loaded, HOOK_SYSCALL, options), cpus = libbpf_num_possible_cpus();
    struct bpf_object *object;
    struct budget budget;

    if (err)
        return err;
    object = loaded->object[HOOK_SYSCALL];
    calls_prepare(loaded->calls, object);
    budget_apply(object, options->memory ? options->memory : PROBE_MEMORY_DEFAULT,
                 cpus > 0 ? (unsigned)cpus : 1, &budget);
    err = bpf_object__load(object);
    return err ? err : map_control(loaded, &budget);
}

int load_open(const struct probe_options *options, struct loaded **out)
{
    struct loaded *loaded = calloc(1, sizeof(*loaded));
    struct rlimit before;
    int err;

    if (!loaded)
        return -ENOMEM;
    *out = loaded;
    libbpf_set_print(quiet);
    lift_memory_limit(&before);
    for (unsigned i = 0; i < way_in_count; i++)
        loaded->ways_in |= (uint32_t)ways_in[i].is_seen() << i;
    err = calls_new(options, &loaded->calls);
    if (!err)
        err = load_first(loaded, options);
    setrlimit(RLIMIT_MEMLOCK, &before); /* a recorded command shall have the limit it would have had */
    return err;
}

/* The first object once more, for the programs of another flavour. */
static int reload(void *context, enum flavour flavour, struct bpf_object **out)
{
    struct loaded *loaded = context, again = {0};
    struct bpf_program *program;
    struct rlimit before;
    int err = open_object(&again, HOOK_SYSCALL, &loaded->options);

    if (err)
        return err;
    bpf_object__for_each_program(program, again.object[HOOK_SYSCALL])
        bpf_program__set_autoload(program, false);
    attach_prepare(again.object[HOOK_SYSCALL], flavour);
    lift_memory_limit(&before);
    err = share_maps(again.object[HOOK_SYSCALL], loaded->object[HOOK_SYSCALL]);
    if (!err)
        err = bpf_object__load(again.object[HOOK_SYSCALL]);
    setrlimit(RLIMIT_MEMLOCK, &before);
    if (err)
        bpf_object__close(again.object[HOOK_SYSCALL]);
    else
        *out = again.object[HOOK_SYSCALL];
    return err;
}

int load_attach(struct loaded *loaded, const struct probe_options *options)
{
    struct rlimit before;
    int err;

    loaded->options = *options;
    lift_memory_limit(&before);
    load_faults(loaded, options); /* before the first read, so that none passes with its misses unseen */
    err = calls_attach(loaded->calls, loaded->object[HOOK_SYSCALL], reload, loaded);
    if (!err)
        err = attach(loaded, HOOK_SYSCALL);
    if (!err) {
        load_more(loaded, HOOK_BLOCK, options);
        load_more(loaded, HOOK_URING, options);
        load_more(loaded, HOOK_AIO, options);
        load_more(loaded, HOOK_FUSE, options);
        load_more(loaded, HOOK_JOB, options);
        seed(loaded, options);
    }
    setrlimit(RLIMIT_MEMLOCK, &before);
    return err;
}

static void detach(struct loaded *loaded, unsigned hook)
{
    bpf_link__destroy(loaded->links[hook]);
    loaded->links[hook] = NULL;
    if (!hook_table[hook].each_cpu)
        return;
    for (int i = 0; i < loaded->cpu_count; i++)
        bpf_link__destroy(loaded->cpu_links[i]);
    free(loaded->cpu_links);
    loaded->cpu_links = NULL;
    loaded->cpu_count = 0;
}

static void rest(struct loaded *loaded, unsigned hook)
{
    loaded->resting[hook] = true;
    snprintf(loaded->why[hook], sizeof(loaded->why[hook]), "%s", PROBE_TOO_DEAR);
}

/* The hooks of calls, whatever their flavour: both or none. */
static int step_calls(struct loaded *loaded)
{
    bool wanted = is_wanted(loaded, HOOK_CALL_ENTRY);
    int err = 0;

    if (wanted != loaded->resting[HOOK_CALL_ENTRY])
        return 0;
    if (wanted) {
        err = calls_resume(loaded->calls);
    } else {
        calls_detach(loaded->calls);
        rest(loaded, HOOK_CALL_ENTRY);
        rest(loaded, HOOK_CALL_EXIT);
    }
    if (wanted && !err)
        loaded->resting[HOOK_CALL_ENTRY] = loaded->resting[HOOK_CALL_EXIT] = false;
    return err;
}

int load_step(struct loaded *loaded, enum probe_step step)
{
    int err;

    loaded->step = step;
    err = step_calls(loaded);
    for (unsigned i = 0; i < hook_count; i++)
        if (is_attached(loaded, i) && !is_wanted(loaded, i)) {
            detach(loaded, i);
            rest(loaded, i);
        }
    for (enum hook_object which = 0; !err && which < HOOK_OBJECTS; which++)
        if (loaded->ready[which])
            err = attach(loaded, which);
    for (enum hook_object which = 0; which < HOOK_OBJECTS; which++)
        if (!is_object_wanted(loaded, which))
            again_detach(which, loaded->again);
        else if (loaded->ready[which])
            again_attach(loaded->object[which], which, loaded->again);
    return err;
}

void load_close(struct loaded *loaded)
{
    if (!loaded)
        return;
    for (enum hook_object which = 0; which < HOOK_OBJECTS; which++)
        again_detach(which, loaded->again);
    for (unsigned i = 0; i < hook_count; i++)
        detach(loaded, i);
    if (loaded->control)
        munmap((void *)loaded->control, sizeof(*loaded->control));
    calls_free(loaded->calls);
    for (unsigned i = HOOK_OBJECTS; i-- > 0;)
        bpf_object__close(loaded->object[i]);
    free(loaded);
}

const struct bpf_object *load_object(const struct loaded *loaded)
{
    return loaded->object[HOOK_SYSCALL];
}

int load_map(const struct loaded *loaded, const char *name)
{
    return bpf_object__find_map_fd_by_name(loaded->object[HOOK_SYSCALL], name);
}

volatile struct abi_control *load_control(const struct loaded *loaded)
{
    return loaded->control;
}

struct calls *load_calls(const struct loaded *loaded)
{
    return loaded->calls;
}

static enum flavour flavour_at(const struct loaded *loaded, unsigned hook)
{
    return hook_is_call(hook) && loaded->calls ? calls_flavour(loaded->calls) : FLAVOUR_AUTO;
}

const char *load_name(const struct loaded *loaded, unsigned hook)
{
    const struct hook_info *info = &hook_table[hook];
    enum flavour flavour = flavour_at(loaded, hook);

    if (flavour != FLAVOUR_AUTO)
        return flavour_hook(flavour, hook == HOOK_CALL_EXIT);
    return loaded->at_functions[info->object] && info->instead ? info->instead_name : info->name;
}

bool load_attached(const struct loaded *loaded, unsigned hook)
{
    return (loaded->programs[hook] || flavour_at(loaded, hook) != FLAVOUR_AUTO) && !loaded->resting[hook];
}

const char *load_why(const struct loaded *loaded, unsigned hook)
{
    return loaded->why[hook];
}

/* Whether a call has a hook, through whichever flavour. */
static bool is_watched(const struct loaded *loaded, const char *call)
{
    const struct syscall_call *table;
    unsigned count = syscall_calls(&table);

    for (unsigned i = 0; i < count; i++)
        if (strcmp(table[i].name, call) == 0)
            return calls_flavour_of(loaded->calls, i) != FLAVOUR_AUTO;
    return false;
}

const char *load_blind(const struct loaded *loaded, unsigned way_in)
{
    enum flavour flavour = calls_flavour(loaded->calls);

    if (!(loaded->ways_in >> way_in & 1))
        return ways_in[way_in].why;
    if (way_in == WAY_IN_COMPAT && flavour != FLAVOUR_TP_BTF && flavour != FLAVOUR_KPROBE)
        return "only tp_btf and kprobe see calls of 32-bit programs";
    if (way_in == WAY_IN_AIO && !is_watched(loaded, "io_submit"))
        return "io_submit() has no hook of the flavours that were asked for";
    return loaded->step == PROBE_DETACHED ? PROBE_TOO_DEAR : NULL;
}

static bool program_info(const struct loaded *loaded, unsigned hook, struct bpf_prog_info *info)
{
    uint32_t size = sizeof(*info);

    memset(info, 0, sizeof(*info));
    return loaded->programs[hook] && !bpf_obj_get_info_by_fd(loaded->programs[hook], info, &size);
}

uint64_t load_missed(const struct loaded *loaded)
{
    struct bpf_prog_info info;
    uint64_t missed = calls_account(loaded->calls).missed;

    for (unsigned i = 0; i < hook_count; i++)
        if (hook_table[i].object != HOOK_JOB && /* those miss no operation */
            program_info(loaded, i, &info) && !again_covers(loaded->object[hook_table[i].object], i))
            missed += info.recursion_misses;
    return missed;
}

uint64_t load_run_ns(const struct loaded *loaded)
{
    struct bpf_prog_info info;
    uint64_t run_ns = calls_account(loaded->calls).run_ns;

    for (unsigned i = 0; i < hook_count; i++)
        if (program_info(loaded, i, &info))
            run_ns += info.run_time_ns;
    for (enum hook_object which = 0; which < HOOK_OBJECTS; which++)
        if (loaded->ready[which])
            run_ns += again_run_ns(loaded->object[which], which);
    return run_ns;
}
