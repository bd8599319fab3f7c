/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A hook that is attached need not fire. So each call that counts is fired a known number of times, in processes of
 * our own, and what was counted for those is compared. The calls change nothing: they go to "/" and to our own program
 * read-only, to what does not exist, or to descriptors that only name a file.
 */
#ifndef UNBLEND_PROBE_SELFTEST_H
#define UNBLEND_PROBE_SELFTEST_H

#include <stdbool.h>
#include <sys/types.h>

#include "lib/record.h"
#include "probe/syscall_table.h"

enum selftest_result {
    SELFTEST_NOT_FIRED, /* it would wait for disks */
    SELFTEST_EXACT,
    SELFTEST_WRONG,
    SELFTEST_ABSENT, /* the kernel does not have the call, or something forbids it here */
};

struct selftest_outcome {
    enum selftest_result result;
    unsigned fired, counted;
};

/* As many times each call is fired. */
#define SELFTEST_FIRED 3

/* Who counts. Both return 0 or -errno. */
struct selftest_host {
    int (*watch)(void *context, pid_t pid); /* this process and its descendants */
    int (*drain)(void *context, struct batch **out); /* what was counted; the caller's then */
    void *context;
};

/* Fires the wanted calls (by index in syscall_calls()) and fills in the outcomes of those. 0 or -errno. */
int selftest_run(const struct selftest_host *host, const bool *wanted,
                 struct selftest_outcome outcomes[SYSCALL_CALLS_MAX]);

/* --- its table of calls --- */

struct selftest_files {
    int directory, file; /* "/" and our own program, read-only */
    int name;            /* "/", as a name only (O_PATH) */
};

/* Async-signal-safe. The call's result, 0 or negative errno; false when the call is not fired. */
bool selftest_fire(unsigned number, const struct selftest_files *files, long *result);

/* Whether selftest_fire() would. */
bool selftest_fires(unsigned number);

#endif
