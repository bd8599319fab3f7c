/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/porter_private.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/local.h"
#include "lib/path.h"
#include "lib/privilege.h"
#include "lib/walk.h"

static void answer(int socket, int result, int fd)
{
    union control control = {0};
    struct iovec data = {.iov_base = &result, .iov_len = sizeof(result)};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
    struct cmsghdr *header;

    if (fd >= 0) {
        message.msg_control = control.space;
        message.msg_controllen = sizeof(control.space);
        header = CMSG_FIRSTHDR(&message);
        *header = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(fd)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(header), &fd, sizeof(fd));
    }
    if (sendmsg(socket, &message, MSG_NOSIGNAL) < 0)
        _exit(0);
}

/* What has other names may be somebody else's, and is not emptied before that is known. */
static int open_file(int directory, const char *name, const struct request *request, bool write)
{
    const int harmless = O_NONBLOCK | O_CLOEXEC;
    int flags = write ? request->flags & ~O_TRUNC : O_RDONLY | (request->flags & harmless);
    _cleanup_close_ int fd = openat(directory, name, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, request->mode & 0777);
    struct stat st;

    if (fd < 0 || fstat(fd, &st))
        return -errno;
    if (!S_ISREG(st.st_mode) || st.st_nlink > 1)
        return -EACCES;
    if (write && request->flags & O_TRUNC && ftruncate(fd, 0))
        return -errno;
    return take_fd(&fd);
}

/* Only one of our user's own. */
static int open_directory(int above, const char *name, int *fd)
{
    int err = path_directory_at(above, name, fd);
    struct stat st;

    if (err)
        return err;
    if (fstat(*fd, &st))
        return -errno;
    return st.st_uid == geteuid() ? 0 : -EACCES;
}

static int bind_socket(int directory, const char *name, int *fd)
{
    char path[NAME_MAX + 32];

    snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", directory, name);
    return local_bind(path, fd);
}

static int rename_file(int directory, const char *name, const char *to)
{
    _cleanup_close_ int there = -1;
    char other[NAME_MAX + 1];
    int err = walk(to, &there, other);

    return err ? err : renameat(directory, name, there, other) ? -errno : 0;
}

/* 0 or -errno, and a descriptor. The daemon's user may have put links into the way, to have us open what is not its. */
static int grant(const struct request *request, int *fd)
{
    const struct porter_file *file = &porter_list[request->file], *other = &porter_list[request->other];
    _cleanup_close_ int directory = -1;
    char name[NAME_MAX + 1];
    bool may_write;
    int err;

    if (request->file >= porter_listed || request->other >= porter_listed)
        return -EINVAL;
    may_write = file->right == PORTER_WRITE && other->right == PORTER_WRITE;
    err = walk(file->path, &directory, name);
    if (err)
        return err;
    if (request->wish == WISH_OPEN && file->right != PORTER_DIRECTORY) {
        *fd = open_file(directory, name, request, may_write);
        return *fd < 0 ? *fd : 0;
    }
    if (request->wish == WISH_DIRECTORY && file->right == PORTER_DIRECTORY)
        return open_directory(directory, name, fd);
    if (!may_write)
        return -EACCES;
    if (request->wish == WISH_RENAME)
        return rename_file(directory, name, other->path);
    if (request->wish == WISH_BIND)
        return bind_socket(directory, name, fd);
    return request->wish == WISH_UNLINK && !unlinkat(directory, name, 0) ? 0 : -EACCES;
}

/* Until the daemon hangs up, which it does at its end, whatever that is. */
static _Noreturn void stand_by(int socket)
{
    struct request request;

    while (recv(socket, &request, sizeof(request), 0) == sizeof(request)) {
        _cleanup_close_ int fd = -1;
        int result = grant(&request, &fd);

        answer(socket, result, result ? -1 : fd);
    }
    _exit(0);
}

/* What the daemon has open is none of its business. */
void porter_live(const char *user, int socket)
{
    unsigned right = privilege_has(CAP_DAC_READ_SEARCH) ? CAP_DAC_READ_SEARCH : CAP_DAC_OVERRIDE; /* containers' roots */

    for (unsigned i = 0; i < porter_listed; i++)
        if (porter_list[i].right != PORTER_READ)
            right = CAP_DAC_OVERRIDE;
    prctl(PR_SET_NAME, "unblend-porter");
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    if (privilege_drop(user, &right, 1) || dup2(socket, 0) < 0)
        _exit(1);
    close_range(1, UINT_MAX, 0);
    stand_by(0);
}
