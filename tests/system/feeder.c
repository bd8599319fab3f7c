/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An agent without a probe, for the oracle of exactly_once.py: batches whose sums are known go through the spool and
 * the push that ship.
 *
 *   feeder STATE URL TOKEN-FILE NODE ACCOUNT FIRST MS SPOOL-MAX CLOCK-S
 *       makes a batch each MS milliseconds (0: none), with the numbers FIRST, FIRST + 1 and so on; ends on SIGTERM
 *   feeder STATE
 *       prints the numbers of the batches that wait in a state directory, and what is to be told as dropped
 *
 * With PATIENT in the environment pauses after trouble are as long as they are. In ACCOUNT, "begin N" stands before a
 * batch is given to the spool and "done N STREAM SEQ" behind: only what is done was promised. In GRAVE (from the
 * environment) lies what a power cut could still undo: see the wrapped calls.
 */
#include <curl/curl.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/push.h"
#include "agent/spool.h"
#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/recording.h"

#define INTERVAL_NS UINT64_C(10000000000)
#define NUDGE_MS    400 /* a pause after trouble is cut short: the oracle has no minute to wait */

/* --- what a power cut could undo --- */

int __real_unlinkat(int directory, const char *name, int flags);
int __real_renameat(int from, const char *old, int to, const char *new);
int __real_fsync(int fd);
ssize_t __real_write(int fd, const void *data, size_t size);
int __wrap_unlinkat(int directory, const char *name, int flags);
int __wrap_renameat(int from, const char *old, int to, const char *new);
int __wrap_fsync(int fd);
ssize_t __wrap_write(int fd, const void *data, size_t size);

static const char *grave;
static _Thread_local bool unsynced; /* the file written last has not been flushed */

/* GRAVE/KIND-NAME: links to what was there, or an empty file as a mark. */
static void bury(const char *kind, int directory, const char *name, bool mark)
{
    char path[512];

    if (!grave)
        return;
    snprintf(path, sizeof(path), "%s/%s-%s", grave, kind, name);
    __real_unlinkat(AT_FDCWD, path, 0);
    if (mark)
        close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    else if (linkat(directory, name, AT_FDCWD, path, 0))
        return; /* it was not there */
}

/* All in that directory is now as it would be after a power cut. */
static void settle(bool is_spool)
{
    DIR *directory = grave ? opendir(grave) : NULL;
    const struct dirent *entry;

    while (directory && (entry = readdir(directory))) {
        const char *name = strchr(entry->d_name, '-');

        if (name && is_spool == (strspn(name + 1, "0123456789") == 20) && strncmp(entry->d_name, "torn", 4) != 0)
            __real_unlinkat(dirfd(directory), entry->d_name, 0);
    }
    if (directory)
        closedir(directory);
}

int __wrap_unlinkat(int directory, const char *name, int flags)
{
    bury("gone", directory, name, false);
    return __real_unlinkat(directory, name, flags);
}

int __wrap_renameat(int from, const char *old, int to, const char *new)
{
    int result;

    bury("old", to, new, false);
    bury("made", to, new, true);
    if (unsynced)
        bury("torn", to, new, true);
    result = __real_renameat(from, old, to, new);
    return result;
}

int __wrap_fsync(int fd)
{
    int result = __real_fsync(fd);
    struct stat st;

    if (!result && !fstat(fd, &st) && S_ISDIR(st.st_mode))
        settle(faccessat(fd, "spool", F_OK, 0) != 0);
    else if (!result)
        unsynced = false;
    return result;
}

ssize_t __wrap_write(int fd, const void *data, size_t size)
{
    struct stat st;

    if (!fstat(fd, &st) && S_ISREG(st.st_mode))
        unsynced = true;
    return __real_write(fd, data, size);
}

/* --- batches --- */

static void must(int err)
{
    if (err) {
        log_error("%s", log_errno(err));
        exit(1);
    }
}

/* N decides all of it; exactly_once.py knows how. */
static struct batch *make(const char *node, uint64_t n, int64_t clock_s)
{
    const struct job job = {.name = "oracle", .kind = "command", .command = "oracle", .exit = -1};
    const char *mount = "/data";
    const struct volume volume = {
        .name = "/data", .source = "s", .fstype = "nfs4", .scope = SCOPE_SHARED, .mounts = &mount, .mount_count = 1};
    const enum operation ops[] = {OP_READ, OP_WRITE};
    uint32_t job_index, volume_index;
    struct record *record;
    struct batch *batch;

