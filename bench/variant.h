/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who watches while something is measured: nobody, the floor, Unblend or a peer. One at a time; 0 or -errno.
 */
#ifndef UNBLEND_BENCH_VARIANT_H
#define UNBLEND_BENCH_VARIANT_H

enum variant { VARIANT_NONE, VARIANT_EMPTY, VARIANT_CLOCK, VARIANT_UNBLEND, VARIANT_BPFTRACE, VARIANTS };

extern const char *const variant_names[VARIANTS];

struct watchers;

/* Loads the floor's programs, from a file for each pair. script: the peer's, a path that must live as long. */
int watchers_new(const char *empty_object, const char *clock_object, const char *script,
                 struct watchers **out);
void watchers_free(struct watchers *watchers);

/* From its return on, every call of this process is watched. */
int watchers_start(struct watchers *watchers, enum variant variant);
/* Ends what was started. Unblend's probe is loaded by its first start, and from then on only detached from all operations
   and attached again, as where watching becomes too dear; but for the next start after this, which loads it anew. Where
   in memory its programs lie is a matter of chance, and makes them a tenth faster or slower. */
void watchers_stop(struct watchers *watchers);
void watchers_unload(struct watchers *watchers);

/* NULL before its first start. */
struct probe *watchers_probe(const struct watchers *watchers);

#endif
