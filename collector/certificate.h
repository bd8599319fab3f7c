/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Client certificates, for those who want them beside tokens. */
#ifndef UNBLEND_COLLECTOR_CERTIFICATE_H
#define UNBLEND_COLLECTOR_CERTIFICATE_H

#include <microhttpd.h>

/* Whether the client's certificate is good, by the authorities that the daemon was started with, and was made for that
   name. NULL, or why not. */
const char *certificate_refusal(struct MHD_Connection *connection, const char *name);

#endif
