/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/source.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/cleanup.h"
#include "lib/log.h"

struct renamed {
    struct source source; /* first */
    struct source *from;
    struct outward outward;
    struct offer *const *offers; /* NULL behind the last, or for none */
};

/* A platform's volumes are given by their true names. */
static int hold(const struct renamed *renamed, struct offer *offer, const char *name)
{
    _cleanup_free_ char *outside = NULL;

    if (!offer_holds(offer, name))
        return 0;
    outside = outward_volume(&renamed->outward, name);
    return outside ? offer_hold(offer, outside) : -ENOMEM;
}

static int tell_offers(const struct renamed *renamed, const struct batch *batch)
{
    int err = 0;

    for (struct offer *const *offer = renamed->offers; offer && *offer; offer++)
        for (uint32_t i = 0; !err && i < batch->volume_count; i++)
            err = hold(renamed, *offer, batch->volumes[i].name);
    return err;
}

static int renamed_next(struct source *source, struct batch **out)
{
    struct renamed *renamed = (struct renamed *)source;
    int got = renamed->from->next(renamed->from, out), err;

    if (got != 1)
        return got;
    err = tell_offers(renamed, *out);
    if (!err)
        err = outward_apply(&renamed->outward, *out);
    if (err) {
        log_error("cannot make pseudonyms: %s", log_why(err));
        batch_free(*out);
        return err;
    }
    return 1;
}

static void renamed_free(struct source *source)
{
    struct renamed *renamed = (struct renamed *)source;

    renamed->from->free(renamed->from);
    free(renamed);
}

int source_outward(const struct outward_options *options, struct offer *const *offers, struct source **source)
{
    struct renamed *renamed;
    int err;

    if (!options->pseudonyms)
        return 0;
    renamed = calloc(1, sizeof(*renamed));
    err = renamed ? outward_new(options, &renamed->outward) : -ENOMEM;
    if (err) {
        free(renamed);
        return err;
    }
    renamed->source = (struct source){.next = renamed_next, .free = renamed_free};
    renamed->from = *source;
    renamed->offers = offers;
    *source = &renamed->source;
    return 0;
}
