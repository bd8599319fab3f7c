/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel says of tasks that waited for I/O, of the whole node: /proc/pressure/io, as the kernel's
 * Documentation/accounting/psi.rst explains it. Not there without CONFIG_PSI, or with psi=0.
 */
#ifndef UNBLEND_PROBE_PRESSURE_H
#define UNBLEND_PROBE_PRESSURE_H

#include "lib/record.h"

/* The totals since the boot in such a file's text; not known when it is something else. */
struct pressure pressure_parse(const char *text);

/* Those of now, of proc below a root ("": the node's own). */
struct pressure pressure_read(const char *root);

/* What came between; not known when one of them is not, or when they went back. */
struct pressure pressure_between(const struct pressure *before, const struct pressure *now);

#endif
