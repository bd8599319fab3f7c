/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls, for kernels that turn addresses into typed pointers. An object of its own, because libbpf looks for
 * functions that the kernel lacks where only root may look.
 */
#define CAN_CAST 1

#include "probe/bpf/syscall.bpf.c"
