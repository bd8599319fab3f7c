/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/pipes.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "lib/cleanup.h"

#define BYTES_MIN 1e6
#define OTHER     0.05  /* bytes of the other direction, of all */
#define AT_ONCE   100e6 /* ns from one start to the other: a shell forks a pipeline in a few ms, and may have to wait */

/* A process on all its volumes. */
struct end {
    uint32_t process;
    const char *node;
    int64_t start_ns, first_ns, last_ns, interval_ns;
    double read, written;
    bool commits; /* forces to disk what it wrote, or gives it its name when it is whole */
    bool taken;
};

static int by_start(const void *a, const void *b)
{
    const struct end *x = a, *y = b;

    return x->start_ns != y->start_ns ? (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns)
                                      : (x->process > y->process) - (x->process < y->process);
}

static bool is_one_sided(double this, double other)
{
    return this >= BYTES_MIN && other <= OTHER * (this + other);
}

/* Processes that read or write only. A checkpoint's writer is none: it commits, and what it writes is its own. */
static uint32_t find_ends(const struct job_total *job, struct end *all)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < job->unit_count; i++) {
        const struct unit *unit = &job->units[i];
        struct end *end = &all[unit->process];

        if (unit->process == i)
            *end = (struct end){.process = i,
                                .node = unit->node,
                                .start_ns = unit->start_ns,
                                .first_ns = unit->first_ns,
                                .last_ns = unit->last_ns,
                                .interval_ns = unit->interval_ns};
        end->first_ns = MIN(end->first_ns, unit->first_ns);
        end->last_ns = MAX(end->last_ns, unit->last_ns);
        end->read += (double)unit->tally.op[OP_READ].bytes;
        end->written += (double)unit->tally.op[OP_WRITE].bytes;
        end->commits |= tally_ops(&unit->tally, OP_FSYNC) || tally_ops(&unit->tally, OP_RENAME);
    }
    for (uint32_t i = 0; i < job->unit_count; i++)
        if (job->units[i].process == i && !all[i].commits &&
            (is_one_sided(all[i].read, all[i].written) || is_one_sided(all[i].written, all[i].read)))
            all[count++] = all[i];
    return count;
}

/* Whether they ran at the same time, as far as intervals tell. */
static bool together(const struct end *a, const struct end *b)
{
    int64_t interval = MAX(a->interval_ns, b->interval_ns);

    return strcmp(a->node, b->node) == 0 && llabs(a->first_ns - b->first_ns) <= interval &&
           llabs(a->last_ns - b->last_ns) <= interval;
}

/* The reader that was started closest to a writer; NULL for none. */
static struct end *other_end(struct end *ends, uint32_t count, uint32_t writer)
{
    struct end *best = NULL;
    int64_t apart = (int64_t)AT_ONCE;

    for (int step = -1; step <= 1; step += 2)
        for (uint32_t i = writer + (uint32_t)step; i < count; i += (uint32_t)step) {
            int64_t far = llabs(ends[i].start_ns - ends[writer].start_ns);

            if (far > apart)
                break;
            if (!ends[i].taken && ends[i].read > ends[i].written && together(&ends[i], &ends[writer])) {
                best = &ends[i];
                apart = far;
                break;
            }
        }
    return best;
}

int pipes_of(const struct job_total *job, uint32_t **out)
{
    _cleanup_free_ struct end *ends = calloc(job->unit_count + 1u, sizeof(*ends));
    uint32_t *of = calloc(job->unit_count + 1u, sizeof(*of)), count;

    if (!ends || !of) {
        free(of);
        return -ENOMEM;
    }
    count = find_ends(job, ends);
    qsort(ends, count, sizeof(*ends), by_start);
    for (uint32_t i = 0; i < job->unit_count; i++)
        of[i] = job->units[i].process;
    for (uint32_t i = 0; i < count; i++) {
        struct end *reader = ends[i].written > ends[i].read ? other_end(ends, count, i) : NULL;

        if (!reader)
            continue;
        reader->taken = true;
        of[ends[i].process] = reader->process; /* of its first unit, */
    }
    for (uint32_t i = 0; i < job->unit_count; i++)
        of[i] = of[job->units[i].process]; /* and of the others */
    *out = of;
    return 0;
}
