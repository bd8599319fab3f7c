/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a request's headers can be read in one way only. */
#ifndef UNBLEND_COLLECTOR_FRAMING_H
#define UNBLEND_COLLECTOR_FRAMING_H

#include <microhttpd.h>

/* What somebody on the way may have read otherwise: how long the body is, or who sends it, in words; NULL: nothing. */
const char *framing_doubt(struct MHD_Connection *connection);

#endif
