/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which system calls are which operation: the one table, for the architecture this is built for. */
#ifndef UNBLEND_PROBE_SYSCALL_TABLE_H
#define UNBLEND_PROBE_SYSCALL_TABLE_H

#include <stdbool.h>

#include "probe/bpf/configabi.h"

/* Fills ABI_SYSCALLS entries, indexed by system call number; with those of libaio, if they can be followed. */
void syscall_table(struct abi_syscall table[ABI_SYSCALLS], bool aio);

#define SYSCALL_CALLS_MAX 128

struct syscall_call {
    const char *name;   /* as in SYS_name */
    const char *kernel; /* as its tracepoints and its function have it */
    unsigned number;
};

/* The calls that count, each once; no more than SYSCALL_CALLS_MAX. The number of them. */
unsigned syscall_calls(const struct syscall_call **calls);

/* The kernel's function behind a call ("__x64_sys_read"); not every kernel has every one. Valid until the next question. */
const char *syscall_function(const char *kernel);

#endif
