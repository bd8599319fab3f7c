/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For how long threads have been inside file operations, all of them together: what has ended, and what is under way
 * for as long as it has been. It is read from the tables at any moment, and grows steadily while an operation lasts;
 * requests of io_uring and libaio are in it once they have ended.
 */
#ifndef UNBLEND_PROBE_INSIDE_H
#define UNBLEND_PROBE_INSIDE_H

#include "probe/tables.h"

/* Of a thread, in ns, since it was first seen. Calls that began before since_ns (CLOCK_MONOTONIC) are nobody's. */
uint64_t inside_ns(const struct tables *tables, const struct abi_thread *thread, uint64_t since_ns, int64_t now_ns);

#endif
