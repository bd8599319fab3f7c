/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/pipes.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "analyzer/figure.h"
#include "lib/cleanup.h"
#include "lib/order.h"

#define BYTES_MIN 1e6
#define OTHER     0.05  /* bytes of the other direction, of all */
#define AT_ONCE   100e6 /* ns from one start to the other: a shell forks a pipeline in a few ms, and may have to wait */
#define LAUNCHED  5e9   /* the same of who renames each file: rsync begins to write when it has begun to list */
#define EQUAL     0.005 /* of the bytes: that far apart they may be and still be the same */
#define FILES     0.1   /* the same of files, */
#define FILES_MIN 10    /* of so many at least */
#define LOOKS_MIN 0.8   /* operations of who only looks, to each file that is made */
#define LOOKS_MAX 4

/* A process on all its volumes. */
struct end {
    uint32_t process;
    const char *node;
    int64_t start_ns, first_ns, last_ns, interval_ns;
    double read, written, ops;
    double opened, made; /* files */
    bool syncs;   /* forces to disk what it wrote, */
    bool renames; /* or gives it its name when it is whole */
    bool taken;
};

static int by_start(const void *a, const void *b)
{
    const struct end *x = a, *y = b;

    return ORDER(x->start_ns, y->start_ns) ?: ORDER(x->process, y->process);
}

static bool is_one_sided(double this, double other)
{
    return this >= BYTES_MIN && other <= OTHER * (this + other);
}

/* All processes, and then those that read or write only. A checkpoint's writer is none: it syncs, and what it writes is its
   own. */
static uint32_t find_ends(const struct job_total *job, struct end *all, struct end *ends)
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
        end->ops += (double)tally_file_ops(&unit->tally);
        end->opened += figure_opens(&unit->tally);
        end->made += (double)tally_succeeded(&unit->tally, OP_CREATE);
        end->syncs |= tally_ops(&unit->tally, OP_FSYNC) > 0;
        end->renames |= tally_ops(&unit->tally, OP_RENAME) > 0;
    }
    for (uint32_t i = 0; i < job->unit_count; i++)
        if (job->units[i].process == i && !all[i].syncs &&
            (is_one_sided(all[i].read, all[i].written) || is_one_sided(all[i].written, all[i].read)))
            ends[count++] = all[i];
    return count;
}

/* Whether they ran at the same time, as far as intervals tell. */
static bool together(const struct end *a, const struct end *b)
{
    int64_t interval = MAX(a->interval_ns, b->interval_ns);

    return strcmp(a->node, b->node) == 0 && llabs(a->first_ns - b->first_ns) <= interval &&
           llabs(a->last_ns - b->last_ns) <= interval;
}

static bool is_near(double a, double b, double apart)
{
    return fabs(a - b) <= apart * fmax(a, b);
}

static bool copies(const struct end *reader, const struct end *writer)
{
    return is_near(reader->read, writer->written, EQUAL) &&
           (!writer->renames || (writer->made >= FILES_MIN && is_near(reader->opened, writer->made, FILES)));
}

/* The reader that was started closest to a writer, or closest of those that read what it writes; NULL for none. */
static struct end *other_end(struct end *ends, uint32_t count, uint32_t writer, bool same)
{
    struct end *best = NULL;
    int64_t apart = (int64_t)(ends[writer].renames ? LAUNCHED : AT_ONCE);

    for (int step = -1; step <= 1; step += 2)
        for (uint32_t i = writer + (uint32_t)step; i < count; i += (uint32_t)step) {
            int64_t far = llabs(ends[i].start_ns - ends[writer].start_ns);

            if (far > apart)
                break;
            if (!ends[i].taken && !ends[i].renames && ends[i].read > ends[i].written && together(&ends[i], &ends[writer]) &&
                (!same || copies(&ends[i], &ends[writer]))) {
                best = &ends[i];
                apart = far;
                break;
            }
        }
    return best;
}

/* Who looks at what there is for the two; NULL for none. */
static const struct end *third(const struct end *all, const struct job_total *job, const struct end *writer)
{
    for (uint32_t i = 0; i < job->unit_count; i++)
        if (job->units[i].process == i && i != writer->process && !(all[i].read + all[i].written > BYTES_MIN) &&
            all[i].ops >= LOOKS_MIN * writer->made && all[i].ops <= LOOKS_MAX * writer->made &&
            llabs(all[i].start_ns - writer->start_ns) <= (int64_t)LAUNCHED && together(&all[i], writer))
            return &all[i];
    return NULL;
}

/* Gives writers their readers: first those that write what these read, then those who keep to themselves what they do with
   it, if they do not rename. */
static void join(const struct job_total *job, const struct end *all, struct end *ends, uint32_t count, bool same, uint32_t *of)
{
    for (uint32_t i = 0; i < count; i++) {
        bool writes = !ends[i].taken && ends[i].written > ends[i].read && (same || !ends[i].renames);
        struct end *reader = writes ? other_end(ends, count, i, same) : NULL;
        const struct end *looks = reader && ends[i].renames ? third(all, job, &ends[i]) : NULL;

        if (!reader)
            continue;
        ends[i].taken = reader->taken = true;
        of[ends[i].process] = reader->process; /* of its first unit */
        if (looks)
            of[looks->process] = reader->process;
    }
}

int pipes_of(const struct job_total *job, uint32_t **out)
{
    _cleanup_free_ struct end *all = calloc(job->unit_count + 1u, sizeof(*all));
    _cleanup_free_ struct end *ends = calloc(job->unit_count + 1u, sizeof(*ends));
    uint32_t *of = calloc(job->unit_count + 1u, sizeof(*of)), count;

    if (!all || !ends || !of) {
        free(of);
        return -ENOMEM;
    }
    count = find_ends(job, all, ends);
    qsort(ends, count, sizeof(*ends), by_start);
    for (uint32_t i = 0; i < job->unit_count; i++)
        of[i] = job->units[i].process;
    join(job, all, ends, count, true, of);
    join(job, all, ends, count, false, of);
    for (uint32_t i = 0; i < job->unit_count; i++)
        of[i] = of[job->units[i].process]; /* and of the others */
    *out = of;
    return 0;
}
