/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How every program begins. */
#ifndef UNBLEND_LIB_PROGRAM_H
#define UNBLEND_LIB_PROGRAM_H

/*
 * First of all, as a parent may have left us anything: name stands before every message (kept, not copied), no file of
 * ours will be standard input, output or error, and children can be waited for.
 */
void program_begin(const char *name);

#endif
