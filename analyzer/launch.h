/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Starts a command that waits at a gate, so that it can be watched from before its first instruction. Under sudo it
 * runs as the user who called sudo.
 */
#ifndef UNBLEND_ANALYZER_LAUNCH_H
#define UNBLEND_ANALYZER_LAUNCH_H

#include <sys/types.h>

struct launch {
    pid_t pid;
    int gate;   /* closed without a word, the command never starts */
    int result; /* tells an exec that failed */
};

/* Forks; the child waits. 0 or -errno. argv ends with NULL. */
int launch_prepare(char **argv, struct launch *launch);

/* Opens the gate and waits for the exec. 0, or -errno of the exec that failed (the child is reaped then). */
int launch_go(struct launch *launch);

/* Gives up: the child ends without having run anything, and is reaped. */
void launch_abandon(struct launch *launch);

/* A wait(2) status as a shell gives it: the exit status, or 128 + signal. */
int launch_status(int wait_status);

#endif
