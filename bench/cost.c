/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What watching costs a program, in ns of CPU time per call: a pread of a cached 4 KiB, by one thread and by two on
 * two CPUs, a stat of an absolute path, and a call that nobody watches. All variants run in turn in every round, each
 * in a process of its own and in short slices, so that they share the machine's mood; shown are medians (or what
 * --quantile says) of all slices, what each adds to the untraced call, and that in relation to the floor, an empty pair
 * of programs on the same two hooks.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/variant.h"
#include "lib/log.h"
#include "lib/option.h"
#include "lib/order.h"

#define CALLS_EACH 2000
#define SLICES     40
#define ROUNDS_MAX 101
#define THREADS    2
#define PAGE       4096

enum call { CALL_PREAD, CALL_STAT, CALL_UNTRACED, CALL_THREADS, CALLS };

static const char *const call_names[CALLS] = {"pread 4 KiB, cached", "stat", "getppid, not traced",
                                              "pread, two threads"};

/* A thread on a CPU of its own, with a file of its own. */
struct worker {
    pthread_t thread;
    pthread_barrier_t *together;
    int cpu, fd;
    double ns; /* per call, -1 for a failure */
};

struct bench {
    struct watchers *watchers;
    unsigned calls; /* the last one needs two CPUs */
    int fd;
    struct worker workers[THREADS];
    double (*ns)[CALLS][ROUNDS_MAX * SLICES]; /* by variant; shared with the processes that measure */
};

/* Of this thread's own time, so that others who want the CPU do not count. */
static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static double measure_pread(int fd)
{
    char buffer[PAGE];
    int64_t start = now_ns();

    for (int i = 0; i < CALLS_EACH; i++)
        if (pread(fd, buffer, sizeof(buffer), 0) != sizeof(buffer))
            return -1;
    return (double)(now_ns() - start) / CALLS_EACH;
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    cpu_set_t cpus;

    CPU_ZERO(&cpus);
    CPU_SET(worker->cpu, &cpus);
    if (sched_setaffinity(0, sizeof(cpus), &cpus))
        worker->ns = -1;
    measure_pread(worker->fd); /* warm up */
    pthread_barrier_wait(worker->together);
    if (worker->ns >= 0)
        worker->ns = measure_pread(worker->fd);
    return NULL;
}

/* The mean of the threads. */
static double measure_threads(struct bench *bench)
{
    pthread_barrier_t together;
    double sum = 0;

    pthread_barrier_init(&together, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        bench->workers[i].together = &together;
        bench->workers[i].ns = 0;
        if (pthread_create(&bench->workers[i].thread, NULL, work, &bench->workers[i]))
            abort(); /* the others would wait for ever */
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(bench->workers[i].thread, NULL);
        sum += bench->workers[i].ns;
    }
    pthread_barrier_destroy(&together);
    return sum / THREADS;
}

static double measure(struct bench *bench, enum call call)
{
    struct stat st;
    int64_t start = now_ns();

    switch (call) {
    case CALL_PREAD:
        return measure_pread(bench->fd);
    case CALL_THREADS:
        return measure_threads(bench);
    case CALL_STAT:
        for (int i = 0; i < CALLS_EACH; i++)
            if (stat("/etc/passwd", &st))
                return -1;
        break;
    default:
        for (int i = 0; i < CALLS_EACH; i++)
            syscall(SYS_getppid);
    }
    return (double)(now_ns() - start) / CALLS_EACH;
}

static double quantile(double *values, unsigned count, unsigned percent)
{
    qsort(values, count, sizeof(*values), order_doubles);
    return values[(size_t)count * percent / 100];
}

static void print(struct bench *bench, unsigned rounds, unsigned variants, unsigned percent)
{
    printf("%-20s %-20s %10s %10s %14s\n", "call", "variant", "ns a call", "added ns", "x empty pair");
    for (unsigned call = 0; call < bench->calls; call++) {
        double floor = 0, untraced = 0;

        for (unsigned variant = 0; variant < variants; variant++) {
            double ns = quantile(bench->ns[variant][call], rounds * SLICES, percent);

            if (variant == VARIANT_NONE)
                untraced = ns;
            if (variant == VARIANT_EMPTY)
                floor = ns - untraced;
            printf("%-20s %-20s %10.0f", variant ? "" : call_names[call], variant_names[variant], ns);
            if (variant)
                printf(" %10.0f %14.2f", ns - untraced, (ns - untraced) / floor);
            putchar('\n');
        }
    }
    printf("quantile %u %% of %u interleaved rounds of %d slices of %d calls\n", percent, rounds, SLICES, CALLS_EACH);
}

