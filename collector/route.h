/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What can be asked for: POST /v1/batches, POST /v1/enroll, GET /healthz, /readyz, /metrics; and each request's way,
 * from its headers by who it is to its answer.
 */
#ifndef UNBLEND_COLLECTOR_ROUTE_H
#define UNBLEND_COLLECTOR_ROUTE_H

#include <microhttpd.h>

/* For libmicrohttpd: called for the headers, each piece of body, and when all is there; context is the listener. */
enum MHD_Result route_request(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *data, size_t *size, void **slot);

#endif
