/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes to jobs, from made trees of /proc, cgroups and kubelet; the kernel side's part is in tests/system. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <bpf/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe/bpf/ownerabi.h"
#include "probe/finder.h"
#include "probe/procfile.h"
#include "tests/unit/tree.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define UID "2b1f5c3e-8a5d-4f0e-9d53-0d6a6ce1a111"

struct world {
    struct made_tree *tree;
    struct origin *origin;
    struct finder *finder;
    struct abi_process processes[16];
    uint32_t count;
};

static int set_up(void **state)
{
    struct world *world = calloc(1, sizeof(*world));
    struct finder_options options = {.processes = 16, .names_map = -1, .tickets_map = -1, .cgroups_map = -1,
                                     .own_job = "outer"};

    if (!world || tree_setup((void **)&world->tree) || origin_new(&world->origin))
        return -1;
    options.root = world->tree->root;
    *state = world;
    return finder_new(&options, world->origin, &world->finder);
}

static int tear_down(void **state)
{
    struct world *world = *state;
    void *tree = world->tree;

    finder_free(world->finder);
    origin_free(world->origin);
    free(world);
    return tree_teardown(&tree);
}

/* A process as /proc shows it. environment has '|' for NUL. */
static uint32_t make_process(struct world *world, uint32_t tgid, uint32_t parent, const char *command,
                             const char *environment, const char *cgroup)
{
    uint32_t index = ++world->count;
    struct abi_process *process = &world->processes[index];
    char path[64], text[1024];
    size_t length = strlen(environment);

    *process = (struct abi_process){.tgid = tgid, .parent = parent, .start_ns = tgid * 10000000ull};
    strncpy(process->comm, command, sizeof(process->comm));
    memcpy(text, environment, length + 1);
    for (char *c = text; *c; c++)
        if (*c == '|')
            *c = '\0';
    snprintf(path, sizeof(path), "/proc/%u/environ", tgid);
    tree_bytes(world->tree, path, text, length);
    snprintf(path, sizeof(path), "/proc/%u/cgroup", tgid);
    tree_file(world->tree, path, cgroup);
    snprintf(path, sizeof(path), "/proc/%u/stat", tgid);
    snprintf(text, sizeof(text), "%u (%s) S %u 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 %u 99 99\n", tgid, command,
             parent, tgid);
    tree_file(world->tree, path, text);
    return index;
}

static const struct job *job_of(struct world *world, uint32_t index)
{
    uint32_t id;

    assert_int_equal(0, finder_job(world->finder, index, &world->processes[index], &id));
    return origin_find(world->origin, id);
}

static void expect(struct world *world, uint32_t index, const char *name, const char *kind)
{
    const struct job *job = job_of(world, index);

    assert_non_null(job);
    assert_string_equal(name, job->name);
    assert_string_equal(kind, job->kind);
}

static const char *label(const struct job *job, const char *name)
{
    for (uint32_t i = 0; i < job->label_count; i++)
        if (strcmp(job->labels[i].name, name) == 0)
            return job->labels[i].value;
    return "-";
}

static void test_order(void **state)
{
    struct world *world = *state;
    const char *slurm = "3:memory:/slurm/uid_0/job_42/step_0\n0::/system.slice/slurmd.service\n";

    expect(world, make_process(world, 100, 1, "a", "A=1|UNBLEND_JOB=mine|SLURM_JOB_ID=7|", slurm), "mine", "env");
    expect(world, make_process(world, 101, 1, "a", "TRAINING_JOB_NAME=t|SLURM_JOB_ID=7|", slurm), "7", "slurm");
    expect(world, make_process(world, 102, 1, "a", "TRAINING_JOB_NAME=t|UNBLEND_JOB=|XUNBLEND_JOB=x|", slurm),
           "t", "env");
    expect(world, make_process(world, 103, 1, "a", "PATH=/bin|", slurm), "42", "slurm");
    expect(world, make_process(world, 104, 1, "a", "TORCHELASTIC_RUN_ID=r1|", slurm), "r1", "env");
    expect(world, make_process(world, 105, 1, "a", "", "0::/system.slice/x.service\n"), "x.service", "systemd");
    assert_null(job_of(world, make_process(world, 106, 1, "a", "", "0::/user.slice/user-1.slice/session-1.scope\n")));
    assert_null(job_of(world, make_process(world, 107, 1, "a", "", "")));
}

static void test_slurm_is_one_job(void **state)
{
    struct world *world = *state;
    uint32_t by_name = make_process(world, 100, 1, "a", "SLURM_JOB_ID=42|", "0::/\n");
    uint32_t by_cgroup = make_process(world, 101, 1, "b", "", "0::/system.slice/slurmstepd.scope/job_42/step_0\n");

    assert_ptr_equal(job_of(world, by_name), job_of(world, by_cgroup));
}

