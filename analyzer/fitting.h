/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Operations prepared for unmixing, and the parts that a set of profiles gets of them. */
#ifndef UNBLEND_ANALYZER_FITTING_H
#define UNBLEND_ANALYZER_FITTING_H

#include "analyzer/behaviour.h"
#include "analyzer/catalogue.h"
#include "analyzer/concert.h"
#include "analyzer/fit_memory.h"
#include "analyzer/part_feature.h"

/* Bins behind the groups that count reads once more (analyzer/fitting_margins.h). */
struct margin {
    size_t first;
    unsigned count; /* 0: it is not known */
};

/*
 * Bins that lie in the same ranges of all signatures cannot be told apart by the fit: they are
 * fitted as one group, and get its parts in proportion.
 */
struct fitting {
    const struct catalogue *catalogue;
    struct bin *bins;
    size_t bin_count;
    size_t *group;         /* of each bin */
    const struct bin **of; /* a bin of each group */
    double *observed;      /* each group's operations */
    size_t group_count;    /* of bins; behind them come reads once more: */
    struct margin order;   /* those that go on, those that jump; */
    struct margin files;   /* by enum file_size */
    double copied[FILE_SIZES]; /* of the reads that match writes, how many may be of which files */
    size_t all_count;      /* with these */
    struct part whole;
    bool sized_opens; /* it is known how large opened files are */
    bool joint;       /* and of reads, by size, whether they jump and of what files they are */
    struct feature_context context; /* but for the part */
    bool claimed[MATCH_KINDS]; /* by a signature that takes part: the others leave such transfers to it */
    bool *active;    /* by profile */
    bool *impossible; /* by signature, whatever else there is */
    bool *refused;   /* by signature, all profiles' in one row */
    bool *chosen;    /* likewise: it takes part in the last fit of parts, which are these: */
    struct part *at; /* by profile */
    struct part *by; /* by signature */
    double score;    /* of the last fit */
    struct fit_memory memory; /* of fits of the data as it was counted */
    double *amounts;    /* of the last fit, by signature */
    double *explained;  /* by the last fitting_again(), of each group; */
    double *ops, *bytes; /* and what profiles got, as shares of what was counted */
    double *counted;    /* each group's operations; where `observed` was drawn, those of the data */
    double *worth;      /* bytes of an operation, by group */
    size_t signature_count, ingredient_count; /* of the catalogue */
    double *weights; /* of all ingredients in one row, as they are for this data; a signature's add up to 1 */
    const double *recipes; /* weights in the place of these; NULL: none */
};

/* Takes over nothing; catalogue must outlive it. concert, process: as in mixture.h. 0 or -ENOMEM; fitting_clear() is due in both
   cases. */
int fitting_init(struct fitting *fitting, const struct catalogue *catalogue, const struct tally *tally,
                 const struct concert *concert, const struct peers *process);
void fitting_clear(struct fitting *fitting);

/* Fits the active profiles, without the signatures that break a bound of their own. 0 or -ENOMEM. */
int fitting_fit(struct fitting *fitting);
/* The same, for whoever only asks for a fit whose score passes a floor: 1, without parts, as soon as it is sure that
   this one's does not, which is long before all of it is fitted. */
int fitting_fit_above(struct fitting *fitting, double floor);
/* The same with the signatures that the last fit left, to an accuracy that is enough for one of many draws, and without
   parts: writes ops, bytes and explained. 0 or -ENOMEM; 1, with nothing in these, when the score does not pass the
   floor. */
int fitting_again(struct fitting *fitting, double floor);
/* What the last fit's amounts of the active profiles' signatures would be, in each group and order: out[all_count]. 0
   or -ENOMEM. */
int fitting_predict(struct fitting *fitting, double *out);
/* Leaves the profile's signature that most of its part is unlike out of all further fits. False when it has none. */
bool fitting_drop_unlike(struct fitting *fitting, uint32_t profile);
/* The same with the one that has most of its part. False when it has no other. */
bool fitting_drop_largest(struct fitting *fitting, uint32_t profile);
/* Fits one profile by itself. 0 or -ENOMEM. */
int fitting_fit_one(struct fitting *fitting, uint32_t profile);

#endif
