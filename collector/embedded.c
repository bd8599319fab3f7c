/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/embedded.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collector/cluster.h"
#include "lib/cleanup.h"
#include "lib/log.h"

#define STOP_S 60 /* for a fast shutdown, then an immediate one */

struct embedded {
    char directory[PATH_MAX];
    char sockets[PATH_MAX]; /* "": in directory */
    char data[PATH_MAX];
    char bin[PATH_MAX];
    int lock;
    pid_t pid;    /* of the server; 0 when it is not running */
    bool is_ours; /* our child: waited for; an adopted one is asked after */
    bool said;    /* that it died; once each time */
};

static void pause_ms(long ms)
{
    const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    nanosleep(&time, NULL);
}

int embedded_prepare(const char *directory, unsigned uid, unsigned gid)
{
    struct stat status = {0};
    int err = 0;

    if ((mkdir(directory, 0750) && errno != EEXIST) || stat(directory, &status))
        err = -errno;
    else if (!S_ISDIR(status.st_mode))
        err = -ENOTDIR;
    if (!err && uid != (unsigned)-1 && status.st_uid != uid && chown(directory, uid, gid))
        err = -errno;
    if (err)
        log_error("cannot use %s for the database: %s: choose another --embedded directory",
                  directory, log_errno(err));
    return err;
}

char *embedded_conninfo(const char *directory)
{
    _cleanup_free_ char *path = realpath(directory, NULL);
    char *text;

    if (asprintf(&text, "host=%s port=5432 dbname=unblend user=" CLUSTER_USER,
                 path ? path : directory) < 0)
        return NULL;
    return text;
}

/* The lock dies with us, however we die; the server does not inherit it. */
static int take_lock(struct embedded *embedded, unsigned wait_s)
{
    char path[PATH_MAX + 8];

    snprintf(path, sizeof(path), "%s/lock", embedded->directory);
    embedded->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (embedded->lock < 0) {
        int err = -errno;

        log_error(
            "cannot use %s for the database: %s: its owner and the directories above must let this "
            "user in",
            embedded->directory, log_errno(err));
        return err;
    }
    for (unsigned i = 0; flock(embedded->lock, LOCK_EX | LOCK_NB); i++) {
        if (i == wait_s * 10)
            return -EBUSY;
        pause_ms(100);
    }
    return 0;
}

/* libpq follows the link. */
static int link_socket(const struct embedded *embedded)
{
    char target[PATH_MAX + 32], link[PATH_MAX + 32];

    if (!*embedded->sockets)
        return 0;
    snprintf(target, sizeof(target), "%s/.s.PGSQL.5432", embedded->sockets);
    snprintf(link, sizeof(link), "%s/.s.PGSQL.5432", embedded->directory);
    if ((unlink(link) && errno != ENOENT) || symlink(target, link)) {
        int err = -errno;

        log_error("cannot link the socket as %s: %s", link, log_errno(err));
        return err;
    }
    return 0;
}

static int start_server(struct embedded *embedded)
{
    int err;

    embedded->pid = cluster_server(embedded->data);
    embedded->is_ours = !embedded->pid;
    if (embedded->pid) {
        log_info("took over the PostgreSQL server that runs in %s (pid %d)", embedded->data,
                 (int)embedded->pid);
        return 0;
    }
    cluster_forget(embedded->data);
    err = link_socket(embedded);
    if (err)
        return err;
    return cluster_start(embedded->bin, embedded->data,
                         *embedded->sockets ? embedded->sockets : embedded->directory,
                         &embedded->pid);
}

static int prepare(struct embedded *embedded, const char *directory, unsigned wait_s)
{
    _cleanup_free_ char *path = realpath(directory, NULL);
    int err;

    if (!path || strlen(path) > PATH_MAX - 64) {
        err = path ? -ENAMETOOLONG : -errno;
        log_error("cannot use %s for the database: %s: choose another --embedded directory",
                  directory, log_errno(err));
        return err;
    }
    if (strpbrk(path, " \t\n'\\")) {
        log_error("cannot use %s for the database: blanks, quotes and backslashes do not go into a "
                  "conninfo: "
                  "choose another --embedded directory",
                  path);
        return -EINVAL;
    }
    if (strlen(path) + sizeof("/.s.PGSQL.5432.lock") >
        sizeof(((struct sockaddr_un *)0)->sun_path)) {
        log_error("cannot use %s for the database: its name is too long for a socket: choose a "
                  "shorter one",
                  path);
        return -ENAMETOOLONG;
    }
    strcpy(embedded->directory, path);
    snprintf(embedded->data, sizeof(embedded->data), "%s/data", path);
    err = take_lock(embedded, wait_s);
    if (!err)
        err = cluster_programs(embedded->data, embedded->bin);
    return err;
}

int embedded_start(const char *directory, const char *sockets, unsigned wait_s,
                   struct embedded **out)
{
    struct embedded *embedded = calloc(1, sizeof(*embedded));
    int err;

    if (!embedded)
        return -ENOMEM;
    embedded->lock = -1;
    if (sockets && strlen(sockets) < sizeof(embedded->sockets))
        strcpy(embedded->sockets, sockets);
    err = prepare(embedded, directory, wait_s);
    if (!err && !cluster_exists(embedded->data))
        err = cluster_create(embedded->bin, embedded->data);
    if (!err)
        err = start_server(embedded);
    if (err) {
        cleanup_close(&embedded->lock);
        free(embedded);
        return err;
    }
    *out = embedded;
    return 0;
}

static bool is_running(struct embedded *embedded)
{
    if (!embedded->pid)
        return false;
    if (embedded->is_ours)
        return waitpid(embedded->pid, NULL, WNOHANG) == 0;
    return kill(embedded->pid, 0) == 0 && cluster_server(embedded->data) == embedded->pid;
}

void embedded_watch(struct embedded *embedded)
{
    if (is_running(embedded)) {
        embedded->said = false;
        return;
    }
    if (!embedded->said)
        log_warning("PostgreSQL has ended unasked, it is started again: see %s/log",
                    embedded->data);
    embedded->said = true;
    embedded->pid = 0;
    start_server(embedded);
}

void embedded_stop(struct embedded *embedded)
{
    if (!embedded)
        return;
    if (is_running(embedded)) {
        kill(embedded->pid, SIGINT);
        for (unsigned i = 0; i < STOP_S * 20 && is_running(embedded); i++)
            pause_ms(50);
        if (is_running(embedded)) {
            log_warning(
                "PostgreSQL does not stop in %d s, it is ended the hard way; it will recover",
                STOP_S);
            kill(embedded->pid, SIGQUIT);
            for (unsigned i = 0; i < STOP_S * 20 && is_running(embedded); i++)
                pause_ms(50);
        }
    }
    cleanup_close(&embedded->lock);
    free(embedded);
}
