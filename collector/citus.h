/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Our tables over the workers of a Citus cluster, by the script collector/schema/citus.sql. */
#ifndef UNBLEND_COLLECTOR_CITUS_H
#define UNBLEND_COLLECTOR_CITUS_H

#include "collector/db.h"

extern const char citus_script[];

/* Distributes what is not distributed yet; nothing happens the second time. Results of db.h; -ENOENT when the extension
   is not in the database. */
int citus_distribute(struct db *db);

#endif
