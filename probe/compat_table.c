/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/compat_table.h"

#include <string.h>

#if defined(__x86_64__)
#include <asm/unistd_32.h> /* in place of the numbers of 64-bit calls, which have the same names */

/* Younger than the oldest headers we build with (arch/x86/entry/syscalls/syscall_32.tbl). */
#ifndef __NR_fchmodat2
#define __NR_fchmodat2 452
#endif
#ifndef __NR_setxattrat
#define __NR_setxattrat    463
#define __NR_getxattrat    464
#define __NR_listxattrat   465
#define __NR_removexattrat 466
#endif
#ifndef __NR_file_getattr
#define __NR_file_getattr 468
#define __NR_file_setattr 469
#endif

#define CALL(op_, shape_, fd_, path_, third_)                                                      \
    {                                                                                              \
        .op = OP_##op_, .shape = ABI_SHAPE_##shape_, .fd = fd_, .path = path_, .third = third_     \
    }
#define FD(op_)          CALL(op_, FD, 0, -1, -1)
#define PATH(op_, path_) CALL(op_, PATH, -1, path_, -1)
#define AT(op_, fd_)     CALL(op_, PATH, fd_, fd_ + 1, -1)
#define FD_WIDE(op_)                                                                               \
    {                                                                                              \
        .op = OP_##op_, .shape = ABI_SHAPE_FD, .fd = 0, .path = -1, .third = 3, .wide = 1          \
    }
#define STAT_AS(layout_, fd_, path_, third_)                                                       \
    {                                                                                              \
        .op = OP_STAT, .shape = ABI_SHAPE_STAT, .fd = fd_, .path = path_, .third = third_,         \
        .layout = ABI_LAYOUT_##layout_                                                             \
    }
#define AIO(call_, address_)                                                                       \
    {                                                                                              \
        .op = ABI_OP_ASYNC, .shape = ABI_SHAPE_AIO, .fd = ABI_AIO_##call_, .path = address_,       \
        .third = -1                                                                                \
    }

#define SYSCALL(name, shape) [__NR_##name] = shape,
static const struct abi_syscall table_[ABI_SYSCALLS] = {
#include "probe/compat_list.h"
    [__NR_exit_group] = AIO(EXIT, -1),
};
#undef SYSCALL

/* Calls whose arguments differ from the 64-bit ones have functions of their own, under one prefix or the other. */
#define SYSCALL(name, shape)                                                                       \
    "__ia32_sys_" #name, "__ia32_compat_sys_" #name, "__ia32_sys_ia32_" #name,
static const char *const functions_[] = {
#include "probe/compat_list.h"
    /* and those that are not named like their call */
    "__ia32_compat_sys_newstat", "__ia32_compat_sys_newlstat", "__ia32_compat_sys_newfstat",
    "__ia32_compat_sys_ia32_stat64", "__ia32_compat_sys_ia32_lstat64", "__ia32_compat_sys_ia32_fstat64",
    "__ia32_compat_sys_ia32_fstatat64", "__ia32_sys_llseek", "__ia32_compat_sys_old_readdir",
    "__ia32_sys_chown16", "__ia32_sys_lchown16", "__ia32_sys_fchown16", "__ia32_sys_utime32",
    "__ia32_sys_utimes_time32", "__ia32_sys_futimesat_time32", "__ia32_sys_utimensat_time32",
    "__ia32_sys_io_getevents_time32",
};
#undef SYSCALL

bool compat_table_known(void)
{
    return true;
}

void compat_table(struct abi_syscall table[2 * ABI_SYSCALLS], bool aio)
{
    memcpy(table + ABI_SYSCALLS, table_, sizeof(table_));
    for (unsigned i = 0; i < ABI_SYSCALLS; i++) {
        struct abi_syscall *entry = &table[ABI_SYSCALLS + i];

        if (!aio && entry->shape == ABI_SHAPE_AIO)
            *entry = (struct abi_syscall){0};
        table[i].compat = entry->op != OP_NONE;
    }
}

unsigned compat_functions(const char *const **functions)
{
    *functions = functions_;
    return sizeof(functions_) / sizeof(*functions_);
}
#else
bool compat_table_known(void)
{
    return false;
}

void compat_table(struct abi_syscall table[2 * ABI_SYSCALLS], bool aio)
{
    (void)table;
    (void)aio;
}

unsigned compat_functions(const char *const **functions)
{
    *functions = NULL;
    return 0;
}
#endif
