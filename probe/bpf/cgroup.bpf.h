/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cgroup that says most about a task: the deepest one, in whichever hierarchy. Where version 1 is in use the
 * unified hierarchy's may be its root, and is then no answer; where only version 2 is, nothing is deeper than it.
 */
#ifndef UNBLEND_PROBE_CGROUP_H
#define UNBLEND_PROBE_CGROUP_H

#include "probe/bpf/maps.bpf.h"

#include <bpf/bpf_core_read.h>

#define CONTROLLERS_MAX 16

static __always_inline __u64 cgroup_key(struct cgroup *cgroup)
{
    return ABI_CGROUP(BPF_CORE_READ(cgroup, root, hierarchy_id), BPF_CORE_READ(cgroup, kn, id));
}

/* Of the task whose set of cgroups has that address. Global, so that the verifier looks at it once. */
__noinline __u64 deepest_cgroup(__u64 address)
{
    struct css_set *set = (struct css_set *)address;
    struct cgroup *deepest = BPF_CORE_READ(set, dfl_cgrp);
    __u32 count = bpf_core_field_size(set->subsys) / sizeof(void *);
    int level = BPF_CORE_READ(deepest, level);

    for (__u32 i = 0; i < CONTROLLERS_MAX; i++) {
        struct cgroup_subsys_state *state = NULL;
        struct cgroup *cgroup;
        int depth;

        if (i >= count)
            break;
        bpf_probe_read_kernel(&state, sizeof(state), (void *)set + bpf_core_field_offset(set->subsys) + i * sizeof(void *));
        cgroup = BPF_CORE_READ(state, cgroup);
        depth = BPF_CORE_READ(cgroup, level);
        if (depth > level) {
            level = depth;
            deepest = cgroup;
        }
    }
    return cgroup_key(deepest);
}

static __always_inline __u64 cgroup_of(struct task_struct *task)
{
    return deepest_cgroup((__u64)BPF_CORE_READ(task, cgroups));
}

#endif
