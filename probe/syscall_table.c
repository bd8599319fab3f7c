/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/syscall_table.h"

#include <string.h>

#include "probe/syscall_number.h"

#define CALL(op_, shape_, fd_, path_, third_)                                                      \
    {                                                                                              \
        .op = OP_##op_, .shape = ABI_SHAPE_##shape_, .fd = fd_, .path = path_, .third = third_     \
    }
#define FD(op_)          CALL(op_, FD, 0, -1, -1)
#define FD_AT(op_)       CALL(op_, FD, 0, -1, 3) /* with an offset of its own */
#define PATH(op_, path_) CALL(op_, PATH, -1, path_, -1)
#define AT(op_, fd_)     CALL(op_, PATH, fd_, fd_ + 1, -1)

#define SYSCALL(name, shape) [SYS_##name] = shape,
static const struct abi_syscall table_[ABI_SYSCALLS] = {
#include "probe/syscall_list.h"
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

void syscall_table(struct abi_syscall table[ABI_SYSCALLS])
{
    memcpy(table, table_, sizeof(table_));
}
