/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/join.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/log.h"
#include "lib/porter.h"

char *join_fresh(const char *token_file)
{
    char *name;

    return asprintf(&name, "%s.new", token_file) < 0 ? NULL : name;
}

/* All of it under its name, or nothing. */
static int save(const char *path, const char *token)
{
    _cleanup_free_ char *fresh = join_fresh(path);
    _cleanup_close_ int fd = -1;
    size_t length = strlen(token);
    char line[REMOTE_TOKEN_MAX + 1];
    int err = 0;

    if (length >= REMOTE_TOKEN_MAX)
        return -EBADMSG;
    if (!fresh)
        return -ENOMEM;
    snprintf(line, sizeof(line), "%s\n", token);
    fd = porter_open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return fd;
    if (write(fd, line, length + 1) != (ssize_t)(length + 1) || fsync(fd))
        err = errno ? -errno : -EIO;
    if (!err)
        err = porter_rename(fresh, path);
    explicit_bzero(line, sizeof(line));
    if (err)
        porter_unlink(fresh);
    return err;
}

/* Before the join token is spent, there must be a place for what it buys. */
static int check_place(const char *path)
{
    _cleanup_free_ char *fresh = join_fresh(path);
    _cleanup_close_ int fd = -1;

    if (!fresh)
        return -ENOMEM;
    fd = porter_open(fresh, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    return fd < 0 ? fd : 0;
}

static int settle(const struct remote_answer *answer, const char *token_file, char *why, size_t size)
{
    json_auto_t *value = json_loads(answer->text, 0, NULL);
    const char *token = json_string_value(json_object_get(value, "token"));
    const char *error = json_string_value(json_object_get(value, "error"));
    int err;

    if (answer->status != 200 || !token) {
        if (answer->status == 404)
            error = "no collector answers there: check --collector";
        snprintf(why, size, "cannot join: HTTP %ld: %.200s", answer->status, error ? error : answer->text);
        return answer->status == 0 || answer->status == 429 || answer->status >= 500 ? -EAGAIN : -EACCES;
    }
    err = save(token_file, token);
    if (err)
        snprintf(why, size, "token file %.200s: %s: the node has joined, revoke it and let it join again", token_file,
                 log_errno(err));
    return err;
}

int join_enroll(struct remote *remote, const char *join_file, const char *token_file, const char *node,
                const char *cluster, char *why, size_t size)
{
    struct utsname host = {.nodename = ""};
    json_auto_t *body = uname(&host) ? NULL : json_pack("{s:s, s:s}", "node", node ? node : host.nodename, "cluster",
                                                        cluster);
    _cleanup_free_ char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
    struct remote_answer answer;
    char token[REMOTE_TOKEN_MAX];
    int err = text ? remote_token(join_file, token) : -EINVAL;

    if (err) {
        snprintf(why, size, "join file %.200s: %s", join_file, log_errno(err));
        return err;
    }
    err = check_place(token_file);
    if (err) {
        snprintf(why, size, "token file %.200s: %s: give --token-file a place that can be written", token_file,
                 log_errno(err));
        return err;
    }
    remote_post(remote, "v1/enroll", token, NULL, text, strlen(text), &answer);
    explicit_bzero(token, sizeof(token));
    err = settle(&answer, token_file, why, size);
    explicit_bzero(&answer, sizeof(answer));
    return err;
}
