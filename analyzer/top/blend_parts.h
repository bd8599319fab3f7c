/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a process that is looked at consists of, for those who fit it and those who add up. */
#ifndef UNBLEND_ANALYZER_TOP_BLEND_PARTS_H
#define UNBLEND_ANALYZER_TOP_BLEND_PARTS_H

#include "analyzer/mixture.h"
#include "analyzer/top/blend.h"
#include "analyzer/top/model.h"

#define BLEND_WINDOW_NS 30000000000LL

/* A profile's share of what was unmixed, confidence weighted by operations. */
struct portion {
    float ops, bytes, confidence;
};

struct blend {
    struct tally tally; /* the window's */
    int64_t since_ns, fitted_ns;
    uint64_t ops, bytes, fitted_ops; /* in the tally; when it was last unmixed */
    struct portion *portions; /* one a profile and unknown; NULL before the first time */
};

/* Whether so much can be told. */
static inline bool blend_is_enough(uint64_t ops, uint64_t bytes)
{
    return ops >= MIXTURE_OPS_MIN || bytes >= MIXTURE_BYTES_MIN;
}

/* Of the catalogue's, and behind them unknown. */
static inline const char *blend_profile_name(const struct model *model, uint32_t at)
{
    return at < model->catalogue->count ? model->catalogue->profiles[at].name : PROFILE_UNKNOWN;
}

/* Names the profiles of processes, of jobs and of the blend of all, by the portions of the processes. 0 or -ENOMEM. */
int blend_add_up(struct model *model);

#endif
