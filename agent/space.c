/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/space.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/log.h"
#include "probe/mountinfo.h"

#define PERIOD_NS  60000000000LL
#define SOON_NS    5000000000LL /* a volume that is new need not wait a minute */
#define VOLUMES    128          /* that are asked */
#define CHILDREN   8            /* that wait; with more, nobody is asked */
#define MOUNTINFO  "/proc/self/mountinfo"

struct known {
    char *name, *source, *fstype, *mount;
    enum scope scope;
    bool present; /* mounted there, when asked last */
    bool looked_for, asked;
};

struct answer {
    unsigned volume;
    int err;
    struct space space;
};

struct child {
    pid_t pid;
    int fd;
    unsigned order[VOLUMES], count, done; /* what it was told to ask, and how much of that it has */
    bool late;                            /* its next one waits */
};

struct space_watch {
    struct known volumes[VOLUMES];
    unsigned count;
    bool fresh; /* some volume has never been asked */
    int64_t asked_ns;
    struct child children[CHILDREN];
    unsigned child_count;
};

int space_watch_new(struct space_watch **out)
{
    struct space_watch *watch = calloc(1, sizeof(*watch));

    if (!watch)
        return -ENOMEM;
    watch->asked_ns = INT64_MIN / 2;
    *out = watch;
    return 0;
}

static void end_child(struct space_watch *watch, unsigned at)
{
    close(watch->children[at].fd);
    watch->children[at] = watch->children[--watch->child_count];
}

static void known_clear(struct known *known)
{
    free(known->name);
    free(known->source);
    free(known->fstype);
    free(known->mount);
    *known = (struct known){.name = NULL};
}

void space_watch_free(struct space_watch *watch)
{
    if (!watch)
        return;
    while (watch->child_count) {
        kill(watch->children[0].pid, SIGKILL); /* one that cannot die is not waited for */
        waitpid(watch->children[0].pid, NULL, WNOHANG);
        end_child(watch, 0);
    }
    for (unsigned i = 0; i < watch->count; i++)
        known_clear(&watch->volumes[i]);
    free(watch);
}

/* Whether a child still has to ask it. */
static bool is_to_be_asked(const struct space_watch *watch, unsigned volume)
{
    for (unsigned i = 0; i < watch->child_count; i++) {
        const struct child *child = &watch->children[i];

        for (unsigned place = child->done; place < child->count; place++)
            if (child->order[place] == volume)
                return true;
    }
    return false;
}

/* The place of one more, at last that of one that is not mounted any more; NULL: all are. What takes another's place may
   be mounted elsewhere only, as that was: nobody is asked sooner for it. */
static struct known *make_room(struct space_watch *watch)
{
    if (watch->count < VOLUMES) {
        watch->fresh = true;
        return &watch->volumes[watch->count++];
    }
    for (unsigned i = 0; i < VOLUMES; i++) {
        struct known *known = &watch->volumes[i];

        if (!known->looked_for || known->present || is_to_be_asked(watch, i))
            continue;
        known_clear(known);
        return known;
    }
    return NULL;
}

static int learn(struct space_watch *watch, const struct volume *volume)
{
    struct known *known;

    if (!volume->mount_count || !volume->fstype || strcmp(volume->fstype, "block") == 0)
        return 0;
    for (unsigned i = 0; i < watch->count; i++)
        if (watch->volumes[i].name && strcmp(watch->volumes[i].name, volume->name) == 0)
            return 0;
    known = make_room(watch);
    if (!known)
        return 0;
    *known = (struct known){strdup(volume->name), strdup(volume->source ? volume->source : ""), strdup(volume->fstype),
                            strdup(volume->mounts[0]), volume->scope, false, false, false};
    return known->name && known->source && known->fstype && known->mount ? 0 : -ENOMEM;
}

/* The mount point may be another namespace's, and something else in ours. */
static int see_mount(const struct mount *mount, void *context)
{
    struct space_watch *watch = context;

    for (unsigned i = 0; i < watch->count; i++) {
        struct known *known = &watch->volumes[i];

        if (known->mount && known->fstype && strcmp(known->mount, mount->point) == 0) /* the last one is on top */
            known->present = strcmp(known->fstype, mount->fstype) == 0;
    }
    return 0;
}

static bool is_waited_for(const struct space_watch *watch, unsigned volume)
{
    for (unsigned i = 0; i < watch->child_count; i++) {
        const struct child *child = &watch->children[i];

        if (child->done < child->count && child->order[child->done] == volume)
            return true;
    }
    return false;
}

/* A file system may say that more is free than there is: of some servers, by what they reserve. */
static uint64_t used_of(uint64_t all, uint64_t unused)
{
    return all > unused ? all - unused : 0;
}

