/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The features of a part that the catalogue's requirements speak of. */
#ifndef UNBLEND_ANALYZER_PART_FEATURE_H
#define UNBLEND_ANALYZER_PART_FEATURE_H

#include "analyzer/part.h"

/* What features are computed from. */
struct feature_context {
    const struct part *part;  /* what would be attributed */
    const struct part *whole; /* all of the process, or job, that is looked at */
    const struct part *at;    /* what all profiles have now: so many; */
    uint32_t profiles, profile; /* it is this one's */
    bool process;             /* it is a process */
    double missing;           /* of its stats: they failed because there is no such name */
    double minors;            /* minor page faults on mapped files */
    double fault_writes;      /* share of its major page faults that were to write, of those known; NAN: none is */
    double bytes_per_fault_write; /* bytes of these faults to each that was to write; INFINITY: none is known */
    double unpacked;          /* files that a process makes to each that it opens, if they are many and small; else 0 */
    double files;             /* different ones that anybody opened on a process's volumes; INFINITY: not known */
    double unwritten_syncs;   /* fsyncs beyond its writes */
    uint32_t peers;           /* other processes of the job that read as many bytes */
    double jumps, write_jumps; /* share of its reads, and writes, that do not start where the one before ended; NAN: not known */
    double returns;            /* of the reads that jump, those that go back; NAN: none does */
    double received;          /* share of the bytes written that had just come from the network; NAN: none were written */
    double samples;           /* bytes of files that are not FILE_LARGE and were opened and may have been read; NAN: not known */
};

bool feature_is_known(const char *name);
/* NAN when it is undefined, or name is not known here. */
double feature_value(const struct feature_context *context, const char *name);

#endif
