/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/unprivileged.h"

#include <dirent.h>
#include <errno.h>
#include <libgen.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/join.h"
#include "lib/cleanup.h"
#include "lib/log.h"
#include "lib/path.h"
#include "lib/porter.h"
#include "lib/privilege.h"

/* As doctor names them. Containers may leave root without the last one. */
static const unsigned kept[] = {CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH};

/* Whether there is nothing in it, or the spool of an agent. */
static bool is_agents(const char *path)
{
    DIR *directory = opendir(path);
    const struct dirent *entry;
    bool is_empty = true, has_spool = false;

    if (!directory)
        return errno == ENOENT;
    while ((entry = readdir(directory))) {
        const char *name = entry->d_name;

        has_spool |= strcmp(name, "spool") == 0;
        is_empty &= strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, "lost+found") == 0;
    }
    closedir(directory);
    return is_empty || has_spool;
}

int unprivileged_check(const char *user, const struct agent_options *options)
{
    const char *path = options->state;
    struct stat st;
    uid_t uid;
    gid_t gid;
    int err = privilege_user(user, &uid, &gid);

    if (err || strcmp(path, AGENT_STATE) == 0 || (stat(path, &st) == 0 && st.st_uid == uid) || is_agents(path))
        return err;
    log_error("state directory %s: it holds other things, so it is not given to user %s: name an empty one, or "
              "chown %s it, or give --user root", path, user, user);
    return -EPERM;
}

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
        log_error("socket directory %s: %s: it must belong to the agent's user", directory, log_errno(err));
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

/* What is opened again and again lies where root has put it. */
static int drop(const char *user, const struct agent_options *o)
{
    const char *token_file = o->collector ? o->token_file : NULL;
    const char *join_file = token_file ? o->join_file : NULL;
    _cleanup_free_ char *fresh = join_file ? join_fresh(token_file) : NULL;
    const struct porter_file files[] = {
        {o->collector ? o->state : NULL, PORTER_DIRECTORY},
        {o->socket, PORTER_WRITE},
        {o->copy, PORTER_WRITE},
        {token_file, join_file ? PORTER_WRITE : PORTER_READ},
        {fresh, PORTER_WRITE},
        {join_file, PORTER_READ},
        {o->ca_file, PORTER_READ},
        {o->tls_cert, PORTER_READ},
        {o->tls_key, PORTER_READ},
        {o->otlp_token_file, PORTER_READ},
        {o->platform_metrics, PORTER_READ},
    };

    unsigned count = sizeof(kept) / sizeof(*kept);

    if (!privilege_has(kept[count - 1]))
        count--;
    return porter_drop(user, kept, count, files, sizeof(files) / sizeof(*files));
}

int unprivileged_become(const char *user, const struct agent_options *options, struct spool *spool)
{
    uid_t uid;
    gid_t gid;
    int err = privilege_user(user, &uid, &gid);

    if (!err && spool)
        err = spool_give(spool, uid, gid);
    if (!err)
        err = give_socket(options->socket, uid, gid);
    return err ? err : drop(user, options);
}
