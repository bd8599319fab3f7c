/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/password.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/log.h"

/* Into memory that is the user's to open, by a name that stays while we live. */
static int copy(int from, const struct passwd *user)
{
    _cleanup_close_ int to = memfd_create("pgpass", MFD_CLOEXEC);
    char text[4096], name[32];
    ssize_t got;

    if (to < 0)
        return -errno;
    while ((got = read(from, text, sizeof(text))) > 0)
        if (write(to, text, (size_t)got) != got)
            return -errno;
    explicit_bzero(text, sizeof(text));
    snprintf(name, sizeof(name), "/proc/self/fd/%d", to);
    if (got < 0 || fchmod(to, 0600) || fchown(to, user->pw_uid, user->pw_gid) || setenv("PGPASSFILE", name, 1))
        return -errno;
    take_fd(&to); /* stays open: the name leads through it */
    return 0;
}

static bool has_own(const struct passwd *user)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/.pgpass", user->pw_dir);
    return access(path, F_OK) == 0;
}

int password_keep(const char *user)
{
    const char *named = getenv("PGPASSFILE"), *home = getenv("HOME");
    const struct passwd *entry = getpwnam(user);
    _cleanup_close_ int fd = -1;
    char usual[PATH_MAX];
    struct stat st;
    int err;

    snprintf(usual, sizeof(usual), "%s/.pgpass", home ? home : "/root");
    if (!entry || (!named && has_own(entry)))
        return 0;
    fd = open(named ? named : usual, O_RDONLY | O_CLOEXEC);
    /* libpq heeds none that others can read, and says so. */
    if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_mode & (S_IRWXG | S_IRWXO))
        return 0;
    err = copy(fd, entry);
    if (err)
        log_error("cannot keep the passwords of %s: %s", named ? named : usual, log_errno(err));
    return err;
}
