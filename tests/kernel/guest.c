/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fires every system call of the table under the probe and compares what it counted, call by call:
 *
 *     guest [-v] [-u] [-f FLAVOURS] DIRECTORY...    in directories of the machine it runs on; -u: without being root
 *
 * As the first process of a virtual machine it mounts a tmpfs and an ext4 and uses those, then the tmpfs again through
 * each flavour, and again without being root.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "probe/calls.h"
#include "probe/hook.h"
#include "probe/load.h"
#include "probe/probe.h"
#include "tests/kernel/boot.h"
#include "tests/kernel/check.h"
#include "tests/kernel/check_probe.h"

#define BRIEF          10 /* one call in so many */
#define SAMPLE         8  /* one call in so many where others than the automatic flavour are looked at, */
#define SMALL          4  /* and a fourth of that, and of the calls of the automatic one, in a small machine */

static int fire(struct trial *trial)
{
    _cleanup_(batch_freep) struct batch *before = NULL, *batch = NULL;
    struct outcome outcome;
    pid_t pid;
    int err = watched_prepare(&trial->watched, trial->call, trial->crew);

    if (!err)
        err = drain(trial, &before);
    if (!err)
        err = watched_fire(&trial->watched, trial->call, trial->crew, &outcome, &pid);
    if (!err)
        err = drain(trial, &batch);
    if (err)
        return err;
    if (outcome.surprised)
        complain(trial, "the call returned %ld, not %ld", outcome.unexpected, trial->call->result);
    check_call(trial, batch, &outcome, pid);
    return 0;
}

static bool is_missing(const struct trial *trial, long number)
{
    const struct syscall_call *table;
    unsigned count = syscall_calls(&table);

    for (unsigned i = 0; i < count; i++)
        if ((long)table[i].number == number)
            return trial->missing[i];
    return false;
}

static void try_call(struct trial *trial)
{
    const char *crew = trial->crew == CREW_CHILD ? "once" : "threads";
    char what[128];
    int err;

    if (trial->call->way == WAY_CALL && is_missing(trial, trial->call->number))
        return;
    if ((trial->call->way == WAY_AIO || trial->call->way == WAY_AIO_RING) &&
        load_blind(probe_loaded(trial->probe), WAY_IN_AIO))
        return;
    if (trial->call->way == WAY_COMPAT && load_blind(probe_loaded(trial->probe), WAY_IN_COMPAT))
        return;
    *trial->complaint = '\0';
    err = fire(trial);
    if (err)
        complain(trial, "%s", strerror(-err));
    snprintf(what, sizeof(what), "%s %s %s", trial->place.fstype, trial->call->name, crew);
    judge(trial, !*trial->complaint, what, trial->complaint);
}

/* What needs a disk needs one, and faults are left out where the kernel does not tell of them, and says so. */
static bool applies(const struct trial *trial)
{
    const struct call *call = trial->call;

    return (!call->block || trial->place.on_disk) &&
           (call->op != OP_MMAP_FAULT || (trial->place.on_disk && trial->faults));
}

static unsigned sample = 1; /* one call in so many is fired by run() */

/* Not the same calls once and from threads. */
static bool is_sampled(unsigned call, enum crew crew)
{
    return call % sample == (crew == CREW_THREADS ? sample / 2 : 0);
}

/* Where single calls are watched, those that the kernel does not have cannot be; older ones it all has. */
static bool is_absent(long number)
{
    return number >= 463 && syscall(number, -1, 0, 0, 0, 0, 0) < 0 && errno == ENOSYS;
}

static int try_directory(struct trial *trial, const char *directory)
{
    const struct job job = {.name = "matrix", .kind = "command", .command = "guest", .exit = -1};
    uint32_t id;
    int err = watched_start(&trial->watched);

    trial->place = (struct place){.directory = directory};
    find_mount(&trial->place);
    if (!err)
        err = probe_adopt(trial->probe, trial->watched.pid, &job, &id);
    if (!err)
        err = watched_begin(&trial->watched, directory);
    for (unsigned i = 0; !err && i < call_count * 2; i++) {
        trial->call = &calls[i / 2];
        trial->crew = i % 2 ? CREW_THREADS : CREW_CHILD;
        if (!is_sampled(i / 2, trial->crew) || (sample > 1 && is_absent(trial->call->number)))
            continue;
        if (sample == 1 && trial->brief && trial->crew == CREW_THREADS && i / 2 % BRIEF != 0)
            continue;
        /* A 32-bit program's threads are threads like others. Of a crowd whose requests all have one name, some stay in
           flight when several threads complete them at once; the manual says so. */
        if ((trial->call->way == WAY_COMPAT || trial->call->way == WAY_RING_CROWDED) && trial->crew == CREW_THREADS)
            continue;
        if (applies(trial))
            try_call(trial);
    }
    if (err)
        printf("FAILED %s: %s\n", directory, strerror(-err));
    watched_end(&trial->watched);
    return err;
}

static enum flavour chosen; /* by the last run() */

