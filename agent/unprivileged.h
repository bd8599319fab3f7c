/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The agent as a user of its own, with the rights only that watching takes. */
#ifndef UNBLEND_AGENT_UNPRIVILEGED_H
#define UNBLEND_AGENT_UNPRIVILEGED_H

#include "agent/agent.h"
#include "agent/spool.h"

/* Whether the state directory may be given to that user: it is its own, the default one, missing, empty, or an agent's.
   0 or -errno (logged). */
int unprivileged_check(const char *user, const struct agent_options *options);

/* Makes the directory of the socket, gives it and what is in the state directory to the user, and becomes it. spool is
   that of the state directory, or NULL. 0 or -errno (logged). */
int unprivileged_become(const char *user, const struct agent_options *options, struct spool *spool);

#endif
