/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the guest does as the first process of a machine that has nothing but this program. */
#ifndef UNBLEND_TESTS_KERNEL_BOOT_H
#define UNBLEND_TESTS_KERNEL_BOOT_H

/* Mounts what the probe needs, /t (tmpfs) and, from the first disk, /e (ext4). 0 or -errno (said). */
int boot(void);

/* Ends the machine. */
_Noreturn void power_off(void);

#endif
