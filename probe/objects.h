/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The compiled BPF objects, inside the program. */
#ifndef UNBLEND_PROBE_OBJECTS_H
#define UNBLEND_PROBE_OBJECTS_H

extern const char object_syscall[], object_syscall_end[];
extern const char object_block[], object_block_end[];
extern const char object_fault[], object_fault_end[];
extern const char object_mix[], object_mix_end[];
extern const char object_uring[], object_uring_end[];
extern const char object_aio[], object_aio_end[];

#endif
