/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/flavour.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *entry, *exit;
} flavours[FLAVOURS] = {
    [FLAVOUR_AUTO] = {"auto", "", ""},
    [FLAVOUR_TP_BTF] = {"tp_btf", "tp_btf/sys_enter", "tp_btf/sys_exit"},
    [FLAVOUR_TRACEPOINT] = {"tracepoint", "tracepoint/syscalls/sys_enter_*",
                            "tracepoint/syscalls/sys_exit_*"},
    [FLAVOUR_FENTRY] = {"fentry", "fentry/sys_*", "fexit/sys_*"},
    [FLAVOUR_KPROBE] = {"kprobe", "kprobe.multi/sys_*", "kretprobe.multi/sys_*"},
};

/*
 * The pair on all calls costs each of them some 68 ns. Events on single calls cost the others 26 and those that
 * count 119 (bench/), so they win when more than 54 % of the calls are others; a little more is asked for, because
 * the mix of a moment is not that of a day. Below a rate at which the difference could matter the pair stays.
 */
#define OTHERS_PERCENT  60
#define CALLS_A_SECOND  20000

#define FORCE_HINT "; --flavour forces one"

const char *flavour_name(enum flavour flavour)
{
    return flavours[flavour].name;
}

static int parse_one(const char *name, size_t length, struct flavour_list *list)
{
    for (int i = FLAVOUR_AUTO + 1; i < FLAVOURS; i++) {
        int at = 0;

        if (strncmp(name, flavours[i].name, length) != 0 || flavours[i].name[length])
            continue;
        for (; list->order[at] != FLAVOUR_AUTO; at++)
            if (list->order[at] == (enum flavour)i)
                return -EINVAL;
        list->order[at] = (enum flavour)i;
        return 0;
    }
    return -EINVAL;
}

int flavour_parse(const char *names, struct flavour_list *list)
{
    struct flavour_list found = {{FLAVOUR_AUTO}};

    if (strcmp(names, flavours[FLAVOUR_AUTO].name) == 0) {
        *list = found;
        return 0;
    }
    for (;;) {
        size_t length = strcspn(names, ",");
        int err = parse_one(names, length, &found);

        if (err)
            return err;
        if (!names[length])
            break;
        names += length + 1;
    }
    *list = found;
    return 0;
}

const char *flavour_hook(enum flavour flavour, bool at_exit)
{
    return at_exit ? flavours[flavour].exit : flavours[flavour].entry;
}

static void add(struct flavour_plan *plan, enum flavour flavour, const char *why)
{
    if (*plan->why[flavour])
        return; /* placed, or left out, already */
    plan->order[plan->count++] = flavour;
    snprintf(plan->why[flavour], sizeof(plan->why[flavour]), "%s", why);
}

static void leave_out(struct flavour_plan *plan, enum flavour flavour, const char *why)
{
    snprintf(plan->why[flavour], sizeof(plan->why[flavour]), "%s", why);
}

static void leave_out_impossible(const struct flavour_facts *facts, struct flavour_plan *plan)
{
    if (!facts->tracefs)
        leave_out(plan, FLAVOUR_TRACEPOINT, facts->tracefs_why);
    if (!facts->functions) {
        leave_out(plan, FLAVOUR_FENTRY, "the kernel's types do not name the functions behind the calls");
        leave_out(plan, FLAVOUR_KPROBE, "the kernel's types do not name the functions behind the calls");
    } else if (facts->preemption == PREEMPTION_ALWAYS) {
        leave_out(plan, FLAVOUR_FENTRY, "the kernel preempts programs there, and would skip calls of others "
                                        "meanwhile (boot with preempt=none or voluntary where it can)");
    } else if (facts->preemption == PREEMPTION_UNKNOWN) {
        leave_out(plan, FLAVOUR_FENTRY, "the kernel may preempt programs there, and then skips calls of others: "
                                        "whether it does could not be read (debugfs, sched/preempt)");
    }
}

/* How the machine's calls divide, in words; whether those that do not count dominate. */
static bool others_dominate(const struct flavour_facts *facts, char *text, size_t size)
{
    uint64_t all = facts->counted + facts->others;
    unsigned percent = all ? (unsigned)(facts->others * 100 / all) : 0;

    *text = '\0';
    if (!facts->window_ms)
        return false;
    snprintf(text, size, "%u %% of %lu system calls in %lu ms do not count", percent,
             (unsigned long)all, (unsigned long)facts->window_ms);
    return percent >= OTHERS_PERCENT && all * 1000 / facts->window_ms >= CALLS_A_SECOND;
}

void flavour_decide(const struct flavour_facts *facts, const struct flavour_list *forced,
                    struct flavour_plan *plan)
{
    char mix[100], why[200];
    bool dominated = others_dominate(facts, mix, sizeof(mix));

    *plan = (struct flavour_plan){0};
    leave_out_impossible(facts, plan);
    for (int i = 0; forced->order[i] != FLAVOUR_AUTO; i++)
        add(plan, forced->order[i], "forced");
    if (forced->order[0] != FLAVOUR_AUTO)
        return;
    if (facts->faultable)
        add(plan, FLAVOUR_KPROBE, "the kernel preempts programs on tracepoints of system calls, and never "
                                  "a kprobe" FORCE_HINT);
    if (dominated && !facts->faultable) {
        snprintf(why, sizeof(why), "%s, and cost least so" FORCE_HINT, mix);
        add(plan, FLAVOUR_TRACEPOINT, why);
    }
    if (facts->faultable)
        snprintf(why, sizeof(why), "may lose calls of busy threads, which are counted as lost");
    else if (*mix)
        snprintf(why, sizeof(why), "cheapest unless most calls do not count: %s", mix);
    else
        snprintf(why, sizeof(why), "cheapest for the calls that count");
    add(plan, FLAVOUR_TP_BTF, why);
    /* From here on they are for single calls that the first one does not count exactly. */
    add(plan, FLAVOUR_FENTRY, "in reserve, call by call");
    add(plan, FLAVOUR_TRACEPOINT, facts->faultable ? "may lose calls of busy threads"
                                                   : "in reserve: dearer for the calls that count");
    add(plan, FLAVOUR_KPROBE, "in reserve: the dearest");
}
