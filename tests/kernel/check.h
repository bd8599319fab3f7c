/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares what the probe counted of a call with what was fired, to the operation, the byte and the errno. */
#ifndef UNBLEND_TESTS_KERNEL_CHECK_H
#define UNBLEND_TESTS_KERNEL_CHECK_H

#include "tests/kernel/trial.h"

/* Complains of all that differs: counts, sizes, errors, whose and where they are, slots and trees. pid: who fired */
void check_call(struct trial *trial, const struct batch *batch, const struct outcome *outcome, pid_t pid);

#endif
