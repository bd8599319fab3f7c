/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a probe must be before anything is fired under it; each is judged. */
#ifndef UNBLEND_TESTS_KERNEL_CHECK_PROBE_H
#define UNBLEND_TESTS_KERNEL_CHECK_PROBE_H

#include "tests/kernel/trial.h"

/*
 * A single flavour may lack a few calls; then it says which, and why. Whoever may choose has none left. What is said to
 * be counted is fired afterwards; the others are trial->missing.
 */
void check_self_test(struct trial *trial, bool single);

/* The kernel refuses programs beyond a million steps of its verifier; leave half of it for what changes. Where others
   load programs, this would find theirs too. */
void check_room(struct trial *trial);

/* What the probe takes on a machine that may have many processors; limit: bytes */
void check_memory(struct trial *trial, uint64_t limit);

/* Learns which page faults are seen, and says which hooks are not there. 0 or -errno. */
int look_at_hooks(struct trial *trial);

#endif
