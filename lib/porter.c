/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/porter.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <linux/capability.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/local.h"
#include "lib/log.h"
#include "lib/path.h"
#include "lib/porter_private.h"
#include "lib/privilege.h"

struct porter_file porter_list[PORTER_FILES_MAX];
unsigned porter_listed;

static int line = -1; /* to the porter; -1: there is none */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool can_reach(const struct porter_file *file)
{
    char above[PATH_MAX];

    if (file->right == PORTER_DIRECTORY)
        return access(file->path, R_OK | W_OK | X_OK) == 0;
    /* A relative path is relative to where the porter was started. */
    if (access(file->path, file->right == PORTER_WRITE ? R_OK | W_OK : R_OK) &&
        (errno != ENOENT || *file->path != '/'))
        return false;
    if (file->right == PORTER_READ)
        return true;
    if (strlen(file->path) >= sizeof(above))
        return false;
    return access(dirname(strcpy(above, file->path)), W_OK | X_OK) == 0;
}

static bool is_needed(void)
{
    for (unsigned i = 0; i < porter_listed; i++)
        if (!can_reach(&porter_list[i]))
            return true;
    return false;
}

int porter_drop(const char *user, const unsigned *keep, unsigned count, const struct porter_file *files,
                unsigned file_count)
{
    int sockets[2], err;
    pid_t pid;

    for (unsigned i = 0; i < file_count && porter_listed < PORTER_FILES_MAX; i++) {
        if (!files[i].path)
            continue;
        porter_list[porter_listed] = files[i];
        porter_list[porter_listed].path = strdup(files[i].path);
        if (!porter_list[porter_listed++].path)
            return -ENOMEM;
    }
    if (!porter_listed)
        return privilege_drop(user, keep, count);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
        return -errno;
    pid = fork();
    if (pid == 0) {
        close(sockets[0]);
        porter_live(user, sockets[1]);
    }
    err = pid < 0 ? -errno : 0;
    close(sockets[1]);
    if (err)
        log_error("cannot start a process: %s", log_why(err));
    else
        err = privilege_drop(user, keep, count);
    if (!err && is_needed()) {
        line = sockets[0];
        return 0;
    }
    close(sockets[0]);
    if (pid > 0)
        waitpid(pid, NULL, 0);
    return err;
}

static int find(const char *path, unsigned *place)
{
    for (*place = 0; *place < porter_listed; ++*place)
        if (strcmp(porter_list[*place].path, path) == 0)
            return 0;
    return -ENOENT;
}

static int receive(int *fd)
{
    union control control;
    int result = -EPIPE, given = -1;
    struct iovec data = {.iov_base = &result, .iov_len = sizeof(result)};
    struct msghdr message = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = control.space, .msg_controllen = sizeof(control.space)};
    struct cmsghdr *header;

    if (recvmsg(line, &message, MSG_CMSG_CLOEXEC) != sizeof(result))
        return -EPIPE;
    header = CMSG_FIRSTHDR(&message);
    if (header && header->cmsg_type == SCM_RIGHTS)
        memcpy(&given, CMSG_DATA(header), sizeof(given));
    if (fd)
        *fd = given;
    else
        cleanup_close(&given);
    return result;
}

/* err is why we could not do it ourselves, and stays so where the porter cannot help. */
static int ask(struct request request, const char *path, const char *other, int err, int *fd)
{
    if (line < 0 || (err != -EACCES && err != -EPERM && err != -ENOENT) || find(path, &request.file) ||
        find(other, &request.other))
        return err;
    pthread_mutex_lock(&lock);
    err = send(line, &request, sizeof(request), MSG_NOSIGNAL) < 0 ? -EPIPE : receive(fd);
    pthread_mutex_unlock(&lock);
    return err;
}

int porter_open(const char *path, int flags, mode_t mode)
{
    /* It is for others' processes: where a link of our user's leads, it must not lead us. */
    bool suspended = geteuid() != 0 && privilege_suspend(CAP_DAC_READ_SEARCH);
    int fd = open(path, flags, mode), err = -errno;

    if (suspended)
        privilege_resume(CAP_DAC_READ_SEARCH);
    if (fd >= 0)
        return fd;
    err = ask((struct request){.wish = WISH_OPEN, .flags = flags, .mode = mode}, path, path, err, &fd);
    return err ? err : fd;
}

int porter_rename(const char *from, const char *to)
{
    return rename(from, to) ? ask((struct request){.wish = WISH_RENAME}, from, to, -errno, NULL) : 0;
}

int porter_unlink(const char *path)
{
    return unlink(path) ? ask((struct request){.wish = WISH_UNLINK}, path, path, -errno, NULL) : 0;
}

int porter_bind(const char *path, int *out)
{
    int err = local_bind(path, out);

    return err ? ask((struct request){.wish = WISH_BIND}, path, path, err, out) : 0;
}

int porter_directory(const char *path, int *out)
{
    int err = path_directory(path, out);

    return err ? ask((struct request){.wish = WISH_DIRECTORY}, path, path, err, out) : 0;
}

static int copy(const char *path, int to)
{
    _cleanup_close_ int from = porter_open(path, O_RDONLY | O_CLOEXEC, 0);
    char text[4096];
    ssize_t got;

    if (from < 0)
        return from;
    if (ftruncate(to, 0) || lseek(to, 0, SEEK_SET))
        return -errno;
    while ((got = read(from, text, sizeof(text))) > 0)
        if (write(to, text, (size_t)got) != got)
            return -errno;
    explicit_bzero(text, sizeof(text));
    return got < 0 ? -errno : 0;
}

const char *porter_name(const char *path, int *memory, char name[PORTER_NAME])
{
    if (line < 0 || access(path, R_OK) == 0)
        return path;
    if (*memory < 0)
        *memory = memfd_create("unblend", MFD_CLOEXEC);
    if (*memory < 0 || copy(path, *memory))
        return path; /* whose reader will say what is wrong with it */
    snprintf(name, PORTER_NAME, "/proc/self/fd/%d", *memory);
    return name;
}