static void test_slurm_prolog_names_nothing(void **state)
{
    struct world *world = *state;
    uint32_t prolog = make_process(world, 100, 1, "prolog", "SLURM_JOB_ID=42|", "0::/\n");
    uint32_t rank = make_process(world, 101, 1, "rank", "SLURM_JOB_ID=42|", "0::/\n");
    const struct job *job = job_of(world, prolog);

    assert_non_null(job);
    assert_null(job->user);
    assert_string_equal("", job->command);
    world->processes[rank].uid = 4242;
    job = job_of(world, rank);
    assert_string_equal("4242", job->user);
    assert_string_equal("rank", job->command);
}

static void test_given(void **state)
{
    struct world *world = *state;
    uint32_t id, inner = make_process(world, 100, 1, "a", "UNBLEND_JOB=inner|", "0::/\n");
    uint32_t same = make_process(world, 101, 1, "a", "UNBLEND_JOB=outer|", "0::/\n");
    uint32_t slurm = make_process(world, 102, 1, "a", "SLURM_JOB_ID=3|", "0::/slurm/uid_1/job_3\n");

    assert_int_equal(0, origin_job(world->origin,
                                   &(struct job){.name = "given", .kind = "command", .command = "c"}, &id));
    world->processes[inner].job = world->processes[same].job = world->processes[slurm].job = id;
    expect(world, inner, "inner", "env");
    assert_int_equal(id, world->processes[inner].job); /* whoever gave it waits for it */
    expect(world, same, "given", "command");
    expect(world, slurm, "given", "command");
}

/* The kernel side has places for some hundred jobs: each recording through an agent took some for good. */
static void test_given_is_forgotten_when_it_is_over(void **state)
{
    struct world *world = *state;
    struct batch *batch;
    uint32_t running, over;

    assert_int_equal(0, batch_new(&batch));
    assert_int_equal(0, origin_job(world->origin,
                                   &(struct job){.name = "a", .kind = "command", .command = "c"}, &running));
    assert_int_equal(0, origin_job(world->origin,
                                   &(struct job){.name = "b", .kind = "command", .command = "c"}, &over));
    origin_find(world->origin, over)->end_ns = 1;
    assert_int_equal(0, origin_forget(world->origin, INT64_MAX));
    assert_non_null(origin_find(world->origin, over)); /* nobody has heard of its end */
    assert_int_equal(0, origin_report(world->origin, batch));
    assert_int_equal(0, origin_forget(world->origin, 0));
    assert_non_null(origin_find(world->origin, over));
    assert_int_equal(0, origin_forget(world->origin, INT64_MAX));
    assert_null(origin_find(world->origin, over));
    assert_non_null(origin_find(world->origin, running));
    batch_free(batch);
}

static void test_pod(void **state)
{
    struct world *world = *state;
    const char *cgroup = "0::/kubepods/burstable/pod" UID "/" ID "\n";
    uint32_t index;

    tree_file(world->tree, "/var/log/pods/team-a_train-0_" UID "/main/0.log", "");
    index = make_process(world, 100, 1, "python3", "", cgroup);
    expect(world, index, "team-a/train-0", "kubernetes");
    assert_string_equal("team-a", label(job_of(world, index), "namespace"));
    assert_string_equal("train-0", label(job_of(world, index), "pod"));
    expect(world, make_process(world, 101, 1, "a", "",
                               "0::/kubepods/pod" "11111111-1111-1111-1111-111111111111/" ID "\n"),
           "11111111-1111-1111-1111-111111111111", "kubernetes");
}

static void test_container(void **state)
{
    struct world *world = *state;
    uint32_t index = make_process(world, 100, 1, "a", "", "4:memory:/docker/" ID "\n");

    expect(world, index, "0123456789ab", "container");
    assert_string_equal(ID, label(job_of(world, index), "container"));
    assert_string_equal("docker", label(job_of(world, index), "runtime"));
}

static void test_ranks(void **state)
{
    struct world *world = *state;
    char name[96];

    make_process(world, 100, 1, "mpirun", "", "0::/\n");
    make_process(world, 101, 100, "sh", "", "0::/\n");
    snprintf(name, sizeof(name), "%s/mpirun", origin_user(world->origin, 0));
    expect(world, make_process(world, 102, 101, "rank", "", "0::/\n"), name, "command");
    expect(world, make_process(world, 103, 101, "rank", "", "0::/\n"), name, "command");
    snprintf(name, sizeof(name), "%s/torchrun", origin_user(world->origin, 0));
    expect(world, make_process(world, 104, 1, "python3", "TORCHELASTIC_RUN_ID=none|", "0::/\n"), name, "command");
    expect(world, make_process(world, 105, 101, "rank", "SLURM_JOB_ID=8|", "0::/\n"), "8", "slurm");
    /* the number of a launcher that has gone is somebody younger's */
    assert_null(job_of(world, make_process(world, 50, 100, "other", "", "0::/\n")));
}

