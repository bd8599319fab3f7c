/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/top/threads.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/clock.h"

#define THREADS_MAX 512 /* that are looked at; each takes two files to be read */

static int read_text(uint32_t pid, uint32_t tid, const char *name, char *text, size_t size)
{
    char path[96];
    _cleanup_close_ int fd = -1;
    ssize_t got;

    snprintf(path, sizeof(path), "/proc/%u/task/%u/%s", pid, tid, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    got = fd < 0 ? -1 : read(fd, text, size - 1);
    if (got < 0)
        return -errno;
    text[got] = '\0';
    return 0;
}

/* "12 (a name) S ...": the name may hold anything, so the last parenthesis counts. */
static int read_name(uint32_t pid, struct thread_seen *thread)
{
    char text[512];
    int err = read_text(pid, thread->tid, "stat", text, sizeof(text));
    const char *begin, *end;

    if (err)
        return err;
    begin = strchr(text, '(');
    end = strrchr(text, ')');
    if (!begin || !end || end < begin || end[1] != ' ')
        return -EBADMSG;
    snprintf(thread->name, sizeof(thread->name), "%.*s", (int)(end - begin - 1), begin + 1);
    thread->state = end[2];
    return 0;
}

static int read_counts(uint32_t pid, struct thread_seen *thread)
{
    char text[512];
    int err = read_text(pid, thread->tid, "io", text, sizeof(text));
    uint64_t *c = thread->counts;

    if (err)
        return err;
    return sscanf(text, "rchar: %" SCNu64 " wchar: %" SCNu64 " syscr: %" SCNu64 " syscw: %" SCNu64,
                  &c[THREAD_READ_BYTES], &c[THREAD_WRITTEN_BYTES], &c[THREAD_READS], &c[THREAD_WRITES]) == 4
               ? 0
               : -EBADMSG;
}

static void make_rates(const struct threads *threads, struct thread_seen *thread)
{
    for (uint32_t i = 0; threads->seconds > 0 && i < threads->count; i++) {
        const struct thread_seen *before = &threads->at[i];

        for (unsigned k = 0; before->tid == thread->tid && k < THREAD_COUNTS; k++)
            if (thread->counts[k] >= before->counts[k])
                thread->rates[k] = (double)(thread->counts[k] - before->counts[k]) / threads->seconds;
    }
}

static int by_rate(const void *a, const void *b)
{
    const struct thread_seen *x = a, *y = b;
    double p = x->rates[THREAD_READS] + x->rates[THREAD_WRITES], q = y->rates[THREAD_READS] + y->rates[THREAD_WRITES];

    return p != q ? (p < q) - (p > q) : (x->tid > y->tid) - (x->tid < y->tid);
}

int threads_look(struct threads *threads)
{
    _cleanup_free_ struct thread_seen *seen = calloc(THREADS_MAX, sizeof(*seen));
    const struct dirent *entry;
    int64_t now = monotonic_ns();
    uint32_t count = 0;
    char path[64];
    DIR *dir;

    if (!seen)
        return -ENOMEM;
    snprintf(path, sizeof(path), "/proc/%u/task", threads->pid);
    dir = opendir(path);
    threads->err = dir ? 0 : -errno;
    threads->left = 0;
    threads->seconds = threads->ns ? (double)(now - threads->ns) / 1e9 : 0;
    while (dir && (entry = readdir(dir))) {
        struct thread_seen thread = {.tid = (uint32_t)strtoul(entry->d_name, NULL, 10)};
        int err;

        if (!thread.tid)
            continue;
        if (count == THREADS_MAX) {
            threads->left++;
            continue;
        }
        err = read_name(threads->pid, &thread);
        if (!err)
            err = read_counts(threads->pid, &thread);
        if (err == -EACCES || err == -EPERM)
            threads->err = err; /* somebody else's; one that has ended meanwhile is none any more */
        if (err)
            continue;
        make_rates(threads, &thread);
        seen[count++] = thread;
    }
    if (dir)
        closedir(dir);
    qsort(seen, count, sizeof(*seen), by_rate);
    free(threads->at);
    threads->at = take_pointer(seen);
    threads->count = count;
    threads->ns = now;
    return 0;
}

struct threads *threads_new(uint32_t pid)
{
    struct threads *threads = calloc(1, sizeof(*threads));

    if (!threads)
        return NULL;
    threads->pid = pid;
    if (threads_look(threads)) {
        free(threads);
        return NULL;
    }
    return threads;
}

void threads_free(struct threads *threads)
{
    if (threads)
        free(threads->at);
    free(threads);
}
