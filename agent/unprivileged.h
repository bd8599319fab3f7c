/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The agent as a user of its own, with the rights only that watching takes. */
#ifndef UNBLEND_AGENT_UNPRIVILEGED_H
#define UNBLEND_AGENT_UNPRIVILEGED_H

#include "agent/agent.h"

/* Makes the directories that the user needs, gives them to it, and becomes it. 0 or -errno (logged). */
int unprivileged_become(const char *user, const struct agent_options *options);

#endif
