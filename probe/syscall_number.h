/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The numbers of system calls: those of the C library's headers, and of calls that are younger than the oldest headers
 * we build with; their numbers are the same on every architecture (include/uapi/asm-generic/unistd.h).
 */
#ifndef UNBLEND_PROBE_SYSCALL_NUMBER_H
#define UNBLEND_PROBE_SYSCALL_NUMBER_H

#include <sys/syscall.h>

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#ifndef SYS_setxattrat
#define SYS_setxattrat    463
#define SYS_getxattrat    464
#define SYS_listxattrat   465
#define SYS_removexattrat 466
#endif
#ifndef SYS_file_getattr
#define SYS_file_getattr 468
#define SYS_file_setattr 469
#endif

#endif
