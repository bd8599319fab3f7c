/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The passwords for PostgreSQL of root, who has started the collector, for the user whom it becomes. */
#ifndef UNBLEND_COLLECTOR_PASSWORD_H
#define UNBLEND_COLLECTOR_PASSWORD_H

/* Keeps what libpq would read as root, PGPASSFILE or ~/.pgpass, in memory, and leads libpq there; not where the user
   has a ~/.pgpass of its own. To be called while root. 0, also when there is no such file, or -errno (logged). */
int password_keep(const char *user);

#endif