static int run(char *const *directories, const struct flavour_list *flavours)
{
    const struct probe_options options = {
        .memory = getpid() == 1 ? PROBE_MEMORY_DEFAULT : PROBE_MEMORY_MIN,
        .flavours = *flavours,
        .tree_depth = flavours->order[0] == FLAVOUR_AUTO ? TREE_DEPTH_DEFAULT : 0, /* with and without */
    };
    struct trial trial = {.trees = options.tree_depth > 0};
    int64_t started = monotonic_ms(), loaded;
    struct utsname name;
    int err = probe_new(&options, &trial.probe);

    if (err)
        return 1;
    loaded = monotonic_ms();
    trial.lossy = flavours->order[0] != FLAVOUR_AUTO && flavours->order[0] != FLAVOUR_KPROBE &&
                  hook_skips();
    chosen = calls_flavour(load_calls(probe_loaded(trial.probe)));
    printf("flavour %s\n", flavour_name(chosen));
    trial.brief = flavours->order[0] != FLAVOUR_AUTO;
    check_self_test(&trial, flavours->order[0] != FLAVOUR_AUTO && flavours->order[1] == FLAVOUR_AUTO);
    if (getpid() == 1) {
        check_room(&trial);
        check_memory(&trial, options.memory);
    }
    trial.failed += look_at_hooks(&trial) != 0;
    if (call_not_fired())
        printf("FAILED %s is counted, and nobody fires it\n", call_not_fired());
    trial.failed += call_not_fired() != NULL;
    for (; *directories; directories++)
        trial.failed += try_directory(&trial, *directories) != 0;
    probe_free(trial.probe);
    uname(&name);
    printf("%s: loaded in %lu ms, ran in %lu ms\n", name.release, (unsigned long)(loaded - started),
           (unsigned long)(monotonic_ms() - loaded));
    printf("%u passed, %u failed\n", trial.passed, trial.failed);
    return trial.failed || !trial.passed;
}

static int run_renounced(char *const *directories)
{
    int err = renounce(directories), status;

    if (err) {
        printf("FAILED cannot renounce: %s\n", strerror(-err));
        return 1;
    }
    puts("without being root:");
    status = run(directories, &(struct flavour_list){{FLAVOUR_AUTO}});
    fflush(stdout);
    return status;
}

/* In a process of its own, so that nothing is left of the one before. */
static bool run_forced(const char *names)
{
    struct flavour_list flavours;
    char directory[64], *own[] = {directory, NULL};

    int status = 1;

    if (flavour_parse(names, &flavours))
        return false;
    snprintf(directory, sizeof(directory), "/t/%s", names);
    printf("forced %s:\n", names);
    fflush(stdout);
    if (fork() == 0) {
        status = mkdir(directory, 0700) || run(own, &flavours);
        fflush(stdout);
        _exit(status);
    }
    while (wait(&status) > 0)
        ;
    return status == 0;
}

/* words: of the kernel's command line */
static void run_machine(char *const *words)
{
    /* The last one: calls that one flavour cannot count go to the next. */
    static const char *const forced[] = {"tp_btf", "tracepoint", "kprobe", "fentry", "fentry,tracepoint"};
    const struct flavour_list automatic = {{FLAVOUR_AUTO}};
    char *all[] = {"/t/w", "/e/w", NULL}, *own[] = {"/t/u", NULL};
    int status = boot() || mkdir(all[0], 0700) || mkdir(all[1], 0700) || mkdir(own[0], 0700);
    bool full = false;

    for (; *words; words++) {
        if (strcmp(*words, "verbose") == 0)
            log_verbose(true);
        else if (strcmp(*words, "full") == 0)
            full = true;
        else if (strcmp(*words, "small") == 0)
            sample = SMALL;
    }
    if (!status)
        status = run(all, &automatic);
    printf("exit %d\n", status);
    fflush(stdout);
    sample *= full ? 1 : SAMPLE;
    for (unsigned i = 0; chosen != FLAVOUR_AUTO && i < sizeof(forced) / sizeof(*forced); i++)
        if (strcmp(forced[i], flavour_name(chosen)) != 0) /* whose run it was just now */
            if (!run_forced(forced[i]) && strcmp(forced[i], "fentry") == 0)
                break;
    if (chosen != FLAVOUR_AUTO && fork() == 0)
        _exit(run_renounced(own));
    while (wait(NULL) > 0)
        ;
    puts("finished");
    power_off();
}

int main(int argc, char **argv)
{
    struct flavour_list flavours = {{FLAVOUR_AUTO}};
    bool less = false, wrong = false;
    int option;

    log_program("guest");
    /* Programs, links and maps are descriptors of the process that fires the calls, too. */
    (void)setrlimit(RLIMIT_NOFILE, &(struct rlimit){8192, 8192});
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (getpid() == 1) {
        run_machine(argv + 1);
    }
    while ((option = getopt(argc, argv, "uvf:")) != -1 && !wrong) {
        if (option == 'v')
            log_verbose(true);
        else if (option == 'u')
            less = true;
        else
            wrong = option != 'f' || flavour_parse(optarg, &flavours);
    }
    if (wrong || optind == argc) {
        fprintf(stderr, "usage: guest [-v] [-u] [-f FLAVOURS] DIRECTORY...\n");
        return 2;
    }
    return less ? run_renounced(argv + optind) : run(argv + optind, &flavours);
}
