/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/load.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/log.h"
#include "probe/attach.h"
#include "probe/budget.h"
#include "probe/direct.h"
#include "probe/loaded.h"
#include "probe/trees.h"
#include "probe/uring.h"

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

static int open_more(struct loaded *loaded, enum hook_object which, const struct probe_options *options)
{
    int err = load_open_object(loaded, which, options);

    return err ? err : load_share_maps(loaded->object[which], loaded->object[HOOK_SYSCALL]);
}

static void finish(struct loaded *loaded, enum hook_object which, int err)
{
    char why[200];

    if (!err)
        err = bpf_object__load(loaded->object[which]);
    if (!err) {
        load_hooks(loaded, which);
        return;
    }
    hook_explain(err, why, sizeof(why));
    load_explain_all(loaded, which, why);
}

static void load_typed(struct loaded *loaded, enum hook_object which, const struct probe_options *options)
{
    int err = open_more(loaded, which, options);

    if (!err && which == HOOK_URING)
        uring_choose(loaded->object[which]);
    if (!err && load_leave_out_missing(loaded, which) && which != HOOK_BLOCK) {
        /* They only make sense together. */
        load_explain_all(loaded, which, "another hook that it needs is missing in this kernel");
        return;
    }
    finish(loaded, which, err);
}

/* Without the block layer, io_uring or libaio the rest goes on: the reason stands in the coverage. */
void load_more(struct loaded *loaded, enum hook_object which, const struct probe_options *options)
{
    _cleanup_close_ int types = -1;
    char path[40];

    if (load_awaits_module(loaded, which))
        return;
    types = load_types(which);
    if (types < 0 && types != -ENOENT) {
        finish(loaded, which, types);
        return;
    }
    snprintf(path, sizeof(path), "/proc/self/fd/%d", types);
    loaded->types = types < 0 ? NULL : path;
    load_typed(loaded, which, options);
    loaded->types = NULL;
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
        load_leave_out_missing(loaded, HOOK_FAULT);
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
    direct_map_find(loaded->object[HOOK_SYSCALL]);
    return 0;
}

static int load_first(struct loaded *loaded, const struct probe_options *options)
{
    int err = load_open_object(loaded, HOOK_SYSCALL, options), cpus = libbpf_num_possible_cpus();
    uint64_t memory = options->memory ? options->memory : PROBE_MEMORY_DEFAULT;
    struct bpf_object *object;
    struct budget budget;

    if (err)
        return err;
    object = loaded->object[HOOK_SYSCALL];
    calls_prepare(loaded->calls, object);
    if (options->tree_depth)
        trees_prepare(object, memory, cpus > 0 ? (unsigned)cpus : 1);
    budget_apply(object, memory, cpus > 0 ? (unsigned)cpus : 1, &budget);
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
    int err = load_open_object(&again, HOOK_SYSCALL, &loaded->options);

    if (err)
        return err;
    bpf_object__for_each_program(program, again.object[HOOK_SYSCALL])
        bpf_program__set_autoload(program, false);
    attach_prepare(again.object[HOOK_SYSCALL], flavour);
    lift_memory_limit(&before);
    err = load_share_maps(again.object[HOOK_SYSCALL], loaded->object[HOOK_SYSCALL]);
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
        err = load_hooks(loaded, HOOK_SYSCALL);
    if (!err) {
        load_more(loaded, HOOK_BLOCK, options);
        load_more(loaded, HOOK_URING, options);
        load_more(loaded, HOOK_AIO, options);
        load_more(loaded, HOOK_FUSE, options);
        load_more(loaded, HOOK_NFS, options);
        load_more(loaded, HOOK_NFSD, options);
        load_more(loaded, HOOK_JOB, options);
        load_more(loaded, HOOK_RECEIVE, options);
        seed(loaded, options);
    }
    setrlimit(RLIMIT_MEMLOCK, &before);
    return err;
}

void load_close(struct loaded *loaded)
{
    if (!loaded)
        return;
    for (enum hook_object which = 0; which < HOOK_OBJECTS; which++)
        again_detach(which, loaded->again);
    for (unsigned i = 0; i < hook_count; i++)
        load_unhook(loaded, i);
    if (loaded->control)
        munmap((void *)loaded->control, sizeof(*loaded->control));
    calls_free(loaded->calls);
    for (unsigned i = HOOK_OBJECTS; i-- > 0;)
        bpf_object__close(loaded->object[i]);
    free(loaded);
}

