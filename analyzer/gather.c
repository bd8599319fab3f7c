/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/gather.h"

#include "lib/log.h"

static int finish(struct aggregate *totals, struct suspects *suspects)
{
    int err = aggregate_sort(totals);

    return err || !suspects ? err : suspects_finish(suspects);
}

int gather(struct source *source, struct aggregate *totals, struct suspects *suspects)
{
    struct batch *batch;
    int got, err = 0;

    while ((got = source->next(source, &batch)) == 1) {
        err = aggregate_add(totals, batch);
        if (!err && suspects)
            err = suspects_add(suspects, batch);
        if (err)
            log_error("cannot add up what node %s of %s told: %s", batch->node, batch->cluster, log_errno(err));
        batch_free(batch);
        if (err)
            return err;
    }
    if (got < 0)
        return got;
    err = finish(totals, suspects);
    if (err)
        log_error("cannot add up what was read: %s", log_why(err));
    return err;
}
