/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The compiled BPF objects, inside the program. */
#ifndef UNBLEND_PROBE_OBJECTS_H
#define UNBLEND_PROBE_OBJECTS_H

extern const char object_syscall[], object_syscall_end[];
extern const char object_syscall_cast[], object_syscall_cast_end[]; /* the same, for kernels with bpf_rdonly_cast() */
extern const char object_block[], object_block_end[];
extern const char object_fault[], object_fault_end[];
extern const char object_fault_function[], object_fault_function_end[];
extern const char object_seed[], object_seed_end[];
extern const char object_mix[], object_mix_end[];
extern const char object_uring[], object_uring_end[];
extern const char object_receive[], object_receive_end[];
extern const char object_job[], object_job_end[];
extern const char object_aio[], object_aio_end[];
extern const char object_fuse[], object_fuse_end[];
extern const char object_nfs[], object_nfs_end[];
extern const char object_nfsd[], object_nfsd_end[];

/* They have been loaded: gives the memory back that reading them took. They can be read again. */
void objects_release(void);

#endif
