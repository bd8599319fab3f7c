/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/unprivileged.h"

#include <errno.h>
#include <libgen.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/log.h"
#include "lib/path.h"
#include "lib/privilege.h"

/* As doctor names them. */
static const unsigned kept[] = {CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE};

/* What is in the directory from before, when root ran the agent, is left to whoever knows better. */
static int give(const char *directory, uid_t uid, gid_t gid)
{
    struct stat st;
    int err = path_make_parents(directory, 0755);

    if (!err && mkdir(directory, 0755) && errno != EEXIST)
        err = -errno;
    if (!err && stat(directory, &st))
        err = -errno;
    if (!err && st.st_uid != uid && chown(directory, uid, gid))
        err = -errno;
    if (err)
        log_error("%s: %s: it must belong to the agent's user", directory, log_errno(err));
    return err;
}

/* Only a directory that is there for the socket alone. */
static int give_socket(const char *path, uid_t uid, gid_t gid)
{
    _cleanup_free_ char *copy = strdup(path);
    const char *directory = copy ? dirname(copy) : NULL;
    struct stat st;

    if (!copy)
        return -ENOMEM;
    if (strcmp(path, AGENT_SOCKET) != 0 && stat(directory, &st) == 0)
        return 0; /* somebody else's choice, and theirs to allow */
    return give(directory, uid, gid);
}

int unprivileged_become(const char *user, const struct agent_options *options)
{
    uid_t uid;
    gid_t gid;
    int err = privilege_user(user, &uid, &gid);

    if (!err && options->collector)
        err = give(options->state, uid, gid);
    if (!err)
        err = give_socket(options->socket, uid, gid);
    return err ? err : privilege_drop(user, kept, sizeof(kept) / sizeof(*kept));
}
