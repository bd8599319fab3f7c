/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Posts the agent's sums to a receiver of the OpenTelemetry protocol over HTTP, from a thread of its own. Of texts that
 * wait, the latest is enough. Nothing here ends the agent, or holds it up.
 */
#ifndef UNBLEND_AGENT_OTLP_H
#define UNBLEND_AGENT_OTLP_H

#include <stddef.h>

struct otlp;

struct otlp_options {
    const char *url;           /* https://HOST:PORT; plain http to loopback only. v1/metrics is appended */
    const char *token_file;    /* a bearer token, read anew for each post; NULL: none is sent */
    const char *ca_file;       /* NULL: the system's */
    const char *cert, *key;    /* of the node, PEM files; NULL: none */
};

/* Checks the options, whose strings must outlive it, and starts the thread. 0 or -errno, logged. */
int otlp_start(const struct otlp_options *options, struct otlp **out);

/* Takes the text over, in place of one that has not been sent yet. */
void otlp_put(struct otlp *otlp, char *text, size_t size);

/* Sends what waits, for so long at most, and stops the thread. NULL is fine. */
void otlp_stop(struct otlp *otlp, unsigned timeout_ms);

#endif
