/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The user behind sudo, as sudo names him. False when there is none. */
static int sudo_user(uid_t *uid, gid_t *gid)
{
    const char *user = getenv("SUDO_UID"), *group = getenv("SUDO_GID");

    if (geteuid() != 0 || !user || !group)
        return 0;
    *uid = (uid_t)strtoul(user, NULL, 10);
    *gid = (gid_t)strtoul(group, NULL, 10);
    return *uid != 0;
}

static int drop_rights(void)
{
    const char *name = getenv("SUDO_USER");
    uid_t uid;
    gid_t gid;

    if (!sudo_user(&uid, &gid))
        return 0;
    if ((name ? initgroups(name, gid) : setgroups(0, NULL)) || setgid(gid) || setuid(uid))
        return -errno;
    return 0;
}

/* In the child: everything that would count as I/O is done before the gate opens. */
static void wait_and_run(char **argv, int gate, int result)
{
    sigset_t none;
    char go = 0;
    int err = drop_rights();

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGXFSZ, SIG_DFL); /* the recorder ignores it for its own file's sake */
    if (read(gate, &go, 1) != 1)
        _exit(0);
    if (!err) {
        execvp(argv[0], argv);
        err = -errno;
    }
    if (write(result, &err, sizeof(err)) < 0)
        _exit(126);
    _exit(127);
}

int launch_prepare(char **argv, struct launch *launch)
{
    int gate[2], result[2];
    pid_t pid;

    if (pipe2(gate, O_CLOEXEC))
        return -errno;
    if (pipe2(result, O_CLOEXEC)) {
        close(gate[0]);
        close(gate[1]);
        return -errno;
    }
    pid = fork();
    if (pid == 0) {
        close(gate[1]);
        close(result[0]);
        wait_and_run(argv, gate[0], result[1]);
    }
    close(gate[0]);
    close(result[1]);
    if (pid < 0) {
        close(gate[1]);
        close(result[0]);
        return -errno;
    }
    *launch = (struct launch){.pid = pid, .gate = gate[1], .result = result[0]};
    return 0;
}

int launch_go(struct launch *launch)
{
    int err = 0;

    if (write(launch->gate, "g", 1) != 1)
        err = -errno;
    close(launch->gate);
    /* The exec closes the pipe; only a failure says something. */
    if (!err && read(launch->result, &err, sizeof(err)) < (ssize_t)sizeof(err))
        err = 0;
    close(launch->result);
    if (err)
        waitpid(launch->pid, NULL, 0);
    return err;
}

void launch_abandon(struct launch *launch)
{
    close(launch->gate);
    close(launch->result);
    waitpid(launch->pid, NULL, 0);
}

int launch_status(int wait_status)
{
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}
