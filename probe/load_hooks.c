/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/loaded.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

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

static bool is_remote(enum hook_object object)
{
    return object == HOOK_FUSE || object == HOOK_NFS || object == HOOK_NFSD;
}

/* Whether the present step leaves an object's hooks attached. Who belongs to whom must be known after a pause, too. */
static bool is_object_wanted(const struct loaded *loaded, enum hook_object object)
{
    if (loaded->step == PROBE_DETACHED)
        return object == HOOK_SYSCALL || object == HOOK_JOB;
    return loaded->step < PROBE_METADATA_ONLY ||
           (object != HOOK_BLOCK && object != HOOK_FAULT && object != HOOK_RECEIVE && !is_remote(object));
}

static bool is_wanted(const struct loaded *loaded, unsigned hook)
{
    return is_object_wanted(loaded, hook_table[hook].object) && !(hook_is_call(hook) && loaded->step == PROBE_DETACHED);
}

/* Attaches the programs of one object that are not yet; what cannot be attached has its reason in why. */
int load_hooks(struct loaded *loaded, enum hook_object which)
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
    if (is_object_wanted(loaded, which))
        again_attach(loaded->object[which], which, loaded->again);
    return failed;
}

/* Leaves out the programs whose tracepoint this kernel does not have. */
bool load_leave_out_missing(struct loaded *loaded, enum hook_object which)
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

void load_explain_all(struct loaded *loaded, enum hook_object which, const char *why)
{
    for (unsigned i = 0; i < hook_count; i++)
        if (hook_table[i].object == which && !*loaded->why[i])
            snprintf(loaded->why[i], sizeof(loaded->why[i]), "%s", why);
}

void load_unhook(struct loaded *loaded, unsigned hook)
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
            load_unhook(loaded, i);
            rest(loaded, i);
        }
    for (enum hook_object which = 0; !err && which < HOOK_OBJECTS; which++)
        if (loaded->ready[which])
            err = load_hooks(loaded, which);
    for (enum hook_object which = 0; which < HOOK_OBJECTS; which++)
        if (!is_object_wanted(loaded, which))
            again_detach(which, loaded->again);
    return err;
}
