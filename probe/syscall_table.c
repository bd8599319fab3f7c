/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/syscall_table.h"

#include <string.h>
#include <sys/syscall.h>

/*
 * Calls that are younger than the oldest headers we build with; their numbers are the same on every
 * architecture (include/uapi/asm-generic/unistd.h).
 */
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

#define CALL(op_, shape_, fd_, path_, third_)                                                      \
    {                                                                                              \
        .op = OP_##op_, .shape = ABI_SHAPE_##shape_, .fd = fd_, .path = path_, .third = third_     \
    }
#define FD(op_)          CALL(op_, FD, 0, -1, -1)
#define FD_AT(op_)       CALL(op_, FD, 0, -1, 3) /* with an offset of its own */
#define PATH(op_, path_) CALL(op_, PATH, -1, path_, -1)
#define AT(op_, fd_)     CALL(op_, PATH, fd_, fd_ + 1, -1)

/* address_: the argument with what is submitted, or where that is put which is fetched */
#define AIO(call_, address_)                                                                       \
    {                                                                                              \
        .op = ABI_OP_ASYNC, .shape = ABI_SHAPE_AIO, .fd = ABI_AIO_##call_, .path = address_,       \
        .third = -1                                                                                \
    }

#define SYSCALL(name, shape) [SYS_##name] = shape,
static const struct abi_syscall table_[ABI_SYSCALLS] = {
#include "probe/syscall_list.h"
    /* Not in the list: a function that does not return is no place for a program that waits for that. */
    [SYS_exit_group] = AIO(EXIT, -1),
};
#undef SYSCALL

#if defined(__x86_64__)
#define FUNCTION_PREFIX "__x64_sys_"
#else
#define FUNCTION_PREFIX "__arm64_sys_"
#endif

#define SYSCALL(name, shape) FUNCTION_PREFIX #name,
static const char *const functions_[] = {
#include "probe/syscall_list.h"
    /* and those that are not named like their call */
    FUNCTION_PREFIX "sendfile64", FUNCTION_PREFIX "newfstat", FUNCTION_PREFIX "newstat",
    FUNCTION_PREFIX "newlstat", "__do_sys_sync",
};
#undef SYSCALL

unsigned syscall_functions(const char *const **functions)
{
    *functions = functions_;
    return sizeof(functions_) / sizeof(*functions_);
}

void syscall_table(struct abi_syscall table[ABI_SYSCALLS], bool aio)
{
    memcpy(table, table_, sizeof(table_));
    for (unsigned i = 0; !aio && i < ABI_SYSCALLS; i++)
        if (table[i].shape == ABI_SHAPE_AIO)
            table[i] = (struct abi_syscall){0};
}
