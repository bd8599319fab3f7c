/* SPDX-License-Identifier: GPL-2.0-or-later */
/* export, import and site-key: what sites without a network between them exchange. Each returns the exit status. */
#ifndef UNBLEND_COLLECTOR_COMMAND_BUNDLE_H
#define UNBLEND_COLLECTOR_COMMAND_BUNDLE_H

#include "collector/work.h"

int command_export(const struct values *values);
int command_import(const struct values *values);
int command_site_key(const struct values *values);

#endif
