/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What processes take from the network (TCP) -> records of what they write. The thread that receives need not be the one
 * that writes (downloads in parts, event loops with helpers), so this is known by process: which of the bytes are the
 * same nobody sees, only how many came in while so many went out.
 */
#ifndef UNBLEND_PROBE_PASSED_H
#define UNBLEND_PROBE_PASSED_H

#include <stdint.h>

#include "lib/record.h"
#include "probe/bpf/abi.h"

struct passed_write;

/* What was written since the last passed_share() by processes that had received something. Zeroed is empty. */
struct passed {
    struct passed_write *writes;
    uint32_t count, capacity;
};

void passed_clear(struct passed *passed);

/* The process has written so many bytes, of which this is the batch's record. 0 or -ENOMEM. */
int passed_add(struct passed *passed, struct abi_process *process, const struct batch *batch,
               const struct record *record, uint64_t bytes);

/* What these processes have received by now is taken from them, and goes to their records by the bytes of each. */
void passed_share(struct passed *passed, struct batch *batch);

#endif
