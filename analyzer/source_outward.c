/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/source.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/log.h"

struct renamed {
    struct source source; /* first */
    struct source *from;
    struct outward outward;
};

static int renamed_next(struct source *source, struct batch **out)
{
    struct renamed *renamed = (struct renamed *)source;
    int got = renamed->from->next(renamed->from, out), err;

    if (got != 1)
        return got;
    err = outward_apply(&renamed->outward, *out);
    if (err) {
        log_error("cannot make pseudonyms: %s", log_errno(err));
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

int source_outward(const struct outward_options *options, struct source **source)
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
    *source = &renamed->source;
    return 0;
}
