/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/record_run.h"

#include <errno.h>
#include <libgen.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyzer/human.h"
#include "analyzer/launch.h"
#include "analyzer/recorder.h"
#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/recording.h"
#include "lib/utf8.h"
#include "probe/finder.h"

/* How often to look whether the last descendant has gone, once the command itself has. */
#define LINGER_MS 20

struct session {
    const struct record_options *options;
    struct outward outward;
    struct recorder *recorder;
    struct recording_writer *writer;
    int signals;
    bool launched;     /* a command runs, or has run */
    bool command_ended, interrupted;
    pid_t pid;
    int status;        /* the command's, as a shell gives it */
    int64_t started_ns, deadline_ns; /* monotonic; 0: no deadline */
    uint64_t ops, bytes;
};

/* What has been seen so far, on the terminal only and on one line. */
static void show_seen(const struct session *session)
{
    char bytes[HUMAN_SIZE], ops[HUMAN_SIZE];

    if (!isatty(STDERR_FILENO))
        return;
    fprintf(stderr, "\r\033[Krecording %lld s: %s operations, %s%s",
            (long long)((monotonic_ns() - session->started_ns) / 1000000000),
            human_count(ops, session->ops), human_bytes(bytes, (double)session->bytes),
            session->launched ? "" : " (Ctrl-C ends it)");
}

static void add_seen(struct session *session, const struct batch *batch)
{
    for (uint32_t i = 0; i < batch->record_count; i++) {
        const struct record *record = &batch->records[i];

        if (operation_is_file(record->op)) {
            session->ops += record_ops(record);
            session->bytes += record->bytes;
        }
    }
}

static int write_batch(struct session *session, struct batch *batch)
{
    int err;

    if (!session->options->paths)
        batch_forget_trees(batch); /* an agent's */
    err = session->options->outward.pseudonyms ? outward_apply(&session->outward, batch) : 0;
    if (!err)
        err = recording_write(session->writer, batch);
    add_seen(session, batch);
    show_seen(session);
    batch_free(batch);
    if (err)
        log_error("%s: %s; what was recorded before is intact", session->options->output, log_why(err));
    return err;
}

/* SIGALRM after a time, or again and again. */
static void tick(uint64_t ns, bool repeat)
{
    struct itimerval timer = {.it_value = {.tv_sec = (time_t)(ns / 1000000000),
                                           .tv_usec = (suseconds_t)(ns % 1000000000 / 1000)}};

    if (repeat)
        timer.it_interval = timer.it_value;
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* The command's end, an interrupt, or a request to stop. */
static void handle_signal(struct session *session)
{
    struct signalfd_siginfo info;
    int status;

    if (read(session->signals, &info, sizeof(info)) != sizeof(info))
        return;
    if (info.ssi_signo == SIGCHLD) {
        if (session->launched && !session->command_ended &&
            waitpid(session->pid, &status, WNOHANG) == session->pid) {
            session->command_ended = true;
            session->status = launch_status(status);
            tick(LINGER_MS * 1000000ull, true);
        }
    } else if (info.ssi_signo == SIGALRM) {
        return; /* time to look whether it is over */
    } else if (session->launched && !session->command_ended) {
        /* The terminal has sent SIGINT to the command as well; others are passed on. */
        if (info.ssi_signo != SIGINT)
            kill(session->pid, (int)info.ssi_signo);
    } else {
        session->interrupted = true;
    }
}

static bool is_over(struct session *session)
{
    if (session->interrupted)
        return true;
    if (session->deadline_ns && monotonic_ns() >= session->deadline_ns)
        return true;
    return session->launched && session->command_ended &&
           !session->recorder->living(session->recorder);
}

/* Waits for a batch or a signal and deals with it. */
static int step(struct session *session)
{
    struct batch *batch = NULL;
    int got = session->recorder->next(session->recorder, session->signals, &batch);

    if (got == 1)
        return write_batch(session, batch);
    if (got == 0)
        handle_signal(session);
    return got;
}

static int finish(struct session *session)
{
    bool running = session->launched && !session->command_ended;
    int got;

    do {
        struct batch *batch = NULL;

        got = session->recorder->finish(session->recorder, running ? RECORDER_RUNNING : session->status, &batch);
        if (got == 1) {
            int err = write_batch(session, batch);

            if (err)
                return err;
        }
    } while (got == 1);
    return got;
}

static int open_signals(struct session *session)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGALRM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGXFSZ, SIG_IGN);
    session->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return session->signals < 0 ? -errno : 0;
}

