/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Descriptors that are closed side by side, however the process ends. The kernel takes tens of milliseconds to take a
 * program off an event, and as long again to free the event: many seconds for hundreds of them, one after the other. So
 * each of some threads has a table of descriptors of its own, with a share of them; when the process is killed, they
 * all end at once.
 */
#ifndef UNBLEND_PROBE_KEEPER_H
#define UNBLEND_PROBE_KEEPER_H

struct keepers;

/* Takes over count descriptors, which are not open in the caller's table any more then. 0, or -errno, upon which they
   are still the caller's. Release with keepers_free(). */
int keepers_new(struct keepers **out, const int *descriptors, unsigned count);

/* Has them closed soon after, by processes that nobody waits for. */
void keepers_free(struct keepers **keepers);

#endif
