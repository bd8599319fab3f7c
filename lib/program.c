/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/program.h"

#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
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
