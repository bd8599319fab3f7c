/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The programs of PostgreSQL and one cluster's files, for embedded.c. */
#ifndef UNBLEND_COLLECTOR_CLUSTER_H
#define UNBLEND_COLLECTOR_CLUSTER_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#define CLUSTER_USER "unblend" /* the role in the database that owns all */

/* Where PostgreSQL's server programs are: those of the cluster's own major version, or the newest
   for a new cluster. 0, or -ENOENT (logged). */
int cluster_programs(const char *data, char bin[PATH_MAX]);

/* Whether there is a cluster. */
bool cluster_exists(const char *data);

/* Runs initdb; only the calling user and root can enter, by their system account. 0 or -errno
 * (logged). */
int cluster_create(const char *bin, const char *data);

/* Starts the server with its socket in a directory. 0 or -errno (logged). */
int cluster_start(const char *bin, const char *data, const char *socket_directory, pid_t *pid);

/* The server that runs on the cluster, whoever started it; 0 when there is none. */
pid_t cluster_server(const char *data);

/* Removes a pid file that a crash left and that now names a stranger, so that a server can start.
 */
void cluster_forget(const char *data);

#endif
