/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/kernel/boot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
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

void power_off(void)
{
    fflush(NULL);
    sync();
    reboot(RB_AUTOBOOT); /* the virtual machine was started with -no-reboot */
    for (;;)
        pause();
}
