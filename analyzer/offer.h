/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A storage platform as a small JSON file describes it (unblend-platform(5)): what it can do with all its nodes, and
 * how many of them may fail. What the file does not say is NAN, and an empty list of volumes means all shared ones.
 */
#ifndef UNBLEND_ANALYZER_OFFER_H
#define UNBLEND_ANALYZER_OFFER_H

#include <stdbool.h>
#include <stdint.h>

#define OFFER_SCHEMA "unblend.platform/1"

enum offer_figure {
    OFFER_READ_IOPS,
    OFFER_WRITE_IOPS,
    OFFER_IOPS, /* of both, where they are not told apart */
    OFFER_METADATA,
    OFFER_READ_BYTES,
    OFFER_WRITE_BYTES,
    OFFER_BYTES,
    OFFER_IN_FLIGHT,
    OFFER_LATENCY_US, /* of one request when nothing else asks */
    OFFER_CAPACITY,   /* usable bytes */
    OFFER_FILES,
    OFFER_NODE_CORES, /* that a converged node gives up */
    OFFER_NODE_MEMORY,
    OFFER_PRICE, /* of all, for its whole life */
    OFFER_YEARS, /* that life */
    OFFER_FIGURES
};

struct offer_tier {
    char *name;
    double bytes, bytes_s, price; /* NAN; all prices together are at most the platform's own */
};

struct offer {
    char *name, *currency; /* currency may be NULL */
    char **volumes;        /* globs */
    unsigned volume_count;
    char **held;           /* other names of volumes that they match */
    unsigned held_count;
    unsigned nodes, failures; /* nodes: at least 1 */
    bool converged;
    double figure[OFFER_FIGURES];
    struct offer_tier *tiers;
    unsigned tier_count;
};

/* 0 or -errno; what is wrong with the file is logged in one line, and *out is as it was. */
int offer_load(const char *path, struct offer *out);
/* The same of text that came from somewhere called name. */
int offer_parse(const char *text, const char *name, struct offer *out);
void offer_clear(struct offer *offer);

/* By its name, or by one that it was held under. */
bool offer_holds(const struct offer *offer, const char *volume);
/* A volume that it holds goes by that name, too; once is enough. 0 or -ENOMEM. */
int offer_hold(struct offer *offer, const char *name);

/* What it can do with so many nodes working, as in capacity.h's metrics; what is not known stays as it is. */
void offer_limits(const struct offer *offer, unsigned nodes, double *limits);

#endif