    must(batch_new(&batch));
    must(batch_set(batch, &batch->cluster, "c"));
    must(batch_set(batch, &batch->node, node));
    must(batch_set(batch, &batch->role, "client"));
    must(batch_set(batch, &batch->kernel, "6.1"));
    must(batch_set(batch, &batch->boot_id, n % 3 ? "boot-a" : "boot-b"));
    batch->start_ns = wall_clock_ns() + clock_s * 1000000000;
    batch->duration_ns = INTERVAL_NS + n;
    batch->interval_ms = INTERVAL_NS / 1000000;
    must(batch_job(batch, &job, &job_index));
    must(batch_volume(batch, &volume, &volume_index));
    for (unsigned i = 0; i < 2; i++) {
        must(batch_record(batch, job_index, volume_index, NO_INDEX, ops[i], &record));
        must(histogram_add_bucket(&record->latency_ns, 60, 1 + n % (17 + i)));
        must(histogram_add_bucket(&record->size, 80, 1 + n % (17 + i)));
        record->bytes = 4096 * (1 + n % (17 + i));
    }
    return batch;
}

/* --- programs --- */

/* The batch in a file, or NULL. */
static struct batch *read_batch(int directory, const char *name)
{
    static char data[1 << 20];
    _cleanup_close_ int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, data, sizeof(data));
    struct batch *batch;
    struct codec_error error;
    const void *payload;
    size_t size, used;

    if (length <= 0 || frame_next(data, (size_t)length, &payload, &size, &used) != 1 ||
        frame_decode(payload, size, &batch, &error))
        return NULL;
    return batch;
}

static int list(const char *state)
{
    _cleanup_(batch_freep) struct batch *dropped = NULL;
    char path[512];
    DIR *directory;
    const struct dirent *entry;

    snprintf(path, sizeof(path), "%s/spool", state);
    directory = opendir(path);
    if (!directory)
        return 0;
    while ((entry = readdir(directory))) {
        _cleanup_(batch_freep) struct batch *batch = NULL;

        if (strspn(entry->d_name, "0123456789") == 20)
            batch = read_batch(dirfd(directory), entry->d_name);
        if (batch)
            printf("%s %" PRIu64 "\n", entry->d_name, batch->duration_ns - INTERVAL_NS);
    }
    dropped = read_batch(dirfd(directory), "../dropped");
    for (uint32_t i = 0; dropped && i < dropped->coverage.dropped_count; i++) {
        const struct dropped *range = &dropped->coverage.dropped[i];

        printf("dropped %s %" PRIu64 " %" PRIu64 "\n", range->stream, range->first, range->last);
    }
    closedir(directory);
    return 0;
}

static volatile sig_atomic_t stopping;

static void stop(int number)
{
    stopping = number;
}

static void note(int account, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void note(int account, const char *format, ...)
{
    char line[128];
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    if (__real_write(account, line, (size_t)length) != length)
        must(-EIO);
}

static void feed(char **argv, struct spool *spool, struct push *push, int account)
{
    int64_t nudge = getenv("PATIENT") ? INT64_MAX : 0, pause_ms = atoll(argv[7]);
    uint64_t n = strtoull(argv[6], NULL, 10);

    while (!stopping) {
        if (pause_ms) {
            struct batch *batch = make(argv[4], n, atoll(argv[9]));
            int err;

            note(account, "begin %" PRIu64 "\n", n);
            do {
                err = spool_append(spool, batch);
                if (err)
                    usleep(20000); /* as an agent keeps its counts */
            } while (err && !stopping);
            if (!err)
                note(account, "done %" PRIu64 " %s %" PRIu64 "\n", n, batch->stream, batch->seq);
            batch_free(batch);
            n++;
            push_wake(push, false);
        }
        if (monotonic_ms() > nudge) {
            push_wake(push, true);
            nudge = monotonic_ms() + NUDGE_MS;
        }
        usleep(pause_ms ? (unsigned)pause_ms * 1000 : 20000);
    }
}

int main(int argc, char **argv)
{
    struct push_options options = {0};
    struct spool *spool;
    struct push *push;
    int account;

    log_program("feeder");
    if (argc == 2)
        return list(argv[1]);
    if (argc != 10)
        return 2;
    grave = getenv("GRAVE");
    signal(SIGTERM, stop);
    signal(SIGPIPE, SIG_IGN);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    account = open(argv[5], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (account < 0)
        must(-errno);
    must(spool_open(argv[1], strtoull(argv[8], NULL, 10), &spool));
    options.url = argv[2];
    options.token_file = argv[3];
    must(push_start(&options, spool, &push));
    feed(argv, spool, push, account);
    push_stop(push, 1000);
    spool_close(spool);
    return 0;
}
