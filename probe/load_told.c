/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/loaded.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <string.h>

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

bool load_awaits(const struct loaded *loaded, unsigned hook)
{
    return loaded->awaits[hook_table[hook].object];
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

void load_settle(const struct loaded *loaded)
{
    const struct bpf_program *program;
    LIBBPF_OPTS(bpf_test_run_opts, run);

    if (!loaded->ready[HOOK_BLOCK] || loaded->step == PROBE_DETACHED)
        return;
    program = bpf_object__find_program_by_name(loaded->object[HOOK_BLOCK], "on_settle");
    if (bpf_program__autoload(program))
        bpf_prog_test_run_opts(bpf_program__fd(program), &run); /* else they are seen to when they are used again */
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
        if (!hook_table[i].is_aside && program_info(loaded, i, &info) &&
            !again_covers(loaded->object[hook_table[i].object], i))
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
