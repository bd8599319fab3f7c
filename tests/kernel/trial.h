/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A probe under trial: what is fired under it, where, and what became of that so far. */
#ifndef UNBLEND_TESTS_KERNEL_TRIAL_H
#define UNBLEND_TESTS_KERNEL_TRIAL_H

#include "probe/probe.h"
#include "probe/calls.h"
#include "tests/kernel/watched.h"

struct place {
    const char *directory;
    char mount[256], fstype[32];
    bool on_disk;
};

struct trial {
    struct probe *probe;
    struct watched watched;
    struct place place;
    const struct call *call;
    enum crew crew;
    bool faults; /* major page faults are seen, and */
    bool kinds;  /* whether they read or write */
    unsigned passed, failed;
    bool missing[SYSCALL_CALLS_MAX]; /* calls that the forced flavour cannot count, as it says itself */
    bool brief; /* only some of the calls from threads */
    bool trees; /* operations are told by tree */
    bool lossy; /* busy threads may lose calls through this flavour here, and the probe says how many */
    char complaint[400];
};

/* Fills in the rest of a place whose directory is set: the mount point above it, as the probe must name it. */
void find_mount(struct place *place);

/* Adds to what is wrong with the call. */
void complain(struct trial *trial, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Says and counts whether it is good. why: may be empty */
void judge(struct trial *trial, bool good, const char *what, const char *why);

/* What has happened up to now, the caller's then. 0 or -errno. */
int drain(struct trial *trial, struct batch **out);

#endif
