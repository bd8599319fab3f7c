/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the guest does as the first process of a machine that has nothing but this program; and to be less than root. */
#ifndef UNBLEND_TESTS_KERNEL_BOOT_H
#define UNBLEND_TESTS_KERNEL_BOOT_H

/* Mounts what the probe needs, /t (tmpfs) and, from the first disk, /e (ext4). 0 or -errno (said). */
int boot(void);

/* From now on somebody with no more than the two capabilities that the probe asks for, to whom these directories are
   given. 0 or -errno. */
int renounce(char *const *directories);

/* Ends the machine. */
_Noreturn void power_off(void);

#endif
