/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/syscall_table.h"

#include <stdio.h>
#include <string.h>

#include "probe/hook.h"
#include "probe/syscall_number.h"

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

/* Calls that the kernel has under another name than their number. */
static const struct {
    const char *name, *kernel;
} renamed[] = {
    {"sendfile", "sendfile64"}, {"fstat", "newfstat"}, {"stat", "newstat"}, {"lstat", "newlstat"},
};

#define SYSCALL(name, shape) {#name, #name, SYS_##name},
static struct syscall_call calls_[] = {
#include "probe/syscall_list.h"
};
#undef SYSCALL

#define CALL_COUNT (sizeof(calls_) / sizeof(*calls_))
static_assert(CALL_COUNT <= SYSCALL_CALLS_MAX, "every call has a place");

unsigned syscall_calls(const struct syscall_call **calls)
{
    for (unsigned i = 0; i < CALL_COUNT; i++)
        for (unsigned k = 0; k < sizeof(renamed) / sizeof(*renamed); k++)
            if (strcmp(calls_[i].name, renamed[k].name) == 0)
                calls_[i].kernel = renamed[k].kernel;
    *calls = calls_;
    return CALL_COUNT;
}

const char *syscall_function(const char *kernel)
{
    static char name[64];

    /* On x86 a call without arguments has its own name only as an alias, which types do not list. */
    snprintf(name, sizeof(name), "%s%s", FUNCTION_PREFIX, kernel);
    if (strcmp(kernel, "sync") == 0 && !hook_function(name))
        snprintf(name, sizeof(name), "__do_sys_%s", kernel);
    return name;
}

void syscall_table(struct abi_syscall table[ABI_SYSCALLS], bool aio)
{
    memcpy(table, table_, sizeof(table_));
    for (unsigned i = 0; !aio && i < ABI_SYSCALLS; i++)
        if (table[i].shape == ABI_SHAPE_AIO)
            table[i] = (struct abi_syscall){0};
}
