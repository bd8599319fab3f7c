/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/objects.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* The paths are relative to the build directory, where make runs the compiler. */
#define EMBED(name, path)                                                                          \
    __asm__(".section .rodata\n"                                                                   \
            ".balign 16\n"                                                                         \
            ".global " #name "\n" #name ":\n"                                                      \
            ".incbin \"" path "\"\n"                                                               \
            ".global " #name "_end\n" #name "_end:\n"                                              \
            ".byte 0\n"                                                                            \
            ".previous\n")

EMBED(object_syscall, "probe/bpf/syscall.bpf.o");
EMBED(object_syscall_cast, "probe/bpf/syscall_cast.bpf.o");
EMBED(object_block, "probe/bpf/block.bpf.o");
EMBED(object_fault, "probe/bpf/fault.bpf.o");
EMBED(object_fault_function, "probe/bpf/fault_function.bpf.o");
EMBED(object_seed, "probe/bpf/seed.bpf.o");
EMBED(object_mix, "probe/bpf/mix.bpf.o");
EMBED(object_uring, "probe/bpf/uring.bpf.o");
EMBED(object_job, "probe/bpf/job.bpf.o");
EMBED(object_aio, "probe/bpf/aio.bpf.o");
EMBED(object_fuse, "probe/bpf/fuse.bpf.o");
EMBED(object_nfs, "probe/bpf/nfs.bpf.o");
EMBED(object_receive, "probe/bpf/receive.bpf.o");
EMBED(object_nfsd, "probe/bpf/nfsd.bpf.o");

void objects_release(void)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = ((uintptr_t)object_syscall + page - 1) / page * page;
    uintptr_t end = (uintptr_t)object_nfsd_end / page * page;

    if (begin < end)
        madvise((void *)begin, end - begin, MADV_DONTNEED); /* pages of the program's file, as they were */
}
