/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fires every system call of the table under the probe and compares what it counted, call by call:
 *
 *     guest [-v] [-u] [-f FLAVOURS] DIRECTORY...    in directories of the machine it runs on; -u: without being root
 *
 * As the first process of a virtual machine it mounts a tmpfs and an ext4 and uses those, then the tmpfs again through
 * each flavour, and again without being root.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <getopt.h>
#include <mntent.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
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
#include "tests/kernel/memory.h"
#include "tests/kernel/watched.h"

#define VERIFIER_HALF 500000
#define SELFTEST_LEAST 50 /* calls counted exactly */
#define BRIEF          10 /* one call in so many */
#define SAMPLE         8  /* one call in so many where others than the automatic flavour are looked at, */
#define SMALL          4  /* and a fourth of that, and of the calls of the automatic one, in a small machine */
#define MISSING_MOST   10 /* calls that a single flavour may lack */

struct tally {
    uint64_t ops, bytes, errors;
};

struct place {
    const char *directory;
    char mount[256], fstype[32];
    bool on_disk;
};

struct trial {
    struct probe *probe;
    struct watched watched;
    struct place place;
    const struct call *call;
    enum crew crew;
    bool faults; /* major page faults are seen, and */
    bool kinds;  /* whether they read or write */
    unsigned passed, failed;
    bool missing[SYSCALL_CALLS_MAX]; /* calls that the forced flavour cannot count, as it says itself */
    bool brief; /* only some of the calls from threads */
    bool trees; /* operations are told by tree */
    bool lossy; /* busy threads may lose calls through this flavour here, and the probe says how many */
    char complaint[400];
};

