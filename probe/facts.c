/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/facts.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/log.h"
#include "probe/bpf/abi.h"
#include "probe/hook.h"
#include "probe/kernelfs.h"
#include "probe/objects.h"
#include "probe/syscall_table.h"

/* "none voluntary (full) lazy": the one in parentheses. */
static enum preemption read_preemption(void)
{
    _cleanup_close_ int root = kernelfs_open("debugfs", "/sys/kernel/debug");
    char text[80];

    if (root < 0 || kernelfs_read(root, "sched/preempt", text, sizeof(text)))
        return PREEMPTION_UNKNOWN;
    if (strstr(text, "(none)") || strstr(text, "(voluntary)"))
        return PREEMPTION_NONE;
    return PREEMPTION_ALWAYS;
}

/* A program runs under rcu_read_lock(), which keeps the processor unless the kernel was built to preempt readers. */
static enum preemption preemption(void)
{
    if (!hook_member("task_struct", "rcu_read_lock_nesting"))
        return PREEMPTION_NONE;
    /* Only a kernel that decides at boot has the file; another one that can, always does. */
    return hook_function("sched_dynamic_update") || hook_function("sched_dynamic_show")
               ? read_preemption()
               : PREEMPTION_ALWAYS;
}

static void find_tracefs(struct flavour_facts *facts)
{
    _cleanup_close_ int root = kernelfs_open("tracefs", "/sys/kernel/tracing");
    char text[32];
    int err = root < 0 ? root : kernelfs_read(root, "events/syscalls/sys_enter_read/id", text, sizeof(text));

    facts->tracefs = !err;
    if (err == -ENOENT || err == -ENODEV)
        snprintf(facts->tracefs_why, sizeof(facts->tracefs_why),
                 "the kernel has no tracepoints of single system calls (CONFIG_FTRACE_SYSCALLS)");
    else if (err)
        snprintf(facts->tracefs_why, sizeof(facts->tracefs_why),
                 "tracefs cannot be read: %s (root, or CAP_SYS_ADMIN, can)", strerror(-err));
}

static int sum(int map, uint32_t key, uint64_t *total)
{
    int cpus = libbpf_num_possible_cpus();
    _cleanup_free_ uint64_t *values = cpus > 0 ? calloc((size_t)cpus, sizeof(*values)) : NULL;

    *total = 0;
    if (!values || bpf_map_lookup_elem(map, &key, values))
        return -ENOMEM;
    for (int i = 0; i < cpus; i++)
        *total += values[i];
    return 0;
}

static void choose_counted(struct bpf_object *object)
{
    const struct syscall_call *calls;
    unsigned count = syscall_calls(&calls);
    size_t size;
    uint8_t *counted =
        (uint8_t *)bpf_map__initial_value(bpf_object__find_map_by_name(object, ".rodata.counted"), &size);

    for (unsigned i = 0; counted && i < count; i++)
        if (calls[i].number < size)
            counted[calls[i].number] = 1;
}

static int measure_mix(struct bpf_object *object, struct flavour_facts *facts)
{
    struct bpf_link *link;
    int map, err;

    choose_counted(object);
    if (bpf_object__load(object))
        return -errno;
    link = bpf_program__attach(bpf_object__find_program_by_name(object, "on_any_call"));
    if (!link)
        return -errno;
    map = bpf_object__find_map_fd_by_name(object, "mix");
    usleep(FACTS_WINDOW_MS * 1000);
    err = sum(map, 0, &facts->others);
    if (!err)
        err = sum(map, 1, &facts->counted);
    bpf_link__destroy(link);
    if (!err)
        facts->window_ms = FACTS_WINDOW_MS;
    return err;
}

void facts_gather(bool measure, struct flavour_facts *facts)
{
    LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = "unblend_mix");
    struct bpf_object *object;

    *facts = (struct flavour_facts){
        .faultable = hook_skips(),
        .functions = hook_function(syscall_function("read")),
        .preemption = preemption(),
    };
    find_tracefs(facts);
    if (!measure)
        return;
    object = bpf_object__open_mem(object_mix, (size_t)(object_mix_end - object_mix), &options);
    if (object && measure_mix(object, facts))
        log_debug("the mix of system calls could not be measured");
    bpf_object__close(object);
}
