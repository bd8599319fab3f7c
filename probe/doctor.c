/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/doctor.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "probe/calls.h"
#include "probe/hook.h"
#include "probe/load.h"
#include "probe/probe.h"
#include "probe/rights.h"

static void add_check(struct probe_diagnosis *diagnosis, const char *hook, const char *purpose,
                      bool available, const char *why)
{
    struct probe_check *check = &diagnosis->checks[diagnosis->check_count];

    if (diagnosis->check_count == PROBE_CHECKS_MAX)
        return;
    diagnosis->check_count++;
    check->purpose = purpose;
    check->available = available;
    snprintf(check->hook, sizeof(check->hook), "%s", hook);
    snprintf(check->why, sizeof(check->why), "%s", available || !why ? "" : why);
}

static void check_hooks(struct probe_diagnosis *diagnosis, const struct probe *probe, int err)
{
    const struct loaded *loaded = probe_loaded(probe);
    char failure[200];

    hook_explain(err, failure, sizeof(failure));
    for (unsigned i = 0; i < hook_count; i++) {
        bool available = !err && load_attached(loaded, i);
        const char *why = loaded ? load_why(loaded, i) : "";

        add_check(diagnosis, loaded ? load_name(loaded, i) : hook_table[i].name, hook_table[i].purpose,
                  available, *why ? why : failure);
    }
    for (unsigned i = 0; i < way_in_count; i++) {
        const char *why = err ? failure : load_blind(loaded, i);

        add_check(diagnosis, ways_in[i].name, ways_in[i].purpose, !why, why);
    }
}

static void check_calls(struct probe_diagnosis *diagnosis, const struct calls *calls)
{
    static const char *const results[] = {
        [SELFTEST_NOT_FIRED] = "not fired",
        [SELFTEST_EXACT] = "exact",
        [SELFTEST_WRONG] = "wrong",
        [SELFTEST_ABSENT] = "absent",
    };
    struct abi_syscall shapes[ABI_SYSCALLS];
    const struct syscall_call *table;
    unsigned count = syscall_calls(&table);

    syscall_table(shapes, true);
    for (unsigned i = 0; i < count; i++) {
        struct selftest_outcome outcome = calls_outcome(calls, i);
        enum flavour flavour = calls_flavour_of(calls, i);

        if (!operation_is_file(shapes[table[i].number].op) || shapes[table[i].number].shape == ABI_SHAPE_FCNTL)
            continue; /* part of an operation that several calls make up */
        diagnosis->calls[diagnosis->call_count++] = (struct probe_call){
            .name = table[i].name,
            .op = shapes[table[i].number].op,
            .flavour = flavour == FLAVOUR_AUTO ? NULL : flavour_name(flavour),
            .result = results[outcome.result],
            .fired = outcome.fired,
            .counted = outcome.counted,
        };
    }
}

static void check_flavour(struct probe_flavour *result, enum flavour flavour)
{
    const struct probe_options options = {.memory = PROBE_MEMORY_MIN, .flavours = {{flavour}}};
    struct probe *probe = NULL;
    int err = probe_try(&options, &probe);
    const struct calls *calls = probe && probe_loaded(probe) ? load_calls(probe_loaded(probe)) : NULL;

    result->name = flavour_name(flavour);
    result->available = !err;
    if (err && calls)
        calls_explain(calls, flavour, err, result->why, sizeof(result->why));
    else if (err)
        hook_explain(err, result->why, sizeof(result->why));
    for (unsigned i = 0; !err && i < SYSCALL_CALLS_MAX; i++) {
        enum selftest_result of = calls_outcome(calls, i).result;

        result->exact += of == SELFTEST_EXACT;
        result->wrong += of == SELFTEST_WRONG;
        result->absent += of == SELFTEST_ABSENT;
    }
    probe_free(probe);
}

/* Nothing needs to be tried where everything would be counted for other processes. */
static void refuse(struct probe_diagnosis *diagnosis)
{
    static const char why[] = "process ids here are not the kernel's: start the container with the host's";

    for (unsigned i = 0; i < hook_count; i++)
        add_check(diagnosis, hook_table[i].name, hook_table[i].purpose, false, why);
    for (int i = FLAVOUR_AUTO + 1; i < FLAVOURS; i++) {
        struct probe_flavour *flavour = &diagnosis->flavours[i - 1];

        flavour->name = flavour_name((enum flavour)i);
        snprintf(flavour->why, sizeof(flavour->why), "%s", why);
    }
}

int probe_doctor(struct probe_diagnosis *diagnosis)
{
    const struct probe_options options = {.memory = PROBE_MEMORY_DEFAULT, .all = true};
    struct probe *probe = NULL;
    int err;

    memset(diagnosis, 0, sizeof(*diagnosis));
    diagnosis->host_pids = rights_host_pids();
    if (!diagnosis->host_pids) {
        refuse(diagnosis);
        return 0;
    }
    for (int i = FLAVOUR_AUTO + 1; i < FLAVOURS; i++)
        check_flavour(&diagnosis->flavours[i - 1], (enum flavour)i);
    err = probe_try(&options, &probe);
    if (!probe)
        return -ENOMEM;
    check_hooks(diagnosis, probe, err);
    if (!err) {
        const struct calls *calls = load_calls(probe_loaded(probe));
        struct probe_flavour *chosen = &diagnosis->flavours[calls_flavour(calls) - 1];

        check_calls(diagnosis, calls);
        chosen->chosen = true;
        for (int i = FLAVOUR_AUTO + 1; i < FLAVOURS; i++)
            if (diagnosis->flavours[i - 1].available)
                snprintf(diagnosis->flavours[i - 1].why, sizeof(diagnosis->flavours[i - 1].why), "%s",
                         calls_plan(calls)->why[i]);
        diagnosis->works = true;
    }
    probe_free(probe);
    return 0;
}
