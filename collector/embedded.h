/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A private PostgreSQL in a directory: made with initdb, reached through a Unix socket in that
 * directory only, started, watched, adopted when an earlier collector left it behind, and stopped.
 * The distribution's own clusters are not touched.
 *
 *   DIR/data      the cluster            DIR/.s.PGSQL.5432   its socket, or a link to it
 *   DIR/lock      held by whoever runs it
 *
 * Not thread safe. Everything runs as the calling user, who must not be root and owns DIR.
 */
#ifndef UNBLEND_COLLECTOR_EMBEDDED_H
#define UNBLEND_COLLECTOR_EMBEDDED_H

#include <stdbool.h>

struct embedded;

/*
 * Makes the directory if it is not there, and readies it for a user ((unsigned)-1: no change). To
 * be called while still root. 0 or -errno (logged).
 */
int embedded_prepare(const char *directory, unsigned uid, unsigned gid);

/* The conninfo of the cluster in a directory, malloc'ed; NULL without memory. */
char *embedded_conninfo(const char *directory);

/*
 * Takes the directory (waiting so many seconds for whoever has it), makes the cluster if there is
 * none, and starts or adopts its server, without waiting until it answers. Its socket lies in the
 * directory sockets (NULL: in DIR), with a link to it in DIR, so the conninfo is the same. 0 or
 * -errno (logged); -EBUSY (not logged) when somebody else runs it.
 */
int embedded_start(const char *directory, const char *sockets, unsigned wait_s,
                   struct embedded **out);

/* Starts the server again if it has died. To be called about once a second. */
void embedded_watch(struct embedded *embedded);

/* Stops the server ("fast": sessions are ended, nothing committed is lost) and waits for it. NULL
 * is fine. */
void embedded_stop(struct embedded *embedded);

#endif
