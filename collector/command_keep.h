/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prune and keep: what stays in the database. Each returns the exit status. */
#ifndef UNBLEND_COLLECTOR_COMMAND_KEEP_H
#define UNBLEND_COLLECTOR_COMMAND_KEEP_H

#include "collector/work.h"

int command_prune(const struct values *values);
int command_keep(const struct values *values);

#endif
