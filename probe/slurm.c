/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/slurm.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/log.h"

#define WAITING_MAX 4096
#define PATIENCE_NS 10000000000LL

struct question {
    char job[32];
    uint32_t tag;
};

struct slurm {
    struct question *waiting;
    unsigned count;
    struct question asked;
    pid_t pid; /* of squeue; 0 when none runs */
    int output;
    int64_t since_ns;
    char text[1024];
    size_t used;
    bool absent; /* there is no squeue here */
};

int slurm_new(struct slurm **out)
{
    struct slurm *slurm = calloc(1, sizeof(*slurm));

    if (!slurm)
        return -ENOMEM;
    slurm->output = -1;
    *out = slurm;
    return 0;
}

static void stop(struct slurm *slurm)
{
    if (slurm->output >= 0)
        close(slurm->output);
    slurm->output = -1;
    if (slurm->pid) {
        kill(slurm->pid, SIGKILL);
        waitpid(slurm->pid, NULL, 0);
    }
    slurm->pid = 0;
    slurm->used = 0;
}

void slurm_free(struct slurm *slurm)
{
    if (!slurm)
        return;
    stop(slurm);
    free(slurm->waiting);
    free(slurm);
}

void slurm_ask(struct slurm *slurm, const char *job, uint32_t tag)
{
    struct question *grown;

    if (slurm->absent || slurm->count == WAITING_MAX || strlen(job) >= sizeof(grown->job) ||
        strspn(job, "0123456789") != strlen(job))
        return;
    grown = reallocarray(slurm->waiting, slurm->count + 1, sizeof(*grown));
    if (!grown)
        return; /* the job goes without */
    slurm->waiting = grown;
    grown += slurm->count++;
    snprintf(grown->job, sizeof(grown->job), "%s", job);
    grown->tag = tag;
}

static int spawn(struct slurm *slurm, int output)
{
    /* Jobs that have ended meanwhile, too: the controller knows them for some minutes. */
    char *argv[] = {"squeue", "--noheader", "--states=all", "--format=%a|%P|%u", "--jobs", slurm->asked.job, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    int err;

    sigemptyset(&none);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    err = posix_spawnp(&slurm->pid, argv[0], &actions, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (err)
        slurm->pid = 0;
    return -err;
}

static void ask_next(struct slurm *slurm)
{
    int ends[2], err;

    if (!slurm->count || pipe2(ends, O_CLOEXEC))
        return;
    slurm->asked = slurm->waiting[0];
    memmove(slurm->waiting, slurm->waiting + 1, --slurm->count * sizeof(*slurm->waiting));
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    err = spawn(slurm, ends[1]);
    close(ends[1]);
    slurm->output = ends[0];
    slurm->since_ns = monotonic_ns();
    if (!err)
        return;
    log_debug("squeue: %s: Slurm jobs go without account and partition", log_errno(err));
    slurm->absent = true;
    slurm->count = 0;
    stop(slurm);
}

bool slurm_parse(char *line, struct slurm_answer *answer)
{
    const char *fields[3];

    line[strcspn(line, "\n")] = '\0';
    for (int i = 0; i < 3; i++) {
        fields[i] = strsep(&line, "|");
        if (!fields[i])
            return false;
    }
    if (line)
        return false;
    snprintf(answer->account, sizeof(answer->account), "%s", fields[0]);
    snprintf(answer->partition, sizeof(answer->partition), "%s", fields[1]);
    snprintf(answer->user, sizeof(answer->user), "%s", fields[2]);
    return true;
}

bool slurm_poll(struct slurm *slurm, struct slurm_answer *answer)
{
    ssize_t got;
    bool told;

    if (!slurm->pid) {
        ask_next(slurm);
        return false;
    }
    while ((got = read(slurm->output, slurm->text + slurm->used, sizeof(slurm->text) - 1 - slurm->used)) > 0)
        slurm->used += (size_t)got;
    if (got < 0 && errno == EAGAIN) {
        if (monotonic_ns() - slurm->since_ns > PATIENCE_NS)
            stop(slurm); /* this job goes without */
        return false;
    }
    slurm->text[slurm->used] = '\0';
    answer->tag = slurm->asked.tag;
    told = slurm_parse(slurm->text, answer);
    stop(slurm);
    return told;
}
