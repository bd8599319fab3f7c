/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/progress.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/log.h"
#include "lib/thread.h"

#define FIRST_NS 2000000000ll
#define NEXT_NS  500000000ll

struct progress {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t stopped;
    bool over;
    double share;
    int64_t start_ns;
    size_t drawn; /* columns on the terminal */
    struct sigaction before; /* of SIGINT */
};

static volatile sig_atomic_t line_stands; /* on the terminal */

void progress_text(char line[PROGRESS_WIDTH], double share, unsigned seconds)
{
    char elapsed[16];

    snprintf(elapsed, sizeof(elapsed), "%u:%02u", seconds / 60, seconds % 60);
    if (isnan(share))
        snprintf(line, PROGRESS_WIDTH, "reading, %s", elapsed);
    else if (share >= 1)
        snprintf(line, PROGRESS_WIDTH, "100 %% read, adding up, %s", elapsed);
    else
        snprintf(line, PROGRESS_WIDTH, "%u %% read, %s", (unsigned)(100 * fmax(share, 0)), elapsed);
}

/* Writing from the background would stop the program, or spoil what somebody is typing. */
static bool is_ours(void)
{
    pid_t foreground = tcgetpgrp(STDERR_FILENO);

    return foreground < 0 || foreground == getpgrp();
}

/* Over what stands there, padded with blanks, which every terminal knows; the cursor waits at the line's beginning. */
static void draw(struct progress *p, const char *line)
{
    size_t length = strlen(line), columns = length > p->drawn ? length : p->drawn;
    char out[PROGRESS_WIDTH + 8];
    struct winsize size;
    int written;

    if (!is_ours())
        return;
    if (!ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col && columns >= size.ws_col)
        columns = size.ws_col - 1u;
    written = snprintf(out, sizeof(out), "\r%-*.*s\r", (int)columns, (int)columns, line);
    if (write(STDERR_FILENO, out, (size_t)written) < 0)
        return; /* nobody looks any more */
    p->drawn = length;
    line_stands = length > 0;
}

/* Ends the program as if nobody had looked at the signal, and leaves no line behind. */
static void interrupted(int signal_number)
{
    static const char blank[] = "\r                                        \r";

    static_assert(sizeof(blank) > PROGRESS_WIDTH, "covers the line and what the terminal shows for the key");
    if (line_stands && write(STDERR_FILENO, blank, sizeof(blank) - 1) < 0)
        line_stands = 0;
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* Whoever has asked to be spared, is. */
static void heed_interrupts(struct progress *p)
{
    const struct sigaction action = {.sa_handler = interrupted};

    if (!sigaction(SIGINT, NULL, &p->before) && p->before.sa_handler == SIG_DFL)
        sigaction(SIGINT, &action, NULL);
}

static void *work(void *data)
{
    struct progress *p = data;
    int64_t next_ns = p->start_ns + FIRST_NS;

    pthread_mutex_lock(&p->lock);
    while (!p->over) {
        const struct timespec until = {next_ns / 1000000000, next_ns % 1000000000};
        char line[PROGRESS_WIDTH];

        if (pthread_cond_timedwait(&p->stopped, &p->lock, &until) != ETIMEDOUT)
            continue;
        progress_text(line, p->share, (unsigned)((monotonic_ns() - p->start_ns) / 1000000000));
        draw(p, line);
        next_ns = monotonic_ns() + NEXT_NS;
    }
    if (p->drawn)
        draw(p, "");
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static void clear(struct progress *p)
{
    pthread_cond_destroy(&p->stopped);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

struct progress *progress_start(void)
{
    struct progress *p = isatty(STDERR_FILENO) ? calloc(1, sizeof(*p)) : NULL;

    if (!p)
        return NULL;
    p->start_ns = monotonic_ns();
    p->share = NAN;
    pthread_mutex_init(&p->lock, NULL);
    thread_condition(&p->stopped);
    if (thread_start(&p->thread, work, p)) {
        clear(p);
        return NULL;
    }
    heed_interrupts(p);
    return p;
}

void progress_stop(struct progress *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->over = true;
    pthread_cond_signal(&p->stopped);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    sigaction(SIGINT, &p->before, NULL);
    clear(p);
}

void progress_share(struct progress *p, double share)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->share = share;
    pthread_mutex_unlock(&p->lock);
}

struct watched {
    struct source source; /* first */
    struct source *from;
    struct progress *progress;
};

static int watched_next(struct source *source, struct batch **out)
{
    struct watched *watched = (struct watched *)source;
    int got = watched->from->next(watched->from, out);

    progress_share(watched->progress, got != 1              ? 1
                                      : watched->from->share ? watched->from->share(watched->from)
                                                             : NAN);
    return got;
}

static void watched_free(struct source *source)
{
    struct watched *watched = (struct watched *)source;

    watched->from->free(watched->from);
    free(watched);
}

int progress_watch(struct progress *progress, struct source **source)
{
    struct watched *watched;

    if (!progress)
        return 0;
    watched = calloc(1, sizeof(*watched));
    if (!watched) {
        log_error("cannot read: %s", log_why(-ENOMEM));
        return -ENOMEM;
    }
    *watched = (struct watched){{.next = watched_next, .free = watched_free}, *source, progress};
    *source = &watched->source;
    progress_share(progress, NAN);
    return 0;
}
