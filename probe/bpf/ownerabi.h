/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose a process is: cgroups, and what environments and launchers say. Part of the ABI of probe/bpf/abi.h. */
#ifndef UNBLEND_PROBE_OWNERABI_H
#define UNBLEND_PROBE_OWNERABI_H

#include "probe/bpf/abi.h"

/*
 * Whose a process is. The kernel side notes what is gone when the process is: its cgroup, and the variable of its
 * environment that names a job; user space makes a job of it. A job that is found, unlike one that is given, is the
 * process's only as long as these stay.
 */
#define ABI_JOB_FOUND 0x80000000u

/* The deepest cgroup that a process is in, in whichever hierarchy (0 is the unified one): ids are the hierarchy's. */
#define ABI_CGROUP_ID_BITS     56
#define ABI_CGROUP(hierarchy, id) ((uint64_t)(hierarchy) << ABI_CGROUP_ID_BITS | ((id) & ((1ULL << ABI_CGROUP_ID_BITS) - 1)))
#define ABI_CGROUP_MAX         384

/* A cgroup that was made, removed or moved into, until user space fetches it. */
struct abi_cgroup {
    char path[ABI_CGROUP_MAX]; /* in its hierarchy; "" where only the end was seen */
    uint64_t gone;             /* not 0: it has been removed */
};

/*
 * Names that tell a job: variables of the environment ('E' and "NAME="), which rank as they are listed, and commands
 * whose descendants belong together ('C' and the name with its NUL). Key of an LPM trie.
 */
#define ABI_NAME_MAX 60
struct abi_name_key {
    uint32_t prefix_bits;
    char kind;
    char name[ABI_NAME_MAX - 1];
};

struct abi_name {
    uint32_t rank;
    uint32_t length; /* of the name */
};

/* What such a name said, once for all processes that it says the same of. */
#define ABI_TICKET_MAX 124
struct abi_ticket {
    uint32_t rank;
    char value[ABI_TICKET_MAX];
};

#define ABI_RANK_BITS     4
#define ABI_RANKS         8 /* of variables; ABI_RANK_LAUNCHER comes behind them */
#define ABI_RANK_LAUNCHER 8
#define ABI_TICKET(number, rank) ((uint32_t)(number) << ABI_RANK_BITS | (rank))
#define ABI_TICKET_RANK(ticket)  ((ticket) & ((1u << ABI_RANK_BITS) - 1))
#define ABI_TICKET_OURS   0x80000000u /* numbered by user space */

#ifndef __bpf__
static_assert(sizeof(struct abi_ticket) == 128 && sizeof(struct abi_name_key) == 4 + ABI_NAME_MAX, "keys have no holes");
#endif

#endif
