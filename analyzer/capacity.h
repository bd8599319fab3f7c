/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is demanded of storage, a second, over windows aligned to the wall clock: of each volume, of all shared ones
 * together, and of those by profile and by owner; and how that compares with what a platform can do. Local volumes and
 * tmpfs are no part of a platform's demand. Sums add the same instant of all nodes; they never add percentiles.
 *
 * A window is left out where it is shorter than what was recorded, or longer than the span. Of those of more than a
 * second, only windows count that lie in the span as a whole.
 */
#ifndef UNBLEND_ANALYZER_CAPACITY_H
#define UNBLEND_ANALYZER_CAPACITY_H

#include "analyzer/classify.h"
#include "analyzer/offer.h"



enum metric_id {
    METRIC_READ_BYTES,
    METRIC_WRITE_BYTES,
    METRIC_READ_OPS,
    METRIC_WRITE_OPS,
    METRIC_METADATA_OPS,
    METRIC_IN_FLIGHT, /* the mean number of operations at a time; of a second or more */
    METRIC_COUNT
};

struct metric {
    const char *name; /* as in reports: "read_bytes_s" */
    enum demand demand;
};

extern const struct metric metrics[METRIC_COUNT];
extern const char *const metric_words[METRIC_COUNT]; /* for people */

#define CAPACITY_WINDOWS 4
#define CAPACITY_SECOND  1 /* position of 1 s */
extern const uint32_t capacity_window_ms[CAPACITY_WINDOWS]; /* 100 ms, 1 s, 1 m, 1 h */

/* Rates a second; quantiles are nearest-rank over the windows of the span, empty ones included. */
struct capacity_demand {
    bool known;
    double mean, p50, p95, p99, max;
    double longest_above_p95_s; /* the longest run of windows above p95; NAN: they are too much alike to tell */
    int64_t max_ms;             /* when the highest window began, since 1970; 0 where nobody knows */
};

enum limit_source { LIMIT_NONE, LIMIT_PLATFORM, LIMIT_HIGHEST_SEEN };

/* Of the limit, what is used at most by any metric in a window; a platform's reads and writes share it. */
struct capacity_use {
    bool known;
    double mean, p95, max;
    int64_t max_ms;
    enum metric_id binding; /* the one that comes nearest to its limit */
};

/* Demand over time, as it was recorded. */
struct load {
    const struct series *series, *busy;
    const struct windows *windows; /* NULL when there are none */
};

struct capacity_entry {
    const char *name;                  /* of a volume, profile or owner; NULL for all shared volumes */
    const struct volume_total *volume; /* NULL when it is not one */
    bool reached;                      /* else asked */
    struct capacity_demand demand[METRIC_COUNT][CAPACITY_WINDOWS];
    double limit[METRIC_COUNT]; /* NAN where there is none */
    enum limit_source source;
    struct capacity_use use[CAPACITY_WINDOWS];
};

/* What a platform must do for this demand. */
struct need {
    enum metric_id metric;
    double sustained, peak;      /* the 95th percentile of the longest windows of up to a minute; the highest second */
    uint32_t peak_window_ms;     /* or minute, where seconds are not known: the window that the peak is the mean of */
    double above_s;              /* for how long at a stretch it is above the sustained one; may be NAN */
    /* what each second's peak asks of all nodes when one is lost: NAN when their number is not known */
    double node_lost;
    int64_t peak_ms;
    unsigned with;               /* set of the metrics whose peaks fall into the same second */
    bool sized;
    uint64_t size_p50, size_p95; /* of what is counted, where it has a size */
    uint64_t latency_p50_ns, latency_p99_ns; /* held meanwhile; 0: not known */
};

/* All that is demanded by a profile. */
struct capacity_share {
    const char *profile;
    double sum[METRIC_COUNT];
};

/* The demand on the volumes that a platform holds: what reached them, where that was seen, and whose it is. */
struct capacity_offer {
    bool known; /* else they were not asked for anything */
    struct capacity_entry entry;
    double looked; /* how many operations looks have found in flight at once, at most */
    struct capacity_share *shares;
    uint32_t share_count;
};

struct capacity {
    struct capacity_offer platform; /* of the report's, if it has one */
    struct capacity_entry *volumes, *cluster, *profiles, *owners;
    uint32_t volume_count, cluster_count, profile_count, owner_count; /* cluster: asked, and reached if that was seen */
    struct need required[METRIC_COUNT];
    uint32_t required_count; /* none when no volume is shared */
};

/* profiles: one a job of the sorted totals, NULL for none. platform: NULL for none. Names are borrowed. 0 or
   -ENOMEM. */
int capacity_build(const struct aggregate *totals, const struct profile_list *profiles, const struct offer *offer,
                   struct capacity *out);
void capacity_clear(struct capacity *capacity);

/* Names are borrowed. 0, -ENOMEM or -EINVAL. */
int capacity_of_offer(const struct aggregate *totals, const struct profile_list *profiles, const struct offer *offer,
                      struct capacity_offer *out);
void capacity_offer_clear(struct capacity_offer *offer);

/* One metric over from..last (as series_windows()). 0, -ENOMEM, -ENODATA when there are no such windows. */
int capacity_of(const struct load *load, enum metric_id metric, uint32_t window_ms, int64_t from, int64_t last,
                struct capacity_demand *out);

/* The windows of a span, for series_windows(). False when there are none. */
bool capacity_span(const struct series *span, uint32_t window_ms, int64_t *from, int64_t *last);

/* Fills in limits and utilization, over the span of a series. 0 or -ENOMEM. */
int capacity_limit(const struct load *load, const struct offer *offer, const struct series *span,
                   struct capacity_entry *entry);

/* What is required of a platform. */
int capacity_require(const struct aggregate *totals, const struct offer *offer, struct capacity *capacity);

#endif
