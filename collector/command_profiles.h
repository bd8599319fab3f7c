/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profiles: what a report found, for dashboards. Returns the exit status. */
#ifndef UNBLEND_COLLECTOR_COMMAND_PROFILES_H
#define UNBLEND_COLLECTOR_COMMAND_PROFILES_H

#include "collector/work.h"

int command_profiles(const struct values *values);

#endif
