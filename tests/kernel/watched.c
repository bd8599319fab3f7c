/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/kernel/watched.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum task { TASK_BEGIN, TASK_PREPARE, TASK_FIRE };

struct order {
    enum task task;
    enum crew crew;
    unsigned call;
    char directory[128];
};

struct reply {
    int err;
    pid_t pid;
    struct outcome outcome;
};

/* In the watched process. Sockets carry everything: what goes through them is no storage operation. */
static struct {
    struct order order;
    struct reply replies[WORKERS];
    pthread_barrier_t start, end;
} crew;

static void work(unsigned number)
{
    const struct call *call = &calls[crew.order.call];
    struct reply *reply = &crew.replies[number];

    *reply = (struct reply){.pid = getpid()};
    switch (crew.order.task) {
    case TASK_BEGIN:
        reply->err = worker_place(crew.order.directory, number);
        break;
    case TASK_PREPARE:
        reply->err = worker_prepare(call);
        break;
    case TASK_FIRE:
        reply->outcome = worker_fire(call);
        break;
    }
}

static void *thread(void *number)
{
    for (;;) {
        pthread_barrier_wait(&crew.start);
        work((unsigned)(uintptr_t)number);
        pthread_barrier_wait(&crew.end);
    }
    return NULL;
}

/* One worker, in a process that is over when this returns. */
static void work_in_child(int socket)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        work(0);
        _exit(send(socket, &crew.replies[0], sizeof(crew.replies[0]), 0) < 0);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status) {
        struct reply reply = {.err = pid < 0 ? -errno : -ECHILD};

        send(socket, &reply, sizeof(reply), 0);
    }
}

static struct reply together(void)
{
    struct reply all = crew.replies[0];

    for (unsigned i = 1; i < WORKERS; i++) {
        const struct reply *reply = &crew.replies[i];

        all.err = all.err ? all.err : reply->err;
        all.outcome.failed += reply->outcome.failed;
        all.outcome.bytes += reply->outcome.bytes;
        if (reply->outcome.surprised) {
            all.outcome.surprised = true;
            all.outcome.unexpected = reply->outcome.unexpected;
        }
    }
    return all;
}

static void obey(int socket)
{
    while (recv(socket, &crew.order, sizeof(crew.order), 0) == sizeof(crew.order)) {
        struct reply reply;

        if (crew.order.task == TASK_FIRE && crew.order.crew == CREW_CHILD) {
            work_in_child(socket);
            continue;
        }
        if (crew.order.task == TASK_PREPARE && crew.order.crew == CREW_CHILD) {
            work(0);
            reply = crew.replies[0];
        } else {
            pthread_barrier_wait(&crew.start);
            work(0);
            pthread_barrier_wait(&crew.end);
            reply = together();
        }
        send(socket, &reply, sizeof(reply), 0);
    }
}

static int watch_me(int socket)
{
    char go;

    if (recv(socket, &go, 1, 0) != 1)
        return 1;
    pthread_barrier_init(&crew.start, NULL, WORKERS);
    pthread_barrier_init(&crew.end, NULL, WORKERS);
    for (uintptr_t i = 1; i < WORKERS; i++) {
        pthread_t id;

        if (pthread_create(&id, NULL, thread, (void *)i))
            return 1;
    }
    obey(socket);
    return 0;
}

int watched_start(struct watched *watched)
{
    int ends[2];
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
        return -errno;
    fflush(NULL);
    pid = fork();
    if (pid < 0)
        return -errno;
    if (pid == 0) {
        close(ends[0]);
        _exit(watch_me(ends[1]));
    }
    close(ends[1]);
    *watched = (struct watched){.pid = pid, .socket = ends[0]};
    return 0;
}

static int give(struct watched *watched, const struct order *order, struct reply *reply)
{
    if (send(watched->socket, order, sizeof(*order), MSG_NOSIGNAL) < 0)
        return -errno;
    if (recv(watched->socket, reply, sizeof(*reply), 0) != sizeof(*reply))
        return -EPIPE;
    return reply->err;
}

int watched_begin(struct watched *watched, const char *directory)
{
    struct order order = {.task = TASK_BEGIN};
    struct reply reply;

    snprintf(order.directory, sizeof(order.directory), "%s", directory);
    if (send(watched->socket, "g", 1, MSG_NOSIGNAL) < 0)
        return -errno;
    return give(watched, &order, &reply);
}

static struct order order_for(enum task task, const struct call *call, enum crew who)
{
    return (struct order){.task = task, .crew = who, .call = (unsigned)(call - calls)};
}

int watched_prepare(struct watched *watched, const struct call *call, enum crew who)
{
    struct order order = order_for(TASK_PREPARE, call, who);
    struct reply reply;

    return give(watched, &order, &reply);
}

int watched_fire(struct watched *watched, const struct call *call, enum crew who,
                 struct outcome *outcome, pid_t *pid)
{
    struct order order = order_for(TASK_FIRE, call, who);
    struct reply reply = {0};
    int err = give(watched, &order, &reply);

    if (err)
        return err;
    *outcome = reply.outcome;
    *pid = reply.pid;
    return 0;
}

void watched_end(struct watched *watched)
{
    close(watched->socket);
    waitpid(watched->pid, NULL, 0);
}
