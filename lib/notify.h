/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tells the service manager how a daemon is doing: the datagrams of sd_notify(3), a protocol of a few lines that
 * systemd documents and keeps, so no library comes along for it. Does nothing where no service manager listens.
 */
#ifndef UNBLEND_LIB_NOTIFY_H
#define UNBLEND_LIB_NOTIFY_H

/* Takes the address out of the environment, so that children do not speak for us. To be called before the first
   thread. */
void notify_init(void);

/* It works, and this is what it does. */
void notify_ready(const char *status);

/* What it does now. */
void notify_status(const char *status);

/* It reads its files again; notify_ready() ends that. */
void notify_reloading(void);

void notify_stopping(void);

/* It is alive; to be called more often than the unit's WatchdogSec. */
void notify_alive(void);

#endif
