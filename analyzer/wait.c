/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/wait.h"

#include <math.h>

static void add(const struct tally *tally, struct wait *wait)
{
    const struct record *read = &tally->op[OP_READ];
    uint64_t filled = histogram_count(&read->size) - histogram_zeros(&read->size);
    bool small = !filled || read->bytes / filled < WAIT_SMALL;

    for (enum operation op = OP_FIRST; op < OP_FILE_END; op++) {
        double seconds = (double)tally->op[op].latency_sum_ns / 1e9;

        wait->all_s += seconds;
        if (operation_info(op)->class == OP_CLASS_METADATA)
            wait->metadata_s += seconds;
        else if (op == OP_FSYNC)
            wait->fsync_s += seconds;
        else if (op == OP_READ && small)
            wait->small_reads_s += seconds;
        else if (op != OP_SEEK)
            wait->bandwidth_s += seconds;
    }
}

void wait_of(const struct job_total *job, struct wait *out)
{
    *out = (struct wait){.exposed = job->watched_ns ? (double)job->exposed_ns / (double)job->watched_ns : NAN};
    for (uint32_t i = 0; i < job->unit_count; i++)
        add(&job->units[i].tally, out);
    for (uint32_t v = 0; v < job->volume_count; v++)
        add(&job->volumes[v].rest, out);
}
