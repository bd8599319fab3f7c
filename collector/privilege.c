/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/privilege.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "lib/log.h"

int privilege_user(const char *name, uid_t *uid, gid_t *gid)
{
    const struct passwd *user = getpwnam(name);

    if (!user) {
        log_error("cannot run as user %s: there is no such user: make it by useradd --system %s",
                  name, name);
        return -ENOENT;
    }
    *uid = user->pw_uid;
    *gid = user->pw_gid;
    return 0;
}

int privilege_drop(const char *name)
{
    uid_t uid;
    gid_t gid;
    int err = privilege_user(name, &uid, &gid);

    if (err)
        return err;
    if (initgroups(name, gid) || setresgid(gid, gid, gid) || setresuid(uid, uid, uid)) {
        err = -errno;
        log_error("cannot become user %s: %s: start as root or as that user", name, log_errno(err));
        return err;
    }
    /* What root's environment says about the home would send libpq to files that we may not read.
     */
    unsetenv("HOME");
    if (chdir("/"))
        return -errno;
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return 0;
}
