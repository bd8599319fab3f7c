/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/kernel/check_probe.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <string.h>

#include "lib/cleanup.h"
#include "probe/calls.h"
#include "probe/hook.h"
#include "probe/load.h"
#include "tests/kernel/memory.h"

#define VERIFIER_HALF 500000
#define SELFTEST_LEAST 50 /* calls counted exactly */
#define MISSING_MOST   10 /* calls that a single flavour may lack */

void check_room(struct trial *trial)
{
    uint32_t id = 0;

    while (bpf_prog_get_next_id(id, &id) == 0) {
        _cleanup_close_ int fd = bpf_prog_get_fd_by_id(id);
        struct bpf_prog_info info = {0};
        uint32_t size = sizeof(info);
        char what[64], steps[32];

        if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size) || strncmp(info.name, "on_", 3) != 0)
            continue;
        snprintf(what, sizeof(what), "verifier of %s", info.name);
        snprintf(steps, sizeof(steps), "%u steps", info.verified_insns);
        judge(trial, info.verified_insns < VERIFIER_HALF, what, steps);
    }
}

void check_memory(struct trial *trial, uint64_t limit)
{
    uint64_t bytes = kernel_memory();
    char said[100];

    snprintf(said, sizeof(said), "%d processors: %lu KiB", libbpf_num_possible_cpus(),
             (unsigned long)(bytes >> 10));
    judge(trial, bytes && bytes < limit, "memory of the kernel", said);
}

void check_self_test(struct trial *trial, bool single)
{
    struct calls *watched = load_calls(probe_loaded(trial->probe));
    struct hook rows[SYSCALL_CALLS_MAX];
    unsigned count = calls_exceptions(watched, rows), missing = 0, exact = 0;
    const struct syscall_call *table;

    for (unsigned i = 0; i < syscall_calls(&table); i++)
        exact += calls_outcome(watched, i).result == SELFTEST_EXACT;
    for (unsigned k = 0; k < count; k++) {
        printf("       %s %s: %s\n", rows[k].name, rows[k].attached ? "instead" : "unavailable", rows[k].why);
        missing += !rows[k].attached;
        for (unsigned i = 0; i < syscall_calls(&table) && !rows[k].attached; i++)
            if (strcmp(strchr(rows[k].name, '/') + 1, table[i].name) == 0)
                trial->missing[i] = true;
    }
    judge(trial, calls_tested(watched) && exact > SELFTEST_LEAST, "self-test", calls_why(watched));
    judge(trial, missing <= (single ? MISSING_MOST : 0), "every call has a hook", "");
}

static bool attached(const struct batch *batch, const char *part)
{
    for (uint32_t i = 0; i < batch->coverage.hook_count; i++)
        if (strstr(batch->coverage.hooks[i].name, part))
            return batch->coverage.hooks[i].attached;
    return false;
}

int look_at_hooks(struct trial *trial)
{
    _cleanup_(batch_freep) struct batch *batch = NULL;
    int err = drain(trial, &batch);

    if (err)
        return err;
    trial->faults = attached(batch, "mmap_fault");
    trial->kinds = attached(batch, "page_fault_user") || attached(batch, "fentry/filemap_fault");
    printf("page faults: %s, their kind: %s\n", trial->faults ? "seen" : "not seen",
           trial->kinds ? "seen" : "not seen");
    judge(trial, attached(batch, "tcp_rcv_space_adjust"), "what is received from the network is seen", "");
    for (uint32_t i = 0; i < batch->coverage.hook_count; i++)
        if (!batch->coverage.hooks[i].attached)
            printf("without %s: %s\n", batch->coverage.hooks[i].name, batch->coverage.hooks[i].why);
    return 0;
}
