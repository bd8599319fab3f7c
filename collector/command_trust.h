/* SPDX-License-Identifier: GPL-2.0-or-later */
/* enroll and revoke: of nodes, of join tokens, and of sites. Each returns the exit status. */
#ifndef UNBLEND_COLLECTOR_COMMAND_TRUST_H
#define UNBLEND_COLLECTOR_COMMAND_TRUST_H

#include "collector/work.h"

int command_enroll(const struct values *values);
int command_revoke(const struct values *values);

#endif
