/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Log lines as entries of the systemd journal, with a priority and fields, where that is where stderr leads: the
 * protocol that systemd documents as JOURNAL_NATIVE_PROTOCOL. For lib/log.c.
 */
#ifndef UNBLEND_LIB_JOURNAL_H
#define UNBLEND_LIB_JOURNAL_H

#include <stdbool.h>

/* As in syslog(3). text has no line break. False when it is not there that the line belongs, or it was not taken. */
bool journal_send(int priority, const char *program, const char *text);

#endif
