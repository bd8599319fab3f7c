/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many processes, and threads in them, that make a known number of calls on known volumes:
 *
 *     crowd [-p PROCESSES] [-t THREADS] [-r ROUNDS] [-w PAUSE_MS] [-s HOLD_MS] [-n] DIRECTORY...
 *
 * In each round a thread does to a file in each directory: open, fstat (not with -n), pread at 0 and pread at the
 * end (of 0 bytes), pwrite, close. Nobody ends before all have done all their rounds, and the hold is over: all are
 * alive at once. Between two rounds there is the pause, at another moment of it for each process. What was done is
 * printed as JSON: by directory, the operations and bytes of all of them; they touch no other file.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define READ_SIZE   4096
#define WRITE_SIZE  512
#define STACK_SIZE  (64 << 10)
#define THREADS_MAX 256
#define READS       2 /* a round: a whole one and an empty one */
#define MAKE_STATS  1 /* a directory: whether the file is there */

struct crowd {
    unsigned long processes, threads, rounds, pause_ms, hold_ms;
    bool no_stat;
    char **paths; /* of the files */
    int count;
};

/* Shared by all processes. */
struct progress {
    unsigned long finished; /* threads */
    unsigned long failed;
    unsigned released; /* a futex */
};

static struct progress *progress;

static void rest(unsigned long ms)
{
    struct timespec time = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};

    nanosleep(&time, NULL);
}

static bool visit(const char *path, bool no_stat)
{
    char buffer[READ_SIZE];
    struct stat st;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    bool good = fd >= 0 && (no_stat || fstat(fd, &st) == 0) &&
                pread(fd, buffer, READ_SIZE, 0) == READ_SIZE &&
                pread(fd, buffer, READ_SIZE, READ_SIZE) == 0 &&
                pwrite(fd, buffer, WRITE_SIZE, 0) == WRITE_SIZE;

    return fd >= 0 && close(fd) == 0 && good;
}

static void *work(void *argument)
{
    const struct crowd *crowd = argument;

    for (unsigned long round = 0; round < crowd->rounds; round++) {
        for (int i = 0; i < crowd->count; i++)
            if (!visit(crowd->paths[i], crowd->no_stat))
                __atomic_fetch_add(&progress->failed, 1, __ATOMIC_RELAXED);
        if (crowd->pause_ms)
            rest(crowd->pause_ms);
    }
    __atomic_fetch_add(&progress->finished, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&progress->released, __ATOMIC_ACQUIRE))
        syscall(SYS_futex, &progress->released, FUTEX_WAIT, 0, NULL, NULL, 0);
    return NULL;
}

static void run_process(const struct crowd *crowd, unsigned long number)
{
    const unsigned long count = crowd->threads;
    pthread_t threads[THREADS_MAX];
    pthread_attr_t small;

    prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody is left waiting when the first one is killed */
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, STACK_SIZE);
    if (crowd->pause_ms)
        rest(number * crowd->pause_ms / crowd->processes);
    for (unsigned long i = 1; i < count; i++)
        if (pthread_create(&threads[i], &small, work, (void *)crowd))
            _exit(1);
    work((void *)crowd);
    for (unsigned long i = 1; i < count; i++)
        pthread_join(threads[i], NULL);
    _exit(0);
}

static void print(const struct crowd *crowd, char **directories)
{
    uint64_t visits = (uint64_t)crowd->processes * crowd->threads * crowd->rounds;

    putchar('{');
    for (int i = 0; i < crowd->count; i++)
        printf("%s\"%s\": {\"open\": [%" PRIu64 ", 0], \"stat\": [%" PRIu64 ", 0], \"read\": [%" PRIu64 ", %" PRIu64
               "], \"write\": [%" PRIu64 ", %" PRIu64 "], \"close\": [%" PRIu64 ", 0]}",
               i ? ", " : "", directories[i], visits, (crowd->no_stat ? 0 : visits) + MAKE_STATS, READS * visits,
               visits * READ_SIZE, visits, visits * WRITE_SIZE, visits);
    puts("}");
}

/*
 * The files, made before anybody works: one access each, and one create, one write and one close where it is new, which
 * the print leaves out.
 */
static int make_files(struct crowd *crowd, char **directories)
{
    static const char content[READ_SIZE];

    for (int i = 0; i < crowd->count; i++) {
        int fd;

        if (asprintf(&crowd->paths[i], "%s/crowd", directories[i]) < 0)
            return -ENOMEM;
        if (access(crowd->paths[i], F_OK) == 0)
            continue;
        fd = open(crowd->paths[i], O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (fd < 0 || write(fd, content, sizeof(content)) != sizeof(content))
            return -errno;
        close(fd);
    }
    return 0;
}

static int run(const struct crowd *crowd, char **directories)
{
    unsigned long all = crowd->processes * crowd->threads;

    for (unsigned long i = 0; i < crowd->processes; i++) {
        pid_t pid = fork();

        if (pid == 0)
            run_process(crowd, i);
        if (pid < 0) {
            perror("crowd: fork");
            return 1; /* the others go with this one */
        }
    }
    while (__atomic_load_n(&progress->finished, __ATOMIC_ACQUIRE) < all)
        rest(20);
    rest(crowd->hold_ms);
    __atomic_store_n(&progress->released, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &progress->released, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    while (wait(NULL) > 0 || errno == EINTR)
        ;
    if (progress->failed) {
        fprintf(stderr, "crowd: %lu visits failed\n", progress->failed);
        return 1;
    }
    print(crowd, directories);
    return 0;
}

int main(int argc, char **argv)
{
    struct crowd crowd = {.processes = 1, .threads = 1, .rounds = 1};
    int option;

    while ((option = getopt(argc, argv, "p:t:r:w:s:n")) >= 0)
        switch (option) {
        case 'p': crowd.processes = strtoul(optarg, NULL, 10); break;
        case 't': crowd.threads = strtoul(optarg, NULL, 10); break;
        case 'r': crowd.rounds = strtoul(optarg, NULL, 10); break;
        case 'w': crowd.pause_ms = strtoul(optarg, NULL, 10); break;
        case 's': crowd.hold_ms = strtoul(optarg, NULL, 10); break;
        case 'n': crowd.no_stat = true; break;
        default: return 2;
        }
    crowd.count = argc - optind;
    crowd.paths = calloc((size_t)crowd.count + 1, sizeof(*crowd.paths));
    progress = mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!crowd.count || !crowd.processes || !crowd.threads || crowd.threads > THREADS_MAX) {
        fprintf(stderr, "crowd: give directories, and 1 to %d threads\n", THREADS_MAX);
        return 2;
    }
    if (!crowd.paths || progress == MAP_FAILED || make_files(&crowd, argv + optind)) {
        perror("crowd");
        return 1;
    }
    return run(&crowd, argv + optind);
}