static void complain(struct trial *trial, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void complain(struct trial *trial, const char *format, ...)
{
    size_t used = strlen(trial->complaint);
    va_list args;

    va_start(args, format);
    if (used + 3 < sizeof(trial->complaint)) {
        strcpy(trial->complaint + used, used ? "; " : "");
        used = strlen(trial->complaint);
        vsnprintf(trial->complaint + used, sizeof(trial->complaint) - used, format, args);
    }
    va_end(args);
}

/* The longest mount point above the directory, as the probe must name it. */
static void find_mount(struct place *place)
{
    FILE *file = setmntent("/proc/self/mounts", "r");
    const struct mntent *entry;
    struct stat st;

    while (file && (entry = getmntent(file))) {
        size_t length = strlen(entry->mnt_dir);
        bool root = length == 1;

        if (strncmp(place->directory, entry->mnt_dir, length) != 0 ||
            (!root && place->directory[length] != '/') || length < strlen(place->mount))
            continue;
        snprintf(place->mount, sizeof(place->mount), "%s", entry->mnt_dir);
        snprintf(place->fstype, sizeof(place->fstype), "%s", entry->mnt_type);
    }
    if (file)
        endmntent(file);
    place->on_disk = stat(place->directory, &st) == 0 && major(st.st_dev) != 0;
}

static bool volume_is(const struct trial *trial, const struct volume *volume)
{
    if (trial->call->nowhere)
        return strcmp(volume->name, "?") == 0;
    if (strcmp(volume->fstype, trial->place.fstype) != 0)
        return false;
    for (uint32_t i = 0; i < volume->mount_count; i++)
        if (strcmp(volume->mounts[i], trial->place.mount) == 0)
            return true;
    return false;
}

static bool is_ring(const struct call *call)
{
    return call->way >= WAY_RING && call->way <= WAY_RING_CROWDED;
}

/* Something of it is missing, and nothing too much. */
static bool is_less(const struct tally *got, const struct tally *expected)
{
    return got->ops <= expected->ops && got->bytes <= expected->bytes &&
           (got->ops < expected->ops || got->bytes < expected->bytes);
}

/* Of these, events may be skipped where the kernel preempts programs on tracepoints; then they are said to be lost. */
static bool is_skippable(const struct call *call)
{
    return hook_skips() && (call->op == OP_MMAP_FAULT || is_ring(call));
}

/* The size of each operation that has one: what is transferred, or the file that is opened. */
static long expected_size(const struct call *call, enum operation op)
{
    if (op == OP_READ || op == OP_WRITE || op == OP_MMAP_FAULT)
        return call->result < 0 ? -1 : call->result;
    if ((op == OP_OPEN || op == OP_CREATE) && call->result == SOME)
        return call->opens_data ? DATA_SIZE : 0;
    return -1;
}

/* All operations of a call have the same size, so all are in one bucket. */
static void check_sizes(struct trial *trial, const struct record *record)
{
    const struct histogram *size = &record->size;
    long expected = expected_size(trial->call, record->op);

    if (expected < 0) {
        if (size->length)
            complain(trial, "a size, of what has none");
    } else if (size->length != 1 || size->cells[0].bucket != bucket_of((uint64_t)expected) ||
               size->cells[0].count != record_ops(record)) {
        complain(trial, "the sizes are not all %ld", expected);
    }
}

/* All that fail do so with the same error, and all faults are of one kind. */
static void check_details(struct trial *trial, const struct record *record)
{
    const struct histogram *codes = &record->error_codes;
    uint64_t read = record->faults[FAULT_READ], written = record->faults[FAULT_WRITE];
    long result = trial->call->result;

    if (histogram_count(codes) != record->errors)
        complain(trial, "%lu errors have no errno", (unsigned long)(record->errors - histogram_count(codes)));
    if (result < 0 && result > SOME && (codes->length != 1 || codes->cells[0].bucket != -result))
        complain(trial, "the errors are not all %ld", -result);
    if (record->op != OP_MMAP_FAULT || !trial->kinds)
        return;
    /* Where programs are skipped, a kind is not known now and then, and never another. */
    if ((trial->call->number == TOUCH_TO_WRITE ? read : written) || read + written > record_ops(record) ||
        (read + written < record_ops(record) && !hook_skips()))
        complain(trial, "%lu faults to read, %lu to write", (unsigned long)read, (unsigned long)written);
}

static void tally_record(struct trial *trial, const struct batch *batch,
                         const struct record *record, pid_t pid, struct tally got[OP_COUNT])
{
    const struct volume *volume = &batch->volumes[record->volume];

    if (!record_ops(record))
        return; /* in flight, or minor page faults */
    got[record->op].ops += record_ops(record);
    got[record->op].bytes += record->bytes;
    got[record->op].errors += record->errors;
    if (!operation_is_file(record->op))
        return;
    if (!volume_is(trial, volume))
        complain(trial, "%lu operations on volume %s (%s)", (unsigned long)record_ops(record), volume->name,
                 volume->fstype);
    if (strcmp(batch->jobs[record->job].name, "matrix") != 0)
        complain(trial, "under job %s", batch->jobs[record->job].name);
    if (record->process == NO_INDEX)
        complain(trial, "%lu operations under no process", (unsigned long)record_ops(record));
    else if (batch->processes[record->process].pid != (uint32_t)pid)
        complain(trial, "%lu operations under process %u, not %d",
                 (unsigned long)record_ops(record), batch->processes[record->process].pid, pid);
    if (!batch->coverage.lost || record->op != OP_MMAP_FAULT || !is_skippable(trial->call))
        check_sizes(trial, record); /* else a page may be among what is lost */
    check_details(trial, record);
}

static void compare(struct trial *trial, enum operation op, const struct tally *expected,
                    const struct tally *got, uint64_t lost)
{
    if (memcmp(expected, got, sizeof(*got)) == 0)
        return;
    if (trial->lossy && trial->crew == CREW_THREADS && got->ops < expected->ops &&
        got->ops + lost >= expected->ops)
        return;
    complain(trial,
             "%s: expected %lu operations, %lu bytes, %lu errors, got %lu, %lu, %lu, and %lu lost",
             operation_info(op)->name, (unsigned long)expected->ops,
             (unsigned long)expected->bytes, (unsigned long)expected->errors,
             (unsigned long)got->ops, (unsigned long)got->bytes, (unsigned long)got->errors, (unsigned long)lost);
}

/*
 * So many events may be said to be lost while so many operations were fired. Where kernels preempt programs, one of the
 * block layer's is skipped now and then while four threads sync, and those of io_uring and page faults, some events an
 * operation, for as long as a thread that was stopped in one and another in the second one behind it wait for the
 * processor.
 */
static uint64_t lost_most(const struct trial *trial, uint64_t fired)
{
    if (trial->crew != CREW_THREADS)
        return 0;
    return is_skippable(trial->call) ? 2 * fired : fired / 10;
}

static void check_counts(struct trial *trial, const struct batch *batch,
                         const struct outcome *outcome, pid_t pid)
{
    const struct call *call = trial->call;
    struct tally expected[OP_COUNT] = {0}, got[OP_COUNT] = {0};
    uint64_t fired = FIRED * (trial->crew == CREW_THREADS ? WORKERS : 1);
    uint64_t killed = call->way == WAY_RING_CROWDED ? batch->coverage.killed : 0;
    uint64_t missing = batch->coverage.lost + killed;

    for (uint32_t i = 0; i < batch->record_count; i++)
        tally_record(trial, batch, &batch->records[i], pid, got);
    expected[call->op] = (struct tally){fired, outcome->bytes, outcome->failed};
    expected[call->also] = expected[call->op];
    expected[call->block] = (struct tally){fired, outcome->bytes, 0};
    /* What is missing must be among what is said to be lost; and of a crowd of requests with one name, among what is
       said not to have ended. */
    if ((is_skippable(call) || is_ring(call)) && missing && is_less(&got[call->op], &expected[call->op]) &&
        fired - got[call->op].ops <= missing)
        expected[call->op] = got[call->op];
    if (getpid() != 1 && call->block && got[call->block].ops < fired &&
        fired - got[call->block].ops <= batch->coverage.lost)
        expected[call->block] = got[call->block];
    for (int op = OP_FIRST; op < OP_COUNT; op++)
        if (operation_is_file(op) || (op == (int)call->block && trial->crew == CREW_CHILD))
            compare(trial, op, &expected[op], &got[op], batch->coverage.lost);
    /* Others may load programs, too, but not in a machine of our own. It takes no file operation away: those have been
       compared. */
    if ((batch->coverage.lost > lost_most(trial, fired) && !trial->lossy && getpid() == 1) ||
        batch->coverage.overflow || batch->coverage.killed > killed)
        complain(trial, "%lu lost, %lu overflowed, %lu killed", (unsigned long)batch->coverage.lost,
                 (unsigned long)batch->coverage.overflow, (unsigned long)batch->coverage.killed);
}

/* Every operation that is demand is in exactly one slot, with all its bytes. */
static void check_slots(struct trial *trial, const struct batch *batch)
{
    struct demand_slot expected = {{0}}, got = {{0}};

    for (uint32_t i = 0; i < batch->record_count; i++) {
        const struct record *record = &batch->records[i];
        struct demand_slot amount = demand_of(record->op, record_ops(record), record->bytes);

        for (unsigned d = 0; operation_is_file(record->op) && d < DEMAND_COUNT; d++)
            expected.demand[d] += amount.demand[d];
    }
    for (uint32_t i = 0; i < batch->flow_count; i++)
        for (uint32_t at = 0; at < batch->flows[i].length; at++)
            for (unsigned d = 0; d < DEMAND_COUNT; d++)
                got.demand[d] += batch->flows[i].slots[at].demand[d];
    for (unsigned d = 0; d < DEMAND_COUNT; d++)
        if (expected.demand[d] != got.demand[d])
            complain(trial, "slots hold %lu of %lu of demand %u", (unsigned long)got.demand[d],
                     (unsigned long)expected.demand[d], d);
}

/* What counts in trees, of a job's operations on a volume. */
static void add_record(uint64_t counts[TREE_COUNTS], const struct record *record)
{
    enum operation_class class = operation_info(record->op)->class;

    if (class == OP_CLASS_DATA) {
        counts[record->op == OP_READ ? TREE_READS : TREE_WRITES] += record_ops(record);
        counts[record->op == OP_READ ? TREE_READ_BYTES : TREE_WRITE_BYTES] += record->bytes;
    } else if (class == OP_CLASS_METADATA) {
        counts[TREE_METADATA] += record_ops(record);
        if (record->op == OP_OPEN || record->op == OP_CREATE)
            counts[TREE_OPENS] += record_ops(record);
    } else {
        return;
    }
    counts[TREE_WAIT_NS] += record->latency_sum_ns;
}

/* Every operation is in a tree, too, where one can be told. */
static void check_trees(struct trial *trial, const struct batch *batch)
{
    uint64_t expected[TREE_COUNTS] = {0}, got[TREE_COUNTS] = {0};

    for (uint32_t i = 0; i < batch->record_count; i++)
        if (strcmp(batch->volumes[batch->records[i].volume].name, "?") != 0)
            add_record(expected, &batch->records[i]);
    for (uint32_t i = 0; i < batch->tree_count; i++)
        for (unsigned c = 0; c < TREE_COUNTS; c++)
            got[c] += batch->trees[i].count[c];
    /* What close_range() closes is told by volume only. */
    for (unsigned c = 0; trial->trees && !strstr(trial->call->name, "close_range") && c < TREE_COUNTS; c++)
        if (got[c] != expected[c])
            complain(trial, "trees hold %lu of %lu %s", (unsigned long)got[c], (unsigned long)expected[c],
                     tree_counts[c]);
}

/* What has happened up to now, the caller's then. */
static int drain(struct trial *trial, struct batch **out)
{
    _cleanup_(batch_freep) struct batch *batch = NULL;
    int err = batch_new(&batch);

    if (!err)
        err = probe_drain(trial->probe, batch);
    if (!err)
        *out = take_pointer(batch);
    return err;
}

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
    check_counts(trial, batch, &outcome, pid);
    check_slots(trial, batch);
    check_trees(trial, batch);
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
    if (*trial->complaint) {
        trial->failed++;
        printf("FAILED %s %s %s: %s\n", trial->place.fstype, trial->call->name, crew,
               trial->complaint);
    } else {
        trial->passed++;
        printf("ok     %s %s %s\n", trial->place.fstype, trial->call->name, crew);
    }
}

