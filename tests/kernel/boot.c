/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/kernel/boot.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DISK_WAIT 100 /* tenths of a second until the disk must be there */

static int mount_at(const char *what, const char *where, const char *type)
{
    mkdir(where, 0755);
    if (mount(what, where, type, 0, NULL) == 0 || errno == EBUSY)
        return 0;
    printf("cannot mount %s on %s: %s\n", what, where, strerror(errno));
    return -errno;
}

int boot(void)
{
    int err = mount_at("dev", "/dev", "devtmpfs");
    int console;

    /* The firmware leaves the cursor in the middle of a line. */
    console = open("/dev/console", O_RDWR);
    for (int fd = 0; console >= 0 && fd < 3; fd++)
        dup2(console, fd);
    puts("");
    if (!err)
        err = mount_at("proc", "/proc", "proc");
    if (!err)
        err = mount_at("sysfs", "/sys", "sysfs");
    if (!err)
        err = mount_at("tmpfs", "/t", "tmpfs");
    for (int i = 0; i < DISK_WAIT && access("/dev/nvme0n1", F_OK); i++)
        usleep(100000);
    return err ? err : mount_at("/dev/nvme0n1", "/e", "ext4");
}

int renounce(char *const *directories)
{
    const uid_t nobody = 65534;
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {0};

    for (; *directories; directories++)
        if (chown(*directories, nobody, nobody))
            return -errno;
    data[1].permitted = data[1].effective = CAP_TO_MASK(CAP_BPF) | CAP_TO_MASK(CAP_PERFMON);
    if (prctl(PR_SET_KEEPCAPS, 1L) || setgroups(0, NULL) || setresgid(nobody, nobody, nobody) ||
        setresuid(nobody, nobody, nobody) || syscall(SYS_capset, &header, data))
        return -errno;
    /* As after an exec: its own /proc entries are its own. */
    return prctl(PR_SET_DUMPABLE, 1L) ? -errno : 0;
}

void power_off(void)
{
    fflush(NULL);
    sync();
    reboot(RB_AUTOBOOT); /* the virtual machine was started with -no-reboot */
    for (;;)
        pause();
}
