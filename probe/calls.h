/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which system call is watched through which hook. The best flavour watches all calls; those that it does not count
 * exactly, as the self-test finds, are given to the next one, call by call.
 */
#ifndef UNBLEND_PROBE_CALLS_H
#define UNBLEND_PROBE_CALLS_H

#include "probe/attach.h"
#include "probe/flavour.h"
#include "probe/probe.h"
#include "probe/selftest.h"

struct bpf_object;
struct calls;

/* Makes the plan; nothing is loaded for longer than a look at the mix of calls. 0 or -ENOMEM. */
int calls_new(const struct probe_options *options, struct calls **out);
void calls_free(struct calls *calls); /* NULL is fine; before the objects are closed */

/* Before the first object is loaded: which of its programs are. */
void calls_prepare(const struct calls *calls, struct bpf_object *first);

/* Opens and loads the first object again, on the maps that are there, with the programs of one flavour only. */
typedef int (*calls_reload)(void *context, enum flavour flavour, struct bpf_object **out);

/* Attaches the first flavour of the plan that can be. 0 or -errno. */
int calls_attach(struct calls *calls, struct bpf_object *first, calls_reload reload, void *context);

/* Fires every call and gives those that are not counted exactly to another flavour, as long as there is one. 0, or
   -errno when nothing could be found out. */
int calls_test(struct calls *calls, const struct selftest_host *host);

/* Takes all programs off the calls, and puts them back where they were: 0 or -errno. */
void calls_detach(struct calls *calls);
int calls_resume(struct calls *calls);

/* Since the start: events for which the kernel has skipped a program, and for how long the programs have run while the
   kernel measured that (bpf_enable_stats()). */
struct attach_account calls_account(const struct calls *calls);

/* The flavour that watches most calls; FLAVOUR_AUTO before anything is attached. */
enum flavour calls_flavour(const struct calls *calls);

/* Why each flavour was chosen, or not. */
const struct flavour_plan *calls_plan(const struct calls *calls);

/* Why a flavour that was tried, or would have been, does not work; err is what the loading ended with. */
void calls_explain(const struct calls *calls, enum flavour flavour, int err, char *why, size_t size);

/* The self-test's results call by call, by index in syscall_calls(); whether there are any; and through which flavour
   each call is watched now. */
bool calls_tested(const struct calls *calls);
struct selftest_outcome calls_outcome(const struct calls *calls, unsigned call);
enum flavour calls_flavour_of(const struct calls *calls, unsigned call);

/* What coverage says of the flavour chosen: why it and not the others, and what the self-test found. Valid until the
   next question. */
const char *calls_why(struct calls *calls);

/* Rows of coverage for calls that another flavour watches, or that none counts exactly: at most SYSCALL_CALLS_MAX. The
   number of them; valid until the next question. */
unsigned calls_exceptions(struct calls *calls, struct hook hooks[SYSCALL_CALLS_MAX]);

#endif
