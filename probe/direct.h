/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the kernel maps all of the machine's memory, which the programs of system calls want to know: seen there, what
 * a call has written for its program costs less to read than through the program's own mapping.
 */
#ifndef UNBLEND_PROBE_DIRECT_H
#define UNBLEND_PROBE_DIRECT_H

struct bpf_object;

/*
 * Lets a loaded object look for it. Nothing is said when it is not found, as on processors that it is not for, or where
 * memory is encrypted: then helpers are asked, which cost more.
 */
void direct_map_find(const struct bpf_object *object);

#endif
