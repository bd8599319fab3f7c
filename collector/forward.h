/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Passes what was stored here on to another site's collector, from a thread of its own: the oldest first, and forgotten
 * after a 200 only. What was sent and not yet forgotten when somebody is killed is sent again, and the other side's
 * ledger knows it. Any number of collectors share the work.
 */
#ifndef UNBLEND_COLLECTOR_FORWARD_H
#define UNBLEND_COLLECTOR_FORWARD_H

#include "lib/outward.h"

struct forward;

struct forward_options {
    const char *url; /* NULL: nothing leaves */
    const char *token_file, *ca_file, *proxy;
    struct outward_options outward;
};

/* 0 or -errno (logged); -EINVAL is wrong usage. The strings are not copied. */
int forward_start(const struct forward_options *options, const char *conninfo, struct forward **out);

/* Ends after the request under way. NULL is fine. */
void forward_stop(struct forward *forward);

#endif