/* What needs a disk needs one, and faults are left out where the kernel does not tell of them, and says so. */
static bool applies(const struct trial *trial)
{
    const struct call *call = trial->call;

    return (!call->block || trial->place.on_disk) &&
           (call->op != OP_MMAP_FAULT || (trial->place.on_disk && trial->faults));
}

static bool attached(const struct batch *batch, const char *part)
{
    for (uint32_t i = 0; i < batch->coverage.hook_count; i++)
        if (strstr(batch->coverage.hooks[i].name, part))
            return batch->coverage.hooks[i].attached;
    return false;
}

static int look_at_hooks(struct trial *trial)
{
    _cleanup_(batch_freep) struct batch *batch = NULL;
    int err = drain(trial, &batch);

    if (err)
        return err;
    trial->faults = attached(batch, "mmap_fault");
    trial->kinds = attached(batch, "page_fault_user") || attached(batch, "fentry/filemap_fault");
    printf("page faults: %s, their kind: %s\n", trial->faults ? "seen" : "not seen",
           trial->kinds ? "seen" : "not seen");
    for (uint32_t i = 0; i < batch->coverage.hook_count; i++)
        if (!batch->coverage.hooks[i].attached)
            printf("without %s: %s\n", batch->coverage.hooks[i].name, batch->coverage.hooks[i].why);
    return 0;
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

/* The kernel refuses programs beyond a million steps of its verifier; leave half of it for what changes. Where others
   load programs, this would find theirs too. */
static void check_room(struct trial *trial)
{
    uint32_t id = 0;

    while (bpf_prog_get_next_id(id, &id) == 0) {
        _cleanup_close_ int fd = bpf_prog_get_fd_by_id(id);
        struct bpf_prog_info info = {0};
        uint32_t size = sizeof(info);

        if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size) || strncmp(info.name, "on_", 3) != 0)
            continue;
        printf("%s verifier of %s: %u steps\n", info.verified_insns < VERIFIER_HALF ? "ok    " : "FAILED",
               info.name, info.verified_insns);
        if (info.verified_insns < VERIFIER_HALF)
            trial->passed++;
        else
            trial->failed++;
    }
}

static void judge(struct trial *trial, bool good, const char *what, const char *why)
{
    printf("%s %s%s%s\n", good ? "ok    " : "FAILED", what, *why ? ": " : "", why);
    if (good)
        trial->passed++;
    else
        trial->failed++;
}

/* What the probe takes on a machine that may have many processors. */
static void check_memory(struct trial *trial, uint64_t limit)
{
    uint64_t bytes = kernel_memory();
    char said[100];

    snprintf(said, sizeof(said), "%d processors: %lu KiB", libbpf_num_possible_cpus(),
             (unsigned long)(bytes >> 10));
    judge(trial, bytes && bytes < limit, "memory of the kernel", said);
}

/*
 * A single flavour may lack a few calls; then it says which, and why. Whoever may choose has none left. What is said to
 * be counted is fired below.
 */
static void check_self_test(struct trial *trial, bool single)
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
