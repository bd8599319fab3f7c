/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/privilege.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
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

/* Of what root had, only that; nobody who was root has it otherwise. */
static int keep_capabilities(const unsigned *keep, unsigned count)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {0};

    for (unsigned i = 0; i < count; i++) {
        data[CAP_TO_INDEX(keep[i])].effective |= CAP_TO_MASK(keep[i]);
        data[CAP_TO_INDEX(keep[i])].permitted |= CAP_TO_MASK(keep[i]);
    }
    return syscall(SYS_capset, &header, data) ? -errno : 0;
}

int privilege_drop(const char *name, const unsigned *keep, unsigned count)
{
    uid_t uid;
    gid_t gid;
    int err = privilege_user(name, &uid, &gid);

    if (err)
        return err;
    if (count && prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0))
        return -errno;
    if (initgroups(name, gid) || setresgid(gid, gid, gid) || setresuid(uid, uid, uid)) {
        err = -errno;
        log_error("cannot become user %s: %s: start as root or as that user", name, log_errno(err));
        return err;
    }
    if (count)
        err = keep_capabilities(keep, count);
    if (err) {
        log_error("cannot keep the rights that watching takes: %s: start as root", log_errno(err));
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
