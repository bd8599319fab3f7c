/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How every program begins. */
#ifndef UNBLEND_LIB_PROGRAM_H
#define UNBLEND_LIB_PROGRAM_H

/*
 * First of all, as a parent may have left us anything: name stands before every message (kept, not copied), no file of
 * ours will be standard input, output or error, and children can be waited for.
 */
void program_begin(const char *name);

/*
 * For one that is left running: threads share one arena, so that what one makes and another lets go of is used again,
 * and what is large is the system's own: nothing of it is touched before it is used, and it goes back there. glibc would
 * keep the latter, too, once something large has been freed. Before there are threads.
 */
void program_stay_small(void);

/*
 * Gives back what lies unused: what was freed, and pages of program and libraries as they are in their files, most of which
 * were needed at the start alone. What is used again is the system's copy of the file, for a fault each.
 */
void program_give_back(void);

#endif
