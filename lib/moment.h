/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Points in time as people give them. */
#ifndef UNBLEND_LIB_MOMENT_H
#define UNBLEND_LIB_MOMENT_H

#include <stdint.h>

/*
 * RFC 3339 ("2026-03-01T12:00:00Z", "...+02:00"; seconds may be left out; without a zone, or a date alone, it is local
 * time), or a duration before now ("2h"). Times are ns since 1970. 0 or -EINVAL; *out only on
 * success.
 */
int moment_parse(const char *text, int64_t now_ns, int64_t *out);

/* The value of that option, in its variable: *out stays as it is when that is NULL. 0, or -EINVAL, logged. */
int moment_option(const char *option, const char *const *text, int64_t *out);

#endif
