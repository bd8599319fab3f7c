/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Puts the programs of one flavour on system calls. A set of calls is an array of flags, one for each of
 * syscall_calls(); a call counts as attached when both its entry and its return are.
 */
#ifndef UNBLEND_PROBE_ATTACH_H
#define UNBLEND_PROBE_ATTACH_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/flavour.h"
#include "probe/syscall_table.h"

struct bpf_link;
struct bpf_object;
struct keepers;

struct attach_account {
    uint64_t missed; /* events for which the kernel has skipped a program because it was running already */
    uint64_t run_ns;
};

struct attached {
    enum flavour flavour;
    bool compat; /* calls of 32-bit programs, too, where the flavour can; the caller's wish */
    bool calls[SYSCALL_CALLS_MAX];
    int refused; /* negative errno of the last call that could not be attached; 0: none */
    struct bpf_link **links;
    int *descriptors; /* of links that libbpf does not know */
    struct keepers *keepers; /* who have the descriptors when there are many; or NULL */
    int *programs; /* descriptors, for what the kernel counts of each */
    bool own_programs; /* loaded here, and closed here */
    unsigned link_count, descriptor_count, program_count;
    struct attach_account gone; /* of programs that are closed */
};

/* Before an object is loaded: lets the programs of this flavour be loaded and those of all others not. */
void attach_prepare(struct bpf_object *object, enum flavour flavour);

/* Attaches them to the wanted calls, or as many as can be; *attached is empty, or at rest. 0, or -errno when there is
   none; *attached is to be closed in both cases. */
int attach_calls(struct bpf_object *object, enum flavour flavour, const bool *wanted,
                 struct attached *attached);
void attach_close(struct attached *attached);

/* Detaches only: the account goes on when the same flavour is attached again. */
void attach_rest(struct attached *attached);

/* Of all its programs, since they were loaded. */
struct attach_account attach_account(const struct attached *attached);

/* --- for the flavours --- */

/* Takes a link over, or one that is only a descriptor; -ENOMEM when that fails, and then closes it. */
int attached_link(struct attached *attached, struct bpf_link *link);
int attached_descriptor(struct attached *attached, int fd);
int attached_program(struct attached *attached, int fd);

/* Each attaches the wanted calls and marks them; negative errno for what ends it all. */
int attach_everywhere(struct bpf_object *object, const bool *wanted, struct attached *attached);
int attach_tracepoints(struct bpf_object *object, const bool *wanted, struct attached *attached);
int attach_trampolines(struct bpf_object *object, const bool *wanted, struct attached *attached);
int attach_functions(struct bpf_object *object, const bool *wanted, struct attached *attached);

#endif
