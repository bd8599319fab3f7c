/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ways around the kernel that a node has: NVMe devices that a program drives by itself (SPDK, DAOS), and GPUDirect
 * Storage. What goes there makes no call and no request that could be seen; how much it is, nobody here knows.
 */
#ifndef UNBLEND_PROBE_BYPASS_H
#define UNBLEND_PROBE_BYPASS_H

#include <stdint.h>

#include "lib/record.h"

/*
 * Looks into sysfs and adds what was found to the batch's coverage. root stands before /sys ("" but for tests). What
 * cannot be read is not there. 0 or -ENOMEM.
 */
int bypass_look(const char *root, struct batch *batch);

#endif
