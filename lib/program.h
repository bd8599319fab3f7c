/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How every program begins. */
#ifndef UNBLEND_LIB_PROGRAM_H
#define UNBLEND_LIB_PROGRAM_H

/* First of all: name stands before every message (kept, not copied), and children can be waited for though a parent has
   had that ignored. */
void program_begin(const char *name);

#endif
