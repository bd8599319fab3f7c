/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/privilege.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdio.h>
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

/* Those of this thread; a capability is in one of two elements. 0 or -errno. */
static int read_capabilities(struct __user_cap_data_struct data[2])
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};

    return syscall(SYS_capget, &header, data) ? -errno : 0;
}

static int write_capabilities(const struct __user_cap_data_struct data[2])
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};

    return syscall(SYS_capset, &header, data) ? -errno : 0;
}

bool privilege_has(unsigned capability)
{
    struct __user_cap_data_struct data[2] = {0};

    return !read_capabilities(data) &&
           data[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability);
}

static bool is_permitted(const struct __user_cap_data_struct data[2], unsigned capability)
{
    return data[CAP_TO_INDEX(capability)].permitted & CAP_TO_MASK(capability);
}

static bool set_effective(unsigned capability, bool on)
{
    struct __user_cap_data_struct data[2] = {0};
    unsigned *effective = &data[CAP_TO_INDEX(capability)].effective;

    if (read_capabilities(data) || !is_permitted(data, capability))
        return false;
    *effective = on ? *effective | CAP_TO_MASK(capability) : *effective & ~CAP_TO_MASK(capability);
    return !write_capabilities(data);
}

bool privilege_suspend(unsigned capability)
{
    return privilege_has(capability) && set_effective(capability, false);
}

void privilege_resume(unsigned capability)
{
    set_effective(capability, true);
}

/* What it takes to become somebody else. */
static bool may_change(void)
{
    return privilege_has(CAP_SETUID) && privilege_has(CAP_SETGID);
}

int privilege_choose(const char *asked, struct privilege_choice *choice)
{
    bool has_own = getpwnam(SYSTEM_USER), has_fallback = getpwnam(FALLBACK_USER);
    const char *user = asked ? asked : !has_own && has_fallback ? FALLBACK_USER : SYSTEM_USER;
    uid_t uid;
    gid_t gid;
    int err;

    *choice = (struct privilege_choice){0};
    if (geteuid() != 0)
        return 0;
    if (!asked && !may_change()) {
        snprintf(choice->note, sizeof(choice->note), "; as root, which may not become another user here");
        return 0;
    }
    err = privilege_user(user, &uid, &gid);
    if (err)
        return err;
    if (uid == 0) {
        snprintf(choice->note, sizeof(choice->note), "; as root, as --user says");
        return 0;
    }
    choice->user = user;
    snprintf(choice->note, sizeof(choice->note), "; as user %.40s%s", user,
             asked || has_own ? "" : ", as there is no user " SYSTEM_USER);
    return 0;
}

/* Of what root had, only that; nobody who was root has it otherwise. In a container root may have less than that, or
   CAP_SYS_ADMIN alone, which kernels take for the two that were once part of it. */
static int keep_capabilities(const unsigned *keep, unsigned count)
{
    struct __user_cap_data_struct had[2] = {0}, data[2] = {0};
    int err = read_capabilities(had);

    if (err)
        return err;
    for (unsigned i = 0; i < count; i++) {
        bool was_part = keep[i] == CAP_BPF || keep[i] == CAP_PERFMON;
        unsigned kept = was_part && !is_permitted(had, keep[i]) ? CAP_SYS_ADMIN : keep[i];

        if (!is_permitted(had, kept))
            continue;
        data[CAP_TO_INDEX(kept)].effective |= CAP_TO_MASK(kept);
        data[CAP_TO_INDEX(kept)].permitted |= CAP_TO_MASK(kept);
    }
    return write_capabilities(data);
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
        log_error("cannot become user %s: %s: start as that user, or give --user", name, log_errno(err));
        return err;
    }
    if (count)
        err = keep_capabilities(keep, count);
    if (err) {
        log_error("cannot keep the rights that watching takes: %s: start as root", log_errno(err));
        return err;
    }
    /* What root's environment says about the home would send libpq to files that we may not read. */
    unsetenv("HOME");
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return 0;
}
