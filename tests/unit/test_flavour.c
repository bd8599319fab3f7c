/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which flavour is chosen, given what the kernel has; and that the self-test knows every call. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "probe/compat_table.h"
#include "probe/flavour.h"
#include "probe/selftest.h"
#include "probe/syscall_table.h"

static const struct flavour_list nothing_forced = {{FLAVOUR_AUTO}};

/* A kernel that has everything and preempts nothing. */
static struct flavour_facts plain(void)
{
    return (struct flavour_facts){.preemption = PREEMPTION_NONE, .functions = true, .tracefs = true};
}

static void assert_order(const struct flavour_plan *plan, const char *names)
{
    char order[100] = "";

    for (unsigned i = 0; i < plan->count; i++) {
        strcat(order, i ? "," : "");
        strcat(order, flavour_name(plan->order[i]));
    }
    assert_string_equal(order, names);
    for (unsigned i = 0; i < plan->count; i++)
        assert_true(*plan->why[plan->order[i]]);
}

static void test_usual(void **state)
{
    struct flavour_facts facts = plain();
    struct flavour_plan plan;

    flavour_decide(&facts, &nothing_forced, &plan);
    assert_order(&plan, "tp_btf,fentry,tracepoint,kprobe");
    facts.functions = facts.tracefs = false;
    strcpy(facts.tracefs_why, "no tracefs");
    flavour_decide(&facts, &nothing_forced, &plan);
    assert_order(&plan, "tp_btf");
    for (int i = FLAVOUR_AUTO + 1; i < FLAVOURS; i++)
        assert_true(*plan.why[i]);
}

static void test_preempted_tracepoints(void **state)
{
    struct flavour_facts facts = plain();
    struct flavour_plan plan;

    facts.faultable = true;
    facts.preemption = PREEMPTION_ALWAYS;
    /* Tracepoints would be cheapest, and lose calls. */
    facts.others = 1000000;
    facts.window_ms = 100;
    flavour_decide(&facts, &nothing_forced, &plan);
    assert_order(&plan, "kprobe,tp_btf,tracepoint");
    assert_non_null(strstr(plan.why[FLAVOUR_FENTRY], "preempts"));
}

static void test_fentry_only_where_nothing_is_preempted(void **state)
{
    struct flavour_facts facts = plain();
    struct flavour_plan plan;

    facts.preemption = PREEMPTION_UNKNOWN;
    flavour_decide(&facts, &nothing_forced, &plan);
    assert_order(&plan, "tp_btf,tracepoint,kprobe");
    flavour_decide(&facts, &(struct flavour_list){{FLAVOUR_FENTRY}}, &plan);
    assert_order(&plan, "");
    assert_non_null(strstr(plan.why[FLAVOUR_FENTRY], "could not be read"));
}

static void test_mix(void **state)
{
    static const struct {
        uint64_t counted, others;
        const char *first;
    } mixes[] = {
        {50000, 50000, "tp_btf"},
        {40000, 60000, "tracepoint"},
        {41000, 59000, "tp_btf"},
        {0, 100000, "tracepoint"},
        {0, 1000, "tp_btf"}, /* too few to matter */
        {0, 0, "tp_btf"},
    };

    for (unsigned i = 0; i < sizeof(mixes) / sizeof(*mixes); i++) {
        struct flavour_facts facts = plain();
        struct flavour_plan plan;

        facts.window_ms = 100;
        facts.counted = mixes[i].counted;
        facts.others = mixes[i].others;
        flavour_decide(&facts, &nothing_forced, &plan);
        assert_string_equal(flavour_name(plan.order[0]), mixes[i].first);
        assert_int_equal(plan.count, 4);
        facts.tracefs = false;
        strcpy(facts.tracefs_why, "no tracefs");
        flavour_decide(&facts, &nothing_forced, &plan);
        assert_string_equal(flavour_name(plan.order[0]), "tp_btf");
        assert_string_equal(plan.why[FLAVOUR_TRACEPOINT], "no tracefs");
    }
}

static void test_forced(void **state)
{
    struct flavour_facts facts = plain();
    struct flavour_list list;
    struct flavour_plan plan;

    assert_int_equal(flavour_parse("fentry,tracepoint", &list), 0);
    flavour_decide(&facts, &list, &plan);
    assert_order(&plan, "fentry,tracepoint");
    facts.functions = false;
    flavour_decide(&facts, &list, &plan);
    assert_order(&plan, "tracepoint");
}

static void test_names(void **state)
{
    static const char *const wrong[] = {"", "tp", "tp_btff", "tp_btf,", ",tp_btf", "tp_btf,tp_btf", "auto,tp_btf",
                                        "tp_btf,auto", "tp_btf,fentry,tracepoint,kprobe,tp_btf"};
    struct flavour_list list;

    for (unsigned i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        assert_int_equal(flavour_parse(wrong[i], &list), -EINVAL);
    assert_int_equal(flavour_parse("auto", &list), 0);
    assert_int_equal(list.order[0], FLAVOUR_AUTO);
    assert_int_equal(flavour_parse("kprobe,fentry,tracepoint,tp_btf", &list), 0);
    assert_int_equal(list.order[3], FLAVOUR_TP_BTF);
}

/* A call that is added to the table is added to the self-test, too, unless firing it would do something. */
static void test_every_call_is_fired(void **state)
{
    const struct syscall_call *calls;
    struct abi_syscall shapes[ABI_SYSCALLS];
    unsigned count = syscall_calls(&calls);

    syscall_table(shapes, true);
    for (unsigned i = 0; i < count; i++)
        if (operation_is_file(shapes[calls[i].number].op) && shapes[calls[i].number].shape != ABI_SHAPE_FCNTL &&
            selftest_fires(calls[i].number) == (strcmp(calls[i].name, "sync") == 0))
            fail_msg("%s", calls[i].name);
}

/* fcntl is seen and not counted; what is not called the same in both worlds is in the list under its other name. */
static void test_every_call_has_its_32_bit_call(void **state)
{
    const struct syscall_call *calls;
    const char *const *functions;
    unsigned count = syscall_calls(&calls), known = compat_functions(&functions);

    for (unsigned i = 0; compat_table_known() && i < count; i++) {
        char name[64];
        unsigned at = 0;

        if (strcmp(calls[i].name, "fcntl") == 0)
            continue;
        snprintf(name, sizeof(name), "__ia32_sys_%s",
                 strcmp(calls[i].name, "newfstatat") == 0 ? "fstatat64" : calls[i].name);
        while (at < known && strcmp(functions[at], name) != 0)
            at++;
        if (at == known)
            fail_msg("%s", calls[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_usual),
        cmocka_unit_test(test_preempted_tracepoints),
        cmocka_unit_test(test_fentry_only_where_nothing_is_preempted),
        cmocka_unit_test(test_mix),
        cmocka_unit_test(test_forced),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_every_call_is_fired),
        cmocka_unit_test(test_every_call_has_its_32_bit_call),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
