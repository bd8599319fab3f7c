/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/program.h"

#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/log.h"

/* Closed, their numbers would be given to files of ours, and messages written into those. Used, they still fail. */
static void keep_standard_places(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY); /* the lowest number that is free */
}

void program_begin(const char *name)
{
    keep_standard_places();
    log_program(name);
    signal(SIGCHLD, SIG_DFL); /* ignored, it is inherited, and waitpid(2) finds no child */
}

void program_stay_small(void)
{
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
}

/* What of a program or library lies in memory as it does in its file: it is read from there when it is used again. */
static int forget_unwritten(struct dl_phdr_info *object, size_t size, void *unused)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

    (void)size;
    (void)unused;
    if (*object->dlpi_name && !strchr(object->dlpi_name, '/'))
        return 0; /* the kernel's own, which has no file */
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uintptr_t begin = object->dlpi_addr + part->p_vaddr, end = begin + part->p_memsz;

        begin &= -page;
        if (part->p_type == PT_LOAD && !(part->p_flags & PF_W))
            (void)madvise((void *)begin, end - begin, MADV_DONTNEED); /* NOLINT(performance-no-int-to-ptr) */
    }
    return 0;
}

void program_give_back(void)
{
    malloc_trim(0);
    dl_iterate_phdr(forget_unwritten, NULL);
}
