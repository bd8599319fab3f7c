/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/calls.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "probe/facts.h"
#include "probe/hook.h"

struct calls {
    struct flavour_plan plan;
    bool forced;
    struct bpf_object *object[FLAVOURS]; /* [first] is not ours */
    struct attached attached[FLAVOURS];
    enum flavour chosen;
    enum flavour of[SYSCALL_CALLS_MAX];
    bool failed[FLAVOURS]; /* to be attached; the plan has the reason */
    bool tested;
    struct selftest_outcome outcomes[SYSCALL_CALLS_MAX];
    calls_reload reload;
    void *context;
    char why[900];
    struct exception {
        char name[48], why[120];
    } exceptions[SYSCALL_CALLS_MAX];
};

int calls_new(const struct probe_options *options, struct calls **out)
{
    struct calls *calls = calloc(1, sizeof(*calls));
    struct flavour_facts facts;

    if (!calls)
        return -ENOMEM;
    /* Recording a command, the machine's mix of calls says nothing about what the command will do. */
    calls->forced = options->flavours.order[0] != FLAVOUR_AUTO;
    facts_gather(options->all && !calls->forced, &facts);
    flavour_decide(&facts, &options->flavours, &calls->plan);
    *out = calls;
    return 0;
}

void calls_free(struct calls *calls)
{
    if (!calls)
        return;
    for (int i = 0; i < FLAVOURS; i++) {
        attach_close(&calls->attached[i]);
        if (i != FLAVOUR_TP_BTF || calls->plan.order[0] != FLAVOUR_TP_BTF)
            bpf_object__close(calls->object[i]);
    }
    free(calls);
}

/* The usual flavour's programs are loaded with everything else, which saves opening the object twice. */
static bool in_first(const struct calls *calls, enum flavour flavour)
{
    return flavour == FLAVOUR_TP_BTF && calls->plan.count && calls->plan.order[0] == flavour;
}

void calls_prepare(const struct calls *calls, struct bpf_object *first)
{
    attach_prepare(first, in_first(calls, FLAVOUR_TP_BTF) ? FLAVOUR_TP_BTF : FLAVOUR_AUTO);
}

static void explain(enum flavour flavour, int err, char *why, size_t size)
{
    if (flavour == FLAVOUR_KPROBE && (err == -EOPNOTSUPP || err == -EINVAL))
        snprintf(why, size, "the kernel has no kprobes on many functions at once (CONFIG_FPROBE)");
    else if (flavour == FLAVOUR_FENTRY && err != -EPERM && err != -EACCES && err != -ENOMEM)
        snprintf(why, size, "the kernel refuses programs on its functions: %s", log_errno(err));
    else
        hook_explain(err, why, size);
}

/* Attaches the wanted calls through one more flavour; why not stands in the plan. */
static int add(struct calls *calls, enum flavour flavour, const bool *wanted)
{
    int err = 0;

    if (!calls->object[flavour])
        err = calls->reload(calls->context, flavour, &calls->object[flavour]);
    if (!err)
        err = attach_calls(calls->object[flavour], flavour, wanted, &calls->attached[flavour]);
    if (err) {
        attach_close(&calls->attached[flavour]);
        explain(flavour, err, calls->plan.why[flavour], sizeof(calls->plan.why[flavour]));
        calls->failed[flavour] = true;
        return err;
    }
    for (unsigned i = 0; i < SYSCALL_CALLS_MAX; i++)
        if (wanted[i] && calls->attached[flavour].calls[i])
            calls->of[i] = flavour;
    return 0;
}

int calls_attach(struct calls *calls, struct bpf_object *first, calls_reload reload, void *context)
{
    const struct syscall_call *table;
    bool all[SYSCALL_CALLS_MAX] = {false};
    unsigned count = syscall_calls(&table);
    int err = -EOPNOTSUPP;

    calls->reload = reload;
    calls->context = context;
    if (in_first(calls, FLAVOUR_TP_BTF))
        calls->object[FLAVOUR_TP_BTF] = first;
    memset(all, true, count * sizeof(*all));
    for (unsigned i = 0; err && i < calls->plan.count; i++) {
        calls->attached[calls->plan.order[i]].compat = true;
        err = add(calls, calls->plan.order[i], all);
        if (!err)
            calls->chosen = calls->plan.order[i];
    }
    return err;
}

static unsigned pick(const struct calls *calls, enum selftest_result result, bool *set)
{
    unsigned found = 0;

    for (unsigned i = 0; i < SYSCALL_CALLS_MAX; i++) {
        set[i] = calls->outcomes[i].result == result;
        found += set[i];
    }
    return found;
}

/* The calls that are not counted exactly, or not at all; how many. */
static unsigned pick_uncounted(const struct calls *calls, bool *set)
{
    const struct syscall_call *table;
    unsigned count = syscall_calls(&table), found = pick(calls, SELFTEST_WRONG, set);

    for (unsigned i = 0; i < count; i++)
        if (!set[i] && calls->of[i] == FLAVOUR_AUTO && calls->outcomes[i].result != SELFTEST_ABSENT) {
            set[i] = true;
            found++;
        }
    return found;
}

