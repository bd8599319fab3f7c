/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a call by path goes that has not returned: the kernel side learns it only from the call's end, which a hang
 * puts off. What /proc tells of the waiting thread is enough, and nothing here touches the file system it waits for:
 * no open, stat or readlink there. It may all the same have to wait for the thread's memory.
 */
#ifndef UNBLEND_PROBE_CALLPATH_H
#define UNBLEND_PROBE_CALLPATH_H

#include <stdint.h>
#include <sys/types.h>

#include "lib/operation.h"
#include "probe/bpf/configabi.h"

/* The volume (probe/bpf/abi.h) of the call that a thread is in, which must be such an operation by path; calls: the
   table of system calls. 0, or -errno: -EAGAIN when it is in no such call (any more). */
int callpath_volume(pid_t tid, enum operation op, const struct abi_syscall calls[ABI_SYSCALLS], uint64_t *volume);

/* The path without ".", ".." and doubled slashes, symbolic links not followed. In place; path must begin with '/'. */
void callpath_normalize(char *path);

#endif