/*
 * In a process that is younger than the programs: the kernel marks who runs when programs are loaded or freed
 * (rcu_tasks_trace), and each hook then costs that task more, which programs that are watched seldom are.
 */
static int measure_round(struct bench *bench, unsigned round, unsigned variant)
{
    pid_t child = fork();
    int status;

    if (child < 0)
        return -errno;
    if (child == 0) {
        measure(bench, CALL_PREAD); /* warm up */
        for (unsigned i = 0; i < SLICES; i++)
            for (unsigned call = 0; call < bench->calls; call++)
                bench->ns[variant][call][round * SLICES + i] = measure(bench, call);
        _exit(0);
    }
    if (waitpid(child, &status, 0) < 0)
        return -errno;
    return status ? -ECHILD : 0;
}

static int run(struct bench *bench, unsigned rounds, unsigned variants, unsigned percent)
{
    for (unsigned round = 0; round < rounds; round++) {
        for (unsigned variant = 0; variant < variants; variant++) {
            int err = watchers_start(bench->watchers, variant);

            if (!err)
                err = measure_round(bench, round, variant);
            if (err) {
                log_error("%s: %s", variant_names[variant], log_errno(err));
                return 1;
            }
            watchers_stop(bench->watchers);
        }
        watchers_unload(bench->watchers);
    }
    print(bench, rounds, variants, percent);
    return 0;
}

/* A page in memory, without a name. */
static int open_page(void)
{
    static const char page[PAGE];
    char path[] = "/dev/shm/unblend-cost.XXXXXX";
    int fd = mkstemp(path);

    if (fd < 0)
        return -1;
    unlink(path);
    return write(fd, page, sizeof(page)) == sizeof(page) ? fd : -1;
}

static int prepare(struct bench *bench)
{
    cpu_set_t cpus;
    int found = 0;

    bench->ns = mmap(NULL, VARIANTS * sizeof(*bench->ns), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (bench->ns == MAP_FAILED)
        return -1;
    bench->fd = open_page();
    if (bench->fd < 0 || sched_getaffinity(0, sizeof(cpus), &cpus))
        return -1;
    for (int cpu = 0; cpu < CPU_SETSIZE && found < THREADS; cpu++)
        if (CPU_ISSET(cpu, &cpus)) {
            bench->workers[found].cpu = cpu;
            bench->workers[found].fd = open_page();
            if (bench->workers[found++].fd < 0)
                return -1;
        }
    bench->calls = found == THREADS ? CALLS : CALL_THREADS;
    return 0;
}

int main(int argc, char **argv)
{
    static struct bench bench;
    const char *script = "bench/peer.bt", *object = "bench/empty.bpf.o", *clock = "bench/clock.bpf.o";
    uint64_t rounds = 9, percent = 50;
    bool alone = false;
    const struct option_spec specs[] = {
        {"rounds", 'n', OPTION_COUNT, "N", &rounds, "rounds (default 9)"},
        {"quantile", 'q', OPTION_COUNT, "PERCENT", &percent, "what to show of all slices (default 50, the median; less "
                                                              "on a machine that others use)"},
        {"script", 0, OPTION_STRING, "FILE", &script, "the bpftrace script"},
        {"object", 0, OPTION_STRING, "FILE", &object, "the empty programs"},
        {"clock", 0, OPTION_STRING, "FILE", &clock, "the programs that look at the clock"},
        {"alone", 0, OPTION_FLAG, NULL, &alone, "without bpftrace"},
    };
    const struct option_program program = {
        .name = "cost",
        .usage = "[OPTION...]",
        .summary = "Measures what watching costs a program.",
        .options = specs,
        .count = sizeof(specs) / sizeof(*specs),
    };
    int first, parsed = option_parse(&program, argc, argv, &first), err, status;

    log_program("cost");
    if (parsed)
        return parsed > 0 ? 0 : 2;
    if (rounds < 1 || rounds > ROUNDS_MAX) {
        log_error("rounds: give a number from 1 to %d", ROUNDS_MAX);
        return 2;
    }
    if (percent > 99) {
        log_error("quantile: give a number from 0 to 99");
        return 2;
    }
    if (prepare(&bench)) {
        log_error("/dev/shm: cannot make a file to read");
        return 1;
    }
    err = watchers_new(object, clock, script, &bench.watchers);
    if (err) {
        log_error("%s, %s: %s", object, clock, log_errno(err));
        return 1;
    }
    status = run(&bench, (unsigned)rounds, alone ? VARIANT_BPFTRACE : VARIANTS, (unsigned)percent);
    watchers_free(bench.watchers);
    return status;
}