/* A job that was found is a process's only while what it was found by stays. */
static void test_changes(void **state)
{
    struct world *world = *state;
    uint32_t index = make_process(world, 100, 1, "a", "UNBLEND_JOB=first|", "0::/\n");
    struct abi_process *process = &world->processes[index];
    uint32_t child = make_process(world, 102, 100, "c", "", "0::/\n");

    expect(world, index, "first", "env");
    assert_true(process->job & ABI_JOB_FOUND);
    world->processes[child].ticket = process->ticket; /* as the kernel side does at a fork */
    world->processes[child].known = process->known;
    world->processes[child].exited = 1;
    expect(world, child, "first", "env");
    process->exited = 1;
    expect(world, index, "first", "env");
    /* another process has the place in the table, and another one the number */
    *process = (struct abi_process){.tgid = 100, .start_ns = 77, .known = 1};
    assert_null(job_of(world, index));
}

static void test_unreadable(void **state)
{
    struct world *world = *state;
    struct abi_process *process = &world->processes[1];

    *process = (struct abi_process){.tgid = 4000000, .start_ns = 1, .comm = "gone", .cgroup = 99};
    assert_null(job_of(world, 1));
    process->exited = 1;
    assert_null(job_of(world, 1));
    expect(world, make_process(world, 101, 1, "a\n) R", "UNBLEND_JOB=two\nlines\xff|", "0::/\n"),
           "two?lines\xff", "env");
}

/* Who begins between the fetch and the question has the job that it says, and not his user's for ever. */
static void test_noted_meanwhile(void **state)
{
    struct world *world = *state;
    struct finder_options options = {.processes = 16, .names_map = -1, .root = world->tree->root};
    struct abi_process *by_name = &world->processes[1], *by_cgroup = &world->processes[2];
    struct abi_ticket said = {.rank = 0, .value = "late"};
    struct abi_cgroup made = {.path = "/system.slice/docker-" ID ".scope"};
    uint32_t ticket = ABI_TICKET(5, 0);
    uint64_t cgroup = 99;

    options.tickets_map = bpf_map_create(BPF_MAP_TYPE_HASH, "tickets", sizeof(said), sizeof(ticket), 8, NULL);
    options.cgroups_map = bpf_map_create(BPF_MAP_TYPE_HASH, "cgroups", sizeof(cgroup), sizeof(made), 8, NULL);
    if (options.tickets_map < 0 || options.cgroups_map < 0)
        skip(); /* no right to make maps */
    finder_free(world->finder);
    assert_int_equal(0, finder_new(&options, world->origin, &world->finder));
    assert_int_equal(0, finder_fetch(world->finder));
    assert_int_equal(0, bpf_map_update_elem(options.tickets_map, &said, &ticket, BPF_NOEXIST));
    assert_int_equal(0, bpf_map_update_elem(options.cgroups_map, &cgroup, &made, BPF_NOEXIST));
    *by_name = (struct abi_process){.tgid = 4000000, .start_ns = 1, .comm = "gone", .exited = 1, .known = 1,
                                    .ticket = ticket};
    *by_cgroup = (struct abi_process){.tgid = 4000001, .start_ns = 1, .comm = "gone", .exited = 1, .known = 1,
                                      .cgroup = cgroup};
    expect(world, 1, "late", "env");
    expect(world, 2, "0123456789ab", "container");
    close(options.tickets_map);
    close(options.cgroups_map);
}

static void test_names(void **state)
{
    (void)state;
    assert_int_equal(0, finder_check_names(FINDER_JOB_ENV, true));
    assert_int_equal(0, finder_check_names("A,B,C,D,E,F,G", true));
    assert_int_not_equal(0, finder_check_names("A,B,C,D,E,F,G,H", true));
    assert_int_equal(0, finder_check_names("A,B,C,D,E,F,G,app.kubernetes.io/name", false));
    assert_int_not_equal(0, finder_check_names("A,,B", true));
    assert_int_not_equal(0, finder_check_names("A,", true));
    assert_int_not_equal(0, finder_check_names("A=B", true));
    assert_int_not_equal(0, finder_check_names("x y", false));
}

static void test_stat(void **state)
{
    struct procfile_stat stat;

    (void)state;
    assert_true(procfile_stat("7 (a) b (c)\n) S 3 7 7 0 -1 4 1 2 3 4 5 6 7 8 20 0 1 0 12345 99 99", &stat));
    assert_string_equal("a) b (c)\n", stat.command);
    assert_int_equal(3, stat.parent);
    assert_int_equal(12345, stat.start_ticks);
    assert_false(procfile_stat("", &stat));
    assert_false(procfile_stat("7 )a( S 1", &stat));
    assert_false(procfile_stat("7 (a) S 1 2 3", &stat));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_slurm_is_one_job, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_slurm_prolog_names_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_given, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_given_is_forgotten_when_it_is_over, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_pod, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_container, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ranks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_changes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_unreadable, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_noted_meanwhile, set_up, tear_down),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_stat),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
