/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/selftest.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "probe/bpf/configabi.h"

/* A process fires one call of each operation: so its counts tell which call it was. As many as the operation with the
   most calls has. */
#define SHOOTERS 40

/* Shared with the processes that fire. */
struct board {
    pid_t pid[SHOOTERS];
    long result[SYSCALL_CALLS_MAX];
    bool fired[SYSCALL_CALLS_MAX];
};

struct test {
    const struct syscall_call *calls;
    unsigned count;
    struct abi_syscall shapes[ABI_SYSCALLS];
    int shooter[SYSCALL_CALLS_MAX]; /* which process fires a call; -1: none */
    struct board *board;
    struct selftest_files files;
};

/* The operations that a call counts as, one bit each. */
static uint32_t operations_of(const struct test *test, unsigned call)
{
    const struct abi_syscall *shape = &test->shapes[test->calls[call].number];

    return 1u << shape->op | (shape->shape == ABI_SHAPE_TRANSFER ? 1u << OP_WRITE : 0);
}

static void share_out(struct test *test, const bool *wanted)
{
    uint32_t taken[SHOOTERS] = {0};

    for (unsigned i = 0; i < test->count; i++) {
        uint32_t operations = operations_of(test, i);

        test->shooter[i] = -1;
        for (int k = 0; wanted[i] && selftest_fires(test->calls[i].number) && k < SHOOTERS; k++)
            if (!(taken[k] & operations)) {
                taken[k] |= operations;
                test->shooter[i] = k;
                break;
            }
    }
}

static void shoot(struct test *test, int shooter)
{
    for (unsigned i = 0; i < test->count; i++)
        for (int k = 0; test->shooter[i] == shooter && k < SELFTEST_FIRED; k++)
            test->board->fired[i] =
                selftest_fire(test->calls[i].number, &test->files, &test->board->result[i]);
}

/* Runs in a process of its own: one child after the other, so that their calls are theirs alone. Async-signal-safe:
   we may have threads. */
static int shoot_all(struct test *test)
{
    for (int k = 0; k < SHOOTERS; k++) {
        bool any = false;
        pid_t pid;
        int status;

        for (unsigned i = 0; i < test->count; i++)
            any = any || test->shooter[i] == k;
        if (!any)
            break;
        pid = fork();
        if (pid == 0) {
            shoot(test, k);
            _exit(0);
        }
        if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
            return 1;
        test->board->pid[k] = pid;
    }
    return 0;
}

/* The process waits for a word until it is watched. */
static int launch(struct test *test, const struct selftest_host *host)
{
    int gate[2], status = -1 /* until there is one */, err;
    pid_t pid;

    if (pipe2(gate, O_CLOEXEC))
        return -errno;
    pid = fork();
    if (pid == 0) {
        char word;

        close(gate[1]);
        _exit(read(gate[0], &word, 1) != 1 || shoot_all(test));
    }
    err = pid < 0 ? -errno : host->watch(host->context, pid);
    if (!err && write(gate[1], "", 1) != 1)
        err = -errno;
    close(gate[0]);
    close(gate[1]);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return err ? err : status ? -ECHILD : 0;
}

/* How often the operations of a call were counted for the process that fired it; unequal ones make it 0. */
static unsigned counted(const struct test *test, const struct batch *batch, unsigned call)
{
    uint32_t operations = operations_of(test, call);
    uint64_t count[OP_COUNT] = {0}, first = 0;

    for (uint32_t i = 0; i < batch->record_count; i++) {
        const struct record *record = &batch->records[i];

        if (record->process != NO_INDEX &&
            batch->processes[record->process].pid == (uint32_t)test->board->pid[test->shooter[call]])
            count[record->op] += record_ops(record);
    }
    for (int op = 0; op < OP_COUNT; op++)
        if (operations & 1u << op) {
            if (first && count[op] != first)
                return 0;
            first = count[op];
        }
    return (unsigned)first;
}

static struct selftest_outcome judge(const struct test *test, const struct batch *batch, unsigned call)
{
    long result = test->board->result[call];
    struct selftest_outcome outcome = {0};

    if (test->shooter[call] < 0 || !test->board->fired[call])
        return outcome;
    outcome.fired = SELFTEST_FIRED;
    outcome.counted = counted(test, batch, call);
    /* A call that is answered before it begins, by a filter or for want of it, is no call. */
    if (result == -ENOSYS || (result == -EPERM && !outcome.counted))
        outcome.result = SELFTEST_ABSENT;
    else
        outcome.result = outcome.counted == outcome.fired ? SELFTEST_EXACT : SELFTEST_WRONG;
    return outcome;
}

static int run(struct test *test, const struct selftest_host *host, const bool *wanted,
               struct selftest_outcome *outcomes)
{
    _cleanup_(batch_freep) struct batch *batch = NULL;
    int err = launch(test, host);

    if (!err)
        err = host->drain(host->context, &batch);
    for (unsigned i = 0; !err && i < test->count; i++)
        if (wanted[i])
            outcomes[i] = judge(test, batch, i);
    return err;
}

int selftest_run(const struct selftest_host *host, const bool *wanted,
                 struct selftest_outcome outcomes[SYSCALL_CALLS_MAX])
{
    _cleanup_close_ int directory = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    _cleanup_close_ int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    _cleanup_close_ int name = open("/", O_PATH | O_CLOEXEC);
    struct test test = {.files = {.directory = directory, .file = file, .name = name}};
    int err;

    if (directory < 0 || file < 0 || name < 0)
        return -errno;
    test.count = syscall_calls(&test.calls);
    syscall_table(test.shapes, true);
    share_out(&test, wanted);
    test.board = mmap(NULL, sizeof(*test.board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (test.board == MAP_FAILED)
        return -errno;
    err = run(&test, host, wanted, outcomes);
    munmap(test.board, sizeof(*test.board));
    return err;
}
