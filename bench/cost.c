/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What watching costs a program, in ns per call: a pread of a cached 4 KiB, a stat of an absolute path, and a call
 * that nobody watches. All variants run in turn in every round, so that they share the machine's mood;
 * shown are medians of the rounds, what each adds to the untraced call, and that in relation to the floor, an empty
 * pair of programs on the same two hooks.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/log.h"
#include "lib/option.h"
#include "probe/probe.h"

#define CALLS_EACH 200000
#define ROUNDS_MAX 101

enum call { CALL_PREAD, CALL_STAT, CALL_UNTRACED, CALLS };
enum variant { VARIANT_NONE, VARIANT_EMPTY, VARIANT_UNBLEND, VARIANT_BPFTRACE, VARIANTS };

static const char *const call_names[CALLS] = {"pread 4 KiB, cached", "stat", "getppid, not traced"};
static const char *const variant_names[VARIANTS] = {"untraced", "empty tp_btf pair", "unblend",
                                                    "bpftrace"};

struct bench {
    struct bpf_object *empty;
    struct bpf_link *links[2];
    struct probe *probe;
    pid_t bpftrace;
    const char *script, *object;
    int fd;
    double ns[VARIANTS][CALLS][ROUNDS_MAX];
};

static double measure(const struct bench *bench, enum call call)
{
    static char buffer[4096];
    struct stat st;
    int64_t start = monotonic_ns();

    switch (call) {
    case CALL_PREAD:
        for (int i = 0; i < CALLS_EACH; i++)
            if (pread(bench->fd, buffer, sizeof(buffer), 0) != sizeof(buffer))
                return -1;
        break;
    case CALL_STAT:
        for (int i = 0; i < CALLS_EACH; i++)
            if (stat("/etc/passwd", &st))
                return -1;
        break;
    default:
        for (int i = 0; i < CALLS_EACH; i++)
            syscall(SYS_getppid);
    }
    return (double)(monotonic_ns() - start) / CALLS_EACH;
}

static int start_empty(struct bench *bench)
{
    struct bpf_program *program;
    int i = 0;

    bpf_object__for_each_program(program, bench->empty)
    {
        bench->links[i] = bpf_program__attach(program);
        if (!bench->links[i++])
            return -errno;
    }
    return 0;
}

/* bpftrace says "Attaching N probes..." and then attaches them; whether it has is seen by the cost itself, so give
   it time. */
static int start_bpftrace(struct bench *bench)
{
    int out[2];
    char text[256];

    if (pipe(out))
        return -errno;
    bench->bpftrace = fork();
    if (bench->bpftrace == 0) {
        dup2(out[1], STDOUT_FILENO);
        dup2(out[1], STDERR_FILENO);
        close(out[0]);
        execlp("bpftrace", "bpftrace", bench->script, NULL);
        _exit(127);
    }
    close(out[1]);
    if (bench->bpftrace < 0 || read(out[0], text, sizeof(text)) <= 0)
        return -EIO;
    sleep(2);
    close(out[0]);
    return waitpid(bench->bpftrace, NULL, WNOHANG) == 0 ? 0 : -ENOENT;
}

static int start(struct bench *bench, enum variant variant)
{
    const struct probe_options options = {.all = true};

    switch (variant) {
    case VARIANT_EMPTY:
        return start_empty(bench);
    case VARIANT_UNBLEND:
        return probe_new(&options, &bench->probe);
    case VARIANT_BPFTRACE:
        return start_bpftrace(bench);
    default:
        return 0;
    }
}

static void stop(struct bench *bench)
{
    for (int i = 0; i < 2; i++) {
        bpf_link__destroy(bench->links[i]);
        bench->links[i] = NULL;
    }
    probe_free(bench->probe);
    bench->probe = NULL;
    if (bench->bpftrace > 0) {
        kill(bench->bpftrace, SIGKILL);
        waitpid(bench->bpftrace, NULL, 0);
    }
    bench->bpftrace = 0;
    usleep(50000); /* programs are freed after a grace period */
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values, unsigned count)
{
    qsort(values, count, sizeof(*values), ascending);
    return values[count / 2];
}

static void print(struct bench *bench, unsigned rounds, bool with_bpftrace)
{
    unsigned variants = with_bpftrace ? VARIANTS : VARIANT_BPFTRACE;

    printf("%-20s %-18s %10s %10s %14s\n", "call", "variant", "ns a call", "added ns", "x empty pair");
    for (int call = 0; call < CALLS; call++) {
        double floor = 0, untraced = 0;

        for (unsigned variant = 0; variant < variants; variant++) {
            double ns = median(bench->ns[variant][call], rounds);

            if (variant == VARIANT_NONE)
                untraced = ns;
            if (variant == VARIANT_EMPTY)
                floor = ns - untraced;
            printf("%-20s %-18s %10.0f", variant ? "" : call_names[call], variant_names[variant], ns);
            if (variant)
                printf(" %10.0f %14.2f", ns - untraced, (ns - untraced) / floor);
            putchar('\n');
        }
    }
    printf("medians of %u interleaved rounds of %d calls\n", rounds, CALLS_EACH);
}

static int run(struct bench *bench, unsigned rounds, bool with_bpftrace)
{
    for (unsigned round = 0; round < rounds; round++)
        for (int variant = 0; variant < (with_bpftrace ? VARIANTS : VARIANT_BPFTRACE); variant++) {
            int err = start(bench, variant);

            if (err) {
                log_error("%s: %s", variant_names[variant], log_errno(err));
                stop(bench);
                return 1;
            }
            measure(bench, CALL_PREAD); /* warm up */
            for (int call = 0; call < CALLS; call++)
                bench->ns[variant][call][round] = measure(bench, call);
            stop(bench);
        }
    print(bench, rounds, with_bpftrace);
    return 0;
}

int main(int argc, char **argv)
{
    static struct bench bench = {.script = "bench/peer.bt", .object = "bench/empty.bpf.o"};
    uint64_t rounds = 9;
    bool alone = false;
    char path[] = "/dev/shm/unblend-cost.XXXXXX";
    static char page[4096];
    const struct option_spec specs[] = {
        {"rounds", 'n', OPTION_COUNT, "N", &rounds, "rounds (default 9)"},
        {"script", 0, OPTION_STRING, "FILE", &bench.script, "the bpftrace script"},
        {"object", 0, OPTION_STRING, "FILE", &bench.object, "the empty programs"},
        {"alone", 0, OPTION_FLAG, NULL, &alone, "without bpftrace"},
    };
    const struct option_program program = {
        .name = "cost",
        .usage = "[OPTION...]",
        .summary = "Measures what watching costs a program.",
        .options = specs,
        .count = sizeof(specs) / sizeof(*specs),
    };
    int first, parsed = option_parse(&program, argc, argv, &first), status = 1;

    log_program("cost");
    if (parsed)
        return parsed > 0 ? 0 : 2;
    if (rounds < 1 || rounds > ROUNDS_MAX) {
        log_error("rounds: give a number from 1 to %d", ROUNDS_MAX);
        return 2;
    }
    bench.empty = bpf_object__open_file(bench.object, NULL);
    if (!bench.empty || bpf_object__load(bench.empty)) {
        log_error("%s: %s", bench.object, log_errno(-errno));
        return 1;
    }
    bench.fd = mkstemp(path);
    if (bench.fd >= 0 && write(bench.fd, page, sizeof(page)) == sizeof(page))
        status = run(&bench, (unsigned)rounds, !alone);
    unlink(path);
    bpf_object__close(bench.empty);
    return status;
}