/* Under sudo the recording belongs to whoever called it; what was there before, a device say, keeps its owner. */
static void give_to_caller(const struct session *session)
{
    const char *uid = getenv("SUDO_UID"), *gid = getenv("SUDO_GID");

    if (recording_is_new(session->writer) && geteuid() == 0 && uid && gid &&
        fchown(recording_fd(session->writer), (uid_t)strtoul(uid, NULL, 10),
               (gid_t)strtoul(gid, NULL, 10)))
        log_warning("%s: %s: it stays root's", session->options->output, strerror(errno));
}

/* Starts the command under a job of its own. 0, or an exit status. */
static int launch(struct session *session, char **argv)
{
    const char *sudo_user = getenv("SUDO_USER");
    const struct passwd *user = getpwuid(getuid());
    _cleanup_free_ char *copy = strdup(argv[0]), *name = NULL;
    struct launch child;
    struct job job = {.kind = "command", .exit = -1, .start_ns = wall_clock_ns()};
    int err;

    if (!copy)
        return 1;
    utf8_one_line(copy); /* as the names that an agent finds itself, and as it wants them */
    if (session->options->job)
        job.name = session->options->job;
    else if (!finder_own_job(session->options->job_env, &job.kind, &job.name))
        job.name = basename(copy);
    name = strdup(job.name); /* basename() has its text in a place of its own */
    if (!name)
        return 1;
    utf8_one_line(name);
    utf8_cut(name, FINDER_JOB_MAX);
    job.name = name;
    job.command = basename(copy);
    job.user = geteuid() == 0 && sudo_user ? sudo_user : user ? user->pw_name : NULL;
    err = launch_prepare(argv, &child);
    if (err) {
        log_error("cannot start %s: %s", argv[0], log_why(err));
        return 1;
    }
    err = session->recorder->adopt(session->recorder, child.pid, &job);
    if (err) {
        launch_abandon(&child);
        return 1;
    }
    session->pid = child.pid;
    err = launch_go(&child);
    if (err) {
        log_error("cannot run %s: %s", argv[0], log_why(err));
        return err == -ENOENT ? 127 : 126;
    }
    session->launched = true;
    return 0;
}

static int run(struct session *session, char **argv)
{
    int status = *argv ? launch(session, argv) : 0, err = 0;

    if (status)
        return status;
    session->started_ns = monotonic_ns();
    show_seen(session); /* attaching took a moment: what is done from now on is recorded */
    if (session->options->duration_ns) {
        session->deadline_ns = session->started_ns + (int64_t)session->options->duration_ns;
        tick(session->options->duration_ns, false);
    }
    while (!err && !is_over(session))
        err = step(session);
    if (!err)
        err = finish(session);
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K");
    if (session->launched && !session->command_ended) {
        waitpid(session->pid, &status, 0);
        session->status = launch_status(status);
    }
    return err ? 1 : session->status;
}

int record_run(const struct record_options *options, char **argv)
{
    const struct recorder_options recorder = {
        .all = options->all || !*argv,
        .pseudo = options->pseudo,
        .interval_ns = options->interval_ns,
        .kernel_memory = options->kernel_memory,
        .max_cost = options->max_cost,
        .burst_factor = options->burst_factor,
        .flavours = options->flavours,
        .root = options->root,
        .job_env = options->job_env,
        .pod_labels = options->pod_labels,
        .own_job = getenv("UNBLEND_JOB"),
        .platform_metrics = options->platform_metrics,
        .tree_depth = options->paths ? (unsigned)options->tree_depth : 0,
    };
    struct session session = {.options = options, .signals = -1};
    bool use_agent = options->agent != NULL;
    int status = 1, err;

    err = outward_new(&options->outward, &session.outward);
    if (err)
        return err == -EINVAL ? 2 : 1;
    err = use_agent ? recorder_agent(options->agent, &recorder, &session.recorder)
                    : recorder_local(&recorder, &session.recorder);
    if (!err)
        err = open_signals(&session);
    if (!err) {
        err = recording_create(options->output, &session.writer);
        if (err)
            log_error("%s: %s: give -o a file that can be written", options->output, log_errno(err));
    }
    if (!err) {
        give_to_caller(&session);
        status = run(&session, argv);
        err = recording_close(session.writer);
        if (err)
            log_error("%s: %s", options->output, log_why(err));
        if (err && !status)
            status = 1;
    }
    if (session.recorder)
        session.recorder->free(session.recorder);
    if (session.signals >= 0)
        close(session.signals);
    return status;
}
