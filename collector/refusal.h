/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One line in the log for each who is not let in: from where, what was asked for, and why not; never a token, nor
 * anything else that the client chose, but for names of nodes. Whoever fills the log is heard less: after some lines of
 * an address at once the rest are only counted.
 */
#ifndef UNBLEND_COLLECTOR_REFUSAL_H
#define UNBLEND_COLLECTOR_REFUSAL_H

/* status 0 is for what gets no answer. what: "POST /v1/batches"; node may be "". */
void refusal_log(const char *address, unsigned status, const char *what, const char *node, const char *why);

#endif
