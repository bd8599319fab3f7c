/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which system calls are which operation: the one table, for the architecture this is built for. */
#ifndef UNBLEND_PROBE_SYSCALL_TABLE_H
#define UNBLEND_PROBE_SYSCALL_TABLE_H

#include <stdbool.h>

#include "probe/bpf/abi.h"

/* Fills ABI_SYSCALLS entries, indexed by system call number; with those of libaio, if they can be followed. */
void syscall_table(struct abi_syscall table[ABI_SYSCALLS], bool aio);

/*
 * The kernel functions behind those calls ("__x64_sys_read"); not every kernel has every one. The number of
 * names.
 */
unsigned syscall_functions(const char *const **functions);

#endif