/* Only what may be done between fork() and exec() in a program with threads. Holds none of the agent's files. */
static void __attribute__((noreturn)) ask(const struct space_watch *watch, const struct child *child, int fd)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGTERM, SIG_DFL);
    if (dup2(fd, 3) < 0 || close_range(4, ~0u, 0))
        _exit(1);
    for (unsigned i = 0; i < child->count; i++) {
        struct answer answer = {.volume = child->order[i]};
        struct statfs s;

        if (statfs(watch->volumes[child->order[i]].mount, &s)) {
            answer.err = errno;
        } else {
            answer.space.used_bytes = used_of(s.f_blocks, s.f_bfree) * (uint64_t)s.f_frsize;
            answer.space.total_bytes = answer.space.used_bytes + (uint64_t)s.f_bavail * (uint64_t)s.f_frsize;
            answer.space.used_files = used_of(s.f_files, s.f_ffree);
            answer.space.total_files = s.f_files;
        }
        if (write(3, &answer, sizeof(answer)) != sizeof(answer))
            _exit(1);
    }
    _exit(0);
}

static void start(struct space_watch *watch)
{
    struct child *child = &watch->children[watch->child_count];
    int ends[2];

    *child = (struct child){.count = 0};
    for (unsigned i = 0; i < watch->count; i++)
        watch->volumes[i].present = false;
    if (mountinfo_read(MOUNTINFO, see_mount, watch))
        return;
    for (unsigned i = 0; i < watch->count; i++)
        watch->volumes[i].looked_for = true;
    for (unsigned i = 0; i < watch->count; i++)
        if (watch->volumes[i].present && !is_waited_for(watch, i))
            child->order[child->count++] = i;
    if (!child->count || pipe2(ends, O_CLOEXEC | O_NONBLOCK))
        return;
    child->pid = fork();
    if (child->pid == 0)
        ask(watch, child, ends[1]);
    close(ends[1]);
    child->fd = ends[0];
    if (child->pid < 0)
        close(ends[0]);
    else
        watch->child_count++;
}

static int take(struct space_watch *watch, struct batch *batch, const struct answer *answer)
{
    struct known *known = &watch->volumes[answer->volume];
    const char *mounts[] = {known->mount};
    const struct volume volume = {
        .name = known->name, .source = known->source, .fstype = known->fstype, .scope = known->scope, .mounts = mounts,
        .mount_count = 1, .has_space = true, .space = answer->space,
    };
    uint32_t index;

    if (answer->err) {
        if (!known->asked)
            log_info("%s: how full it is cannot be asked: %s", known->mount, strerror(answer->err));
        known->asked = true;
        return 0;
    }
    known->asked = true;
    /* some file systems have no size: /proc's kin, and remote ones that do not say */
    return answer->space.total_bytes ? batch_volume(batch, &volume, &index) : 0;
}

/* Reads what a child has said; it is gone when it has said all, or died. */
static int listen_to(struct space_watch *watch, struct batch *batch, unsigned at, bool *gone)
{
    struct child *child = &watch->children[at];
    struct answer answer;
    ssize_t got;
    int err = 0;

    *gone = false;
    while (!err && (got = read(child->fd, &answer, sizeof(answer))) == sizeof(answer)) {
        if (child->late)
            log_info("%s answers again", watch->volumes[answer.volume].mount);
        child->late = false;
        child->done++;
        err = take(watch, batch, &answer);
    }
    if (!err && got == 0) {
        waitpid(child->pid, NULL, 0); /* its end of the pipe is closed: it ends now */
        *gone = true;
    }
    return err;
}

int space_watch_run(struct space_watch *watch, struct batch *batch, int64_t now)
{
    int64_t wait = watch->fresh ? SOON_NS : PERIOD_NS;
    int err = 0;

    for (unsigned i = 0; i < watch->child_count && !err;) {
        bool gone;

        err = listen_to(watch, batch, i, &gone);
        if (gone)
            end_child(watch, i);
        else
            i++;
    }
    for (unsigned i = 0; i < watch->child_count; i++)
        if (!watch->children[i].late)
            wait = SOON_NS; /* if it has not ended by then, others shall not wait for its volume */
    for (uint32_t i = 0; i < batch->volume_count && !err; i++)
        err = learn(watch, &batch->volumes[i]);
    if (err || !watch->count || now - watch->asked_ns < wait)
        return err;
    watch->asked_ns = now;
    watch->fresh = false;
    for (unsigned i = 0; i < watch->child_count; i++)
        if (!watch->children[i].late && watch->children[i].done < watch->children[i].count) {
            watch->children[i].late = true;
            log_warning("%s: how full it is cannot be told: it does not answer",
                        watch->volumes[watch->children[i].order[watch->children[i].done]].mount);
        }
    if (watch->child_count < CHILDREN)
        start(watch);
    return 0;
}
