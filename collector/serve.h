/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The daemon. */
#ifndef UNBLEND_COLLECTOR_SERVE_H
#define UNBLEND_COLLECTOR_SERVE_H

#include "collector/forward.h"
#include "collector/setup.h"

struct serve_options {
    struct setup setup;
    const char *listen;
    const char *tls_cert; /* files; both or neither */
    const char *tls_key;
    uint64_t max_db_bytes; /* 0: no limit */
    const char *tls_client_ca; /* file; NULL: no client certificates are asked for */
    uint64_t node_rate;        /* requests a second of each node; 0: no limit */
    struct forward_options forward;
    const char *user; /* to become when root; NULL: unblend, or else nobody without an embedded database */
};

/* Serves until SIGTERM or SIGINT; SIGHUP makes it read its certificate again. 0, or -errno (logged) when it could not
   start; -EINVAL and -EPERM mean that the options are wrong. */
int serve(const struct serve_options *options);

#endif
