/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/mixture.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/companions.h"
#include "analyzer/confidence.h"
#include "analyzer/fitting_bounds.h"
#include "analyzer/preludes.h"
#include "analyzer/remaking.h"
#include "analyzer/rivals.h"
#include "analyzer/seeks.h"
#include "analyzer/selection.h"
#include "analyzer/standing.h"
#include "lib/cleanup.h"

#define ALONE_OPS_MIN   0.7 /* what a profile that stands alone has to explain */
#define ALONE_BYTES_MIN 0.8

/* A profile that explains nearly everything the process did, and stands for it. 0, 1 if found,
 * -ENOMEM. */
static int fit_alone(struct fitting *fitting)
{
    for (uint32_t p = 0; p < fitting->catalogue->count; p++) {
        const struct profile *profile = &fitting->catalogue->profiles[p];
        int err;

        if (profile->pipeline || !profile->alone ||
            !(fitting_requirements(fitting, profile, NULL, &fitting->whole) > 0))
            continue;
        err = fitting_fit_one(fitting, p);
        if (err)
            return err;
        if (part_ops(&fitting->at[p]) >= ALONE_OPS_MIN * part_ops(&fitting->whole) &&
            part_bytes(&fitting->at[p]) >= ALONE_BYTES_MIN * part_bytes(&fitting->whole))
            return 1;
    }
    return 0;
}

/* Everything that no profile holds. */
static struct part rest_of(const struct fitting *fitting)
{
    struct part rest = fitting->whole;

    for (uint32_t p = 0; p < fitting->catalogue->count; p++) {
        const struct part *part = &fitting->at[p];

        for (unsigned op = 0; op < OP_COUNT; op++) {
            rest.ok[op] -= fmin(rest.ok[op], part->ok[op]);
            rest.failed[op] -= fmin(rest.failed[op], part->failed[op]);
            rest.bytes[op] -= fmin(rest.bytes[op], part->bytes[op]);
            for (unsigned i = 0; i <= FILE_SIZES; i++)
                rest.of_files[op][i] -= fmin(rest.of_files[op][i], part->of_files[op][i]);
        }
        for (unsigned i = 0; i < BUCKET_COUNT; i++) {
            rest.read[i] -= fmin(rest.read[i], part->read[i]);
            rest.write[i] -= fmin(rest.write[i], part->write[i]);
        }
    }
    return rest;
}

/* Notes what is to be known of operations that belong to no process. */
static void note_sum(const struct fitting *fitting, struct part *part)
{
    part->summed = fitting->context.process ? 0 : part_ops(part);
    part->unjoined = fitting->context.process || fitting->joint ? 0 : part->ok[OP_READ];
}

static void add_rest(const struct fitting *fitting, struct part *rest, const struct rejected *rejected,
                     struct part *unknown)
{
    double ops = part_ops(rest);

    rest->rejected = *rejected;
    rest->rejected.ops = fmin(rejected->ops, ops);
    note_sum(fitting, rest);
    rest->processes = ops > 0 && fitting->context.process;
    part_add(unknown, rest);
}

/* What was named may vary; the fit is not needed any more. */
static int draw(struct fitting *fitting, const double *alone, struct draws *draws)
{
    uint32_t count = fitting->catalogue->count;
    _cleanup_free_ struct part *at = calloc(count + 1, sizeof(*at));

    if (!at)
        return -ENOMEM;
    memcpy(at, fitting->at, count * sizeof(*at));
    return draws_add_fit(draws, fitting, at, alone);
}

/* Names a part, if that is sure enough; else it is unknown, and rejected. */
static void name_part(struct fitting *fitting, uint32_t profile, struct rejected *rejected)
{
    struct part *part = &fitting->at[profile];
    double ops = part_ops(part), match;

    if (!(ops > 0))
        return;
    match = standing_match(fitting, profile);
    part->processes = fitting->context.process;
    if (fitting->context.process)
        part->confidence = ops * confidence_of_match(match);
    else if (standing_lacks_bytes(fitting, profile) || !standing_may_be_named(fitting, profile, match)) {
        *part = (struct part){0};
        rejected_add(rejected, &(struct rejected){.ops = ops, .profile = &fitting->catalogue->profiles[profile]});
    }
}

static void add_seeks(struct fitting *fitting, const struct tally *tally, struct part *rest)
{
    uint32_t count = fitting->catalogue->count;

    fitting->at[count] = *rest;
    seeks_add(tally, NULL, fitting->at, count + 1);
    *rest = fitting->at[count];
}

/* sought: of the tally, seeks go with the transfers, and were not fitted. */
static int fit_all(struct fitting *fitting, const struct tally *tally, bool sought, struct part *parts,
                   struct draws *draws)
{
    uint32_t count = fitting->catalogue->count;
    _cleanup_free_ double *alone = calloc(count + 1, sizeof(*alone)); /* operations before companions came */
    struct rejected rejected = {0};
    bool enough = part_ops(&fitting->whole) >= MIXTURE_OPS_MIN ||
                  part_bytes(&fitting->whole) >= MIXTURE_BYTES_MIN;
    int found = !alone ? -ENOMEM : enough && fitting->context.process ? fit_alone(fitting) : 0;
    struct part rest;

    if (!found) {
        memset(fitting->at, 0, (count + 1) * sizeof(*fitting->at));
        found = enough ? selection_fit(fitting, &rejected) : 0;
    }
    if (!found && !fitting->context.process)
        found = rivals_find(fitting);
    if (found < 0)
        return found;
    for (uint32_t p = 0; p < count; p++) {
        name_part(fitting, p, &rejected);
        alone[p] = part_ops(&fitting->at[p]);
    }
    rest = rest_of(fitting);
    if (!fitting->context.process) {
        companions_take(fitting->catalogue, &rest, fitting->at);
        preludes_take(fitting->catalogue, fitting->at);
        companions_take_little(fitting->catalogue, &rest, fitting->at);
    }
    if (!fitting->context.process && remaking_join(fitting->catalogue, tally, NULL, fitting->at) && draws)
        draws->undrawn = true;
    if (sought)
        add_seeks(fitting, tally, &rest);
    for (uint32_t p = 0; p < count; p++) {
        note_sum(fitting, &fitting->at[p]);
        part_add(&parts[p], &fitting->at[p]);
    }
    add_rest(fitting, &rest, &rejected, &parts[count]);
    if (!draws)
        return 0;
    if (enough)
        return draw(fitting, alone, draws);
    draws_add_parts(draws, parts);
    return 0;
}

int mixture_add(const struct catalogue *catalogue, const struct tally *tally, const struct concert *concert,
                const struct peers *process, struct part *parts, struct draws *draws)
{
    bool sought = !process && seeks_go_with_transfers(tally);
    const struct tally fitted = sought ? seeks_left_out(tally) : *tally;
    struct fitting fitting;
    int err = fitting_init(&fitting, catalogue, &fitted, concert, process);

    if (!err)
        err = fit_all(&fitting, tally, sought, parts, draws);
    fitting_clear(&fitting);
    return err;
}
