/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A node that comes up with a join token makes itself a token of its own, once. */
#ifndef UNBLEND_AGENT_JOIN_H
#define UNBLEND_AGENT_JOIN_H

#include <stddef.h>

#include "lib/remote.h"

/* Exchanges the join token (node NULL: the host's name) and writes the token to a file that only its owner reads. 0, or
   -errno with *why for people; -EACCES when the collector refuses: trying again soon does not help. */
int join_enroll(struct remote *remote, const char *join_file, const char *token_file, const char *node,
                const char *cluster, char *why, size_t size);

/* What the file of the token is called until all of it is safe, malloc'ed; NULL without memory. */
char *join_fresh(const char *token_file);

#endif
