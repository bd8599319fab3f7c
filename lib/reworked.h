/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a batch knows of its processes and its jobs do not: how much of what is read is read by those who write. A job
 * that packs files and one whose processes read and others of which write have the same sums.
 */
#ifndef UNBLEND_LIB_REWORKED_H
#define UNBLEND_LIB_REWORKED_H

#include "lib/record.h"

/* Of each write record of a process, bytes that the process read in the batch's interval, by calls and page faults, on any
   volume, divided among its writes by their bytes; of all other records 0. *out, by record, is the caller's to free(); NULL
   where no process is known. 0 or -ENOMEM. */
int reworked_of(const struct batch *batch, uint64_t **out);

#endif
