/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys of PostgreSQL's advisory locks that collectors of one database take turns by. */
#ifndef UNBLEND_COLLECTOR_LOCKS_H
#define UNBLEND_COLLECTOR_LOCKS_H

#define LOCKS           "1970168428" /* "unbl" in ASCII: all of ours; then, one of these, or from 16 on a rollup */
#define LOCK_SCHEMA     LOCKS ", 0"
#define LOCK_PARTITIONS LOCKS ", 1"
#define LOCK_DROPPED    LOCKS ", 2" /* what is dropped, and what is kept from that */

#endif
