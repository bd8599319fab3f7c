/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What this process's maps and programs take in the kernel, as the kernel says. */
#ifndef UNBLEND_TESTS_KERNEL_MEMORY_H
#define UNBLEND_TESTS_KERNEL_MEMORY_H

#include <stdint.h>

/* Bytes; 0 when it does not say. */
uint64_t kernel_memory(void);

#endif
