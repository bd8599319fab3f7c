/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/dropping.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/standing.h"
#include "lib/cleanup.h"

#define MOST 0.9 /* of all operations */

int dropping_unlike(struct fitting *fitting, uint32_t profile, double floor)
{
    int err = 0;

    while (!err && !standing_is_like(&fitting->at[profile]) && fitting_drop_unlike(fitting, profile))
        err = fitting_fit_above(fitting, floor);
    return err;
}

int dropping_broken(struct fitting *fitting, uint32_t added, double floor)
{
    int err = 0;

    for (uint32_t p; !err && (p = standing_find_broken(fitting, added)) != UINT32_MAX;) {
        fitting->active[p] = false;
        err = fitting_fit_above(fitting, floor);
    }
    return err;
}

int dropping_for(struct fitting *fitting, uint32_t added, double floor)
{
    int err = dropping_unlike(fitting, added, floor);

    return err ? err : dropping_broken(fitting, added, floor);
}

static uint32_t count_sure(const struct fitting *fitting)
{
    uint32_t sure = 0;

    for (uint32_t p = 0; p < fitting->catalogue->count; p++)
        sure += fitting->active[p] && !standing_is_tiny(&fitting->at[p]) && standing_is_sure(fitting, p);
    return sure;
}

/* What is found is nearly all that there is: not some profile that a compiler or a database happens to hold a half of. */
static bool explains_most(const struct fitting *fitting)
{
    double ops = 0;

    for (uint32_t p = 0; p < fitting->catalogue->count; p++)
        ops += fitting->active[p] ? part_ops(&fitting->at[p]) : 0;
    return ops >= MOST * part_ops(&fitting->whole);
}

/* The same until the part is sure enough to be named, if that is to be had so, not for another's, and if little is unknown
   then. 0 or -ENOMEM. */
static int drop_unsure(struct fitting *fitting, uint32_t profile)
{
    _cleanup_free_ bool *impossible = malloc(fitting->signature_count + 1);
    uint32_t sure = count_sure(fitting);
    int err = 0;

    if (!impossible)
        return -ENOMEM;
    memcpy(impossible, fitting->impossible, fitting->signature_count);
    while (!err && !standing_is_sure(fitting, profile) && fitting_drop_unlike(fitting, profile))
        err = fitting_fit(fitting);
    if (err || (count_sure(fitting) > sure && explains_most(fitting)))
        return err;
    memcpy(fitting->impossible, impossible, fitting->signature_count);
    return fitting_fit(fitting);
}

int dropping_unsure(struct fitting *fitting)
{
    int err = fitting_fit(fitting);

    for (uint32_t p = 0; !err && p < fitting->catalogue->count; p++)
        if (fitting->active[p] && !standing_is_sure(fitting, p))
            err = drop_unsure(fitting, p);
    return err;
}
