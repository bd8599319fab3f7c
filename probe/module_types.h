/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The types (BTF) of the kernel and of one of its modules as one file. libbpf would ask the kernel for a module's by
 * its number, for which it wants CAP_SYS_ADMIN; the files in /sys/kernel/btf are everybody's to read. The format is
 * that of the kernel's Documentation/bpf/btf.rst; a module's types and names are counted on from the kernel's.
 */
#ifndef UNBLEND_PROBE_MODULE_TYPES_H
#define UNBLEND_PROBE_MODULE_TYPES_H

#include <stddef.h>

/* An open file in memory, the caller's to close; -ENOENT where the module has none of its own, or -errno. */
int module_types_open(const char *module);

/* The same of two such files' contents. *out is malloc'ed; 0, -EBADMSG or -ENOMEM. */
int module_types_join(const void *kernel, size_t kernel_size, const void *module, size_t module_size, void **out,
                      size_t *size);

#endif
