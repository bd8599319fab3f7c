/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much is watched, and what coverage says of the rest. */
#include "probe/probe_parts.h"

#include <errno.h>

#include "lib/clock.h"
#include "probe/bpf/configabi.h"
#include "probe/bypass.h"
#include "probe/calls.h"
#include "probe/hook.h"

uint64_t probe_missed(const struct probe *probe)
{
    uint64_t missed = load_missed(probe->loaded), recovered;

    /* Read after those that were missed; what is recovered was missed before. */
    recovered = probe->tables.counters[ABI_COUNTER_RECOVERED];
    return missed > recovered ? missed - recovered : 0;
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

int probe_cover(struct probe *probe, struct batch *batch)
{
    struct hook hooks[64 + SYSCALL_CALLS_MAX];
    struct calls *calls = load_calls(probe->loaded);
    uint64_t missed = probe_missed(probe);
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

static void set_grain(struct probe *probe)
{
    drain_set_grain(probe->drain, probe->step < PROBE_JOB_KEYS ? probe->grain : GRAIN_JOBS,
                     load_control(probe->loaded)->since_ns);
}

/* Operations are not watched from now on, or all are again (0). The threads are told, as what they look at costs less. */
static void shed(struct probe *probe, uint32_t operations)
{
    const struct table *threads = &probe->tables.table[ABI_TABLE_THREADS];

    load_control(probe->loaded)->shed = operations;
    for (uint32_t i = 1; i < threads->entries; i++)
        thread_at(&probe->tables, i)->shedding = operations != 0;
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
    shed(probe, step >= PROBE_METADATA_ONLY ? data : 0);
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
