/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/epoch.h"

#include <math.h>

#include "analyzer/human.h"
#include "analyzer/peer.h"

#define PHASES_MIN 3
#define ALIKE      0.2 /* of the median: so far apart they may be */
#define PASSES_MIN 2
#define PASSES_OFF 0.2 /* from a whole number */
#define SET_ERROR  0.1 /* what the size of a set may be off by */

/* With pauses between. */
static void of_phases(const struct phases *phases, struct epochs *out)
{
    double bytes[PHASES_MAX], starts[PHASES_MAX];
    struct peer_norm norm;
    unsigned count = 0, whole;

    for (unsigned i = 0; i < phases->count; i++)
        if (phases->list[i].kind == PHASE_READ) {
            bytes[count] = (double)phases->list[i].sum.demand[DEMAND_READ_BYTES];
            starts[count++] = (double)phases->list[i].start_ms / 1e3;
        }
    if (count < PHASES_MIN)
        return;
    whole = count > PHASES_MIN && bytes[count - 1] < bytes[count - 2] ? count - 1 : count;
    peer_norm_of(bytes, whole, 0, 0, &norm);
    if (bytes[whole - 1] > ALIKE * norm.median) /* the largest deviation */
        return;
    *out = (struct epochs){.count = count, .bytes = norm.median};
    for (unsigned i = 0; i + 1 < count; i++)
        starts[i] = starts[i + 1] - starts[i];
    peer_norm_of(starts, count - 1, 0, 0, &norm);
    out->length_s = norm.median;
}

static const struct volume_total *most_read(const struct job_total *job)
{
    const struct volume_total *most = NULL;

    for (uint32_t v = 0; v < job->volume_count; v++)
        if (!most || job->volumes[v].tally.op[OP_READ].bytes > most->tally.op[OP_READ].bytes)
            most = &job->volumes[v];
    return most;
}

/* One after the other. */
static void of_set(const struct job_total *job, const struct phases *phases, struct epochs *out)
{
    const struct volume_total *volume = most_read(job);
    struct working_set sets[WORKING_WINDOWS];
    unsigned count = volume ? working_sets(&volume->working, sets) : 0;
    const struct working_set *all = count ? &sets[count - 1] : NULL;
    double reading_s = 0;

    for (unsigned i = 0; i < phases->count; i++)
        if (phases->list[i].kind == PHASE_READ || phases->list[i].kind == PHASE_MIXED)
            reading_s += phases->list[i].length_s;
    if (!all || !(all->reread >= PASSES_MIN - PASSES_OFF) || fabs(all->reread - round(all->reread)) > PASSES_OFF ||
        all->bytes.high - all->bytes.low > SET_ERROR * all->bytes.value || !(reading_s > 0))
        return;
    *out = (struct epochs){.count = (unsigned)round(all->reread), .of_set = true, .bytes = all->bytes.value};
    out->length_s = reading_s / all->reread;
}

void epochs_of(const struct job_total *job, const struct phases *phases, struct epochs *out)
{
    *out = (struct epochs){.count = 0};
    of_phases(phases, out);
    if (!out->count)
        of_set(job, phases, out);
}

void epochs_write(FILE *out, const struct epochs *epochs)
{
    char length[HUMAN_SIZE], bytes[HUMAN_SIZE];

    fprintf(out, "epochs: %s%u, one every %s, each reads about %s", epochs->of_set ? "about " : "", epochs->count,
            human_duration(length, epochs->length_s), human_bytes(bytes, epochs->bytes));
}
