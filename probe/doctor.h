/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `unblend doctor` shows: tries every hook and every flavour, and fires every call. */
#ifndef UNBLEND_PROBE_DOCTOR_H
#define UNBLEND_PROBE_DOCTOR_H

#include <stdbool.h>

#include "lib/operation.h"
#include "probe/flavour.h"
#include "probe/syscall_table.h"

struct probe_check {
    char hook[64];
    const char *purpose;
    bool available;
    char why[200]; /* empty when available */
};

struct probe_flavour {
    const char *name;
    bool available, chosen;
    unsigned exact, wrong, absent; /* calls, by the self-test */
    char why[400];
};

struct probe_call {
    const char *name;
    enum operation op;
    const char *flavour; /* through which it is watched; NULL: none */
    const char *result;  /* "exact", "wrong", "absent" or "not fired" */
    unsigned fired, counted;
};

#define PROBE_CHECKS_MAX 64

struct probe_diagnosis {
    struct probe_check checks[PROBE_CHECKS_MAX];
    struct probe_flavour flavours[FLAVOURS - 1];
    struct probe_call calls[SYSCALL_CALLS_MAX];
    unsigned check_count, call_count;
    bool host_pids;
    bool works; /* the file layer can be watched */
};

/* Takes a few seconds. 0 or -ENOMEM; what does not work here is no failure. */
int probe_doctor(struct probe_diagnosis *diagnosis);

#endif
