/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Time inside operations, over time: what a job's busy series holds in place of demand. */
#ifndef UNBLEND_ANALYZER_BUSY_H
#define UNBLEND_ANALYZER_BUSY_H

#include "lib/demand.h"
#include "lib/operation.h"

/* Times in ns. */
enum busy {
    BUSY_READ,     /* in reads, seeks and page faults */
    BUSY_WRITE,    /* in writes, syncs, and what makes and changes files */
    BUSY_METADATA, /* in the others */
    BUSY_DATA_OPS, /* operations behind the first two */
    BUSY_METADATA_OPS,
};
#define BUSY_KINDS 3 /* the times */
#define BUSY_TIMES (DEMAND_BIT(BUSY_READ) | DEMAND_BIT(BUSY_WRITE) | DEMAND_BIT(BUSY_METADATA))

/* Which of the three times an operation's is. */
enum busy busy_of(enum operation op);

#endif
