/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "probe/attach.h"
#include "probe/budget.h"
#include "probe/objects.h"
#include "probe/probe.h"

#define MIB (UINT64_C(1) << 20)

static struct bpf_object *split(uint64_t memory, unsigned cpus, struct budget *budget)
{
    struct bpf_object *object =
        bpf_object__open_mem(object_syscall, (size_t)(object_syscall_end - object_syscall), NULL);

    assert_non_null(object);
    budget_apply(object, memory, cpus, budget);
    return object;
}

static uint32_t entries(const struct bpf_object *object, const char *map)
{
    return bpf_map__max_entries(bpf_object__find_map_by_name(object, map));
}

static void what_was_asked_for_holds(void **state)
{
    const uint64_t sizes[] = {16 * MIB, 64 * MIB, 100 * MIB, 1024 * MIB};
    const unsigned cpus[] = {1, 2, 16, 192, 1024};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
        for (size_t k = 0; k < sizeof(cpus) / sizeof(*cpus); k++) {
            struct budget budget;
            struct bpf_object *object = split(sizes[i], cpus[k], &budget);

            if (sizes[i] >= 64 * MIB || cpus[k] <= 192)
                assert_true(budget.bytes <= sizes[i]);
            if (sizes[i] >= 64 * MIB)
                assert_true(budget.bytes > sizes[i] - sizes[i] / 50); /* and is not wasted */
            bpf_object__close(object);
        }
}

/* Reading and writing files on two volumes is four series each: open, read, write, close. */
static void ten_thousand_processes_fit_on_192_cpus(void **state)
{
    struct budget few, many;
    struct bpf_object *small = split(PROBE_MEMORY_DEFAULT, 2, &few);
    struct bpf_object *large = split(PROBE_MEMORY_DEFAULT, 192, &many);

    assert_true(many.processes >= 10000 && entries(large, "threads") >= 10000);
    assert_true(many.states_max >= 10000);
    assert_true(entries(large, "rows") >= 2 * 4 * 10000);
    assert_true(entries(large, "pages") >= 2 * 10 * 10000);
    /* Processors cost little. */
    assert_true(many.processes > few.processes - few.processes / 10);
    bpf_object__close(small);
    bpf_object__close(large);
}

static void little_memory_leaves_something(void **state)
{
    struct budget budget;
    struct bpf_object *object = split(1, 192, &budget);

    assert_true(budget.processes > 0 && entries(object, "rows") > 1 && entries(object, "shared") >= 96);
    assert_int_equal(budget.states_max, BUDGET_STATES_MIN);
    bpf_object__close(object);
}

/* What the kernel says that a map takes; 0 when it does not say. */
static uint64_t memory_of(const struct bpf_map *map)
{
    char path[64], line[128];
    _cleanup_fclose_ FILE *file = NULL;
    unsigned long long bytes = 0;

    snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", bpf_map__fd(map));
    file = fopen(path, "re");
    while (file && fgets(line, sizeof(line), file))
        if (sscanf(line, "memlock: %llu", &bytes) == 1)
            break;
    return bytes;
}

/* As root only: others cannot load anything. */
static void the_kernel_takes_what_was_computed(void **state)
{
    int cpus = libbpf_num_possible_cpus();
    struct budget budget;
    struct bpf_object *object = split(8 * MIB, (unsigned)cpus, &budget);
    const struct bpf_map *map;

    attach_prepare(object, FLAVOUR_TP_BTF);
    if (geteuid() != 0 || bpf_object__load(object)) {
        bpf_object__close(object);
        skip();
    }
    bpf_object__for_each_map(map, object)
    {
        uint64_t said = memory_of(map), computed = budget_map_bytes(map, (unsigned)cpus);

        if (said > computed)
            fail_msg("%s: %lu bytes, computed %lu", bpf_map__name(map), (unsigned long)said,
                     (unsigned long)computed);
    }
    bpf_object__close(object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_asked_for_holds),
        cmocka_unit_test(ten_thousand_processes_fit_on_192_cpus),
        cmocka_unit_test(little_memory_leaves_something),
        cmocka_unit_test(the_kernel_takes_what_was_computed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
