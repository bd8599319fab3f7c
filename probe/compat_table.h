/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which calls of 32-bit programs are which operation. */
#ifndef UNBLEND_PROBE_COMPAT_TABLE_H
#define UNBLEND_PROBE_COMPAT_TABLE_H

#include <stdbool.h>

#include "probe/bpf/configabi.h"

/* Whether there is a table for this architecture. */
bool compat_table_known(void);

/*
 * Fills the second half of a table whose first half syscall_table() has filled, and marks there which numbers the
 * programs must look at for its sake.
 */
void compat_table(struct abi_syscall table[2 * ABI_SYSCALLS], bool aio);

/* The kernel functions behind those calls; not every kernel has every one. The number of names. */
unsigned compat_functions(const char *const **functions);

#endif