int calls_test(struct calls *calls, const struct selftest_host *host)
{
    const struct syscall_call *table;
    bool set[SYSCALL_CALLS_MAX] = {false};
    int err;

    memset(set, true, syscall_calls(&table) * sizeof(*set));
    err = selftest_run(host, set, calls->outcomes);
    /* Once more: an event can be missed where others attach and detach programs; a hook that does not fire never does. */
    if (!err && pick(calls, SELFTEST_WRONG, set))
        err = selftest_run(host, set, calls->outcomes);
    if (err)
        return err;
    calls->tested = true;
    for (unsigned i = 0; i < calls->plan.count && pick_uncounted(calls, set); i++) {
        enum flavour flavour = calls->plan.order[i];

        if (calls->object[flavour] || add(calls, flavour, set))
            continue;
        err = selftest_run(host, set, calls->outcomes);
        if (err)
            return err;
    }
    return 0;
}

void calls_detach(struct calls *calls)
{
    for (int i = 0; i < FLAVOURS; i++)
        attach_rest(&calls->attached[i]);
}

int calls_resume(struct calls *calls)
{
    int failed = 0;

    for (int i = FLAVOUR_AUTO + 1; i < FLAVOURS; i++) {
        bool set[SYSCALL_CALLS_MAX], any = false;
        int err;

        for (unsigned k = 0; k < SYSCALL_CALLS_MAX; k++) {
            set[k] = calls->of[k] == (enum flavour)i;
            any = any || set[k];
        }
        err = any ? attach_calls(calls->object[i], (enum flavour)i, set, &calls->attached[i]) : 0;
        if (err)
            failed = err;
    }
    return failed;
}

struct attach_account calls_account(const struct calls *calls)
{
    struct attach_account total = {0};

    for (int i = 0; i < FLAVOURS; i++) {
        struct attach_account account = attach_account(&calls->attached[i]);

        total.missed += account.missed;
        total.run_ns += account.run_ns;
    }
    return total;
}

enum flavour calls_flavour(const struct calls *calls)
{
    return calls->chosen;
}

const struct flavour_plan *calls_plan(const struct calls *calls)
{
    return &calls->plan;
}

void calls_explain(const struct calls *calls, enum flavour flavour, int err, char *why, size_t size)
{
    const char *planned = calls->plan.why[flavour];
    bool tried = false;

    for (unsigned i = 0; i < calls->plan.count; i++)
        tried = tried || calls->plan.order[i] == flavour;
    /* Of one in the plan that never came to its turn the plan only says why it is there. */
    if (*planned && (!tried || calls->failed[flavour]))
        snprintf(why, size, "%s", planned);
    else
        explain(flavour, err, why, size);
}

bool calls_tested(const struct calls *calls)
{
    return calls->tested;
}

struct selftest_outcome calls_outcome(const struct calls *calls, unsigned call)
{
    return calls->outcomes[call];
}

enum flavour calls_flavour_of(const struct calls *calls, unsigned call)
{
    return calls->of[call];
}

static void say(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void say(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;

    va_start(args, format);
    vsnprintf(text + used, size - used, format, args);
    va_end(args);
}

const char *calls_why(struct calls *calls)
{
    bool set[SYSCALL_CALLS_MAX];
    size_t size = sizeof(calls->why);

    snprintf(calls->why, size, "%s", calls->plan.why[calls->chosen]);
    if (calls->tested)
        say(calls->why, size, "; self-test: %u calls exact, %u wrong, %u not in this kernel",
            pick(calls, SELFTEST_EXACT, set), pick(calls, SELFTEST_WRONG, set),
            pick(calls, SELFTEST_ABSENT, set));
    else
        say(calls->why, size, "; the self-test could not be run");
    for (int i = FLAVOUR_AUTO + 1; i < FLAVOURS && !calls->forced; i++)
        if (i != (int)calls->chosen)
            say(calls->why, size, "; %s: %s", flavour_name((enum flavour)i), calls->plan.why[i]);
    return calls->why;
}

unsigned calls_exceptions(struct calls *calls, struct hook hooks[SYSCALL_CALLS_MAX])
{
    const struct syscall_call *table;
    unsigned count = syscall_calls(&table), rows = 0;

    for (unsigned i = 0; i < count; i++) {
        const struct selftest_outcome *outcome = &calls->outcomes[i];
        struct exception *row = &calls->exceptions[rows];
        bool exact = outcome->result != SELFTEST_WRONG;

        if (!calls->tested || (exact && (calls->of[i] == calls->chosen || outcome->result == SELFTEST_ABSENT)))
            continue;
        snprintf(row->name, sizeof(row->name), "%s/%s",
                 flavour_name(calls->of[i] == FLAVOUR_AUTO ? calls->chosen : calls->of[i]), table[i].name);
        if (calls->of[i] == FLAVOUR_AUTO)
            snprintf(row->why, sizeof(row->why), "%s cannot be put on this call", flavour_name(calls->chosen));
        else if (exact)
            snprintf(row->why, sizeof(row->why), "the self-test found it not exact through %s",
                     flavour_name(calls->chosen));
        else
            snprintf(row->why, sizeof(row->why), "the self-test fired it %u times and %u were counted",
                     outcome->fired, outcome->counted);
        hooks[rows++] = (struct hook){.name = row->name, .attached = exact && calls->of[i], .why = row->why};
    }
    return rows;
}
