/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/program.h"

#include <signal.h>

#include "lib/log.h"

void program_begin(const char *name)
{
    log_program(name);
    signal(SIGCHLD, SIG_DFL); /* ignored, it is inherited, and waitpid(2) finds no child */
}
