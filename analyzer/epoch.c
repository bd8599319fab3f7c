/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/epoch.h"

#include <math.h>

#include "analyzer/human.h"
#include "analyzer/peer.h"

#define PHASES_MIN 3
#define ALIKE      0.2 /* of the median: so far apart they may be */
#define BETWEEN    0.2 /* of what they read, that is read between them */
#define LEAST      0.6 /* of the set that an epoch reads: the program itself is in it, too */
#define MOST       1.25
#define PASSES_MIN 2
#define PASSES_OFF 0.1 /* from a whole number */
#define PASS_OFF   0.2 /* of one process, that may be one */
#define SET_ERROR  0.1 /* what the size of a set may be off by */

static const struct volume_total *most_read(const struct job_total *job)
{
    const struct volume_total *most = NULL;

    for (uint32_t v = 0; v < job->volume_count; v++)
        if (!most || job->volumes[v].tally.op[OP_READ].bytes > most->tally.op[OP_READ].bytes)
            most = &job->volumes[v];
    return most;
}

/* All that it has opened; false when that is not known, or no longer right. */
static bool set_of(const struct volume_total *volume, struct working_set *out)
{
    struct working_set sets[WORKING_WINDOWS];
    unsigned count = volume ? working_sets(&volume->working, sets) : 0;

    if (!count || !(sets[count - 1].reread > 0))
        return false;
    *out = sets[count - 1];
    return true;
}

/* What lies between phases of reading. */
struct pauses {
    unsigned count, wrote;
    double read;
};

static void end_pause(struct pauses *pauses, const struct pauses *last)
{
    pauses->count++;
    pauses->wrote += last->wrote > 0;
    pauses->read += last->read;
}

/* With pauses between. */
static void of_phases(const struct job_total *job, const struct phases *phases, struct epochs *out)
{
    double bytes[PHASES_MAX], starts[PHASES_MAX], sum = 0;
    struct pauses pauses = {0}, pause = {0};
    struct working_set set;
    struct peer_norm norm;
    unsigned count = 0, whole;

    for (unsigned i = 0; i < phases->count; i++) {
        const struct phase *phase = &phases->list[i];
        double read = (double)phase->sum.demand[DEMAND_READ_BYTES];

        if (phase->kind != PHASE_READ) {
            pause.wrote += phase->kind == PHASE_WRITE || phase->kind == PHASE_MIXED;
            pause.read += read;
            continue;
        }
        if (count)
            end_pause(&pauses, &pause);
        pause = (struct pauses){0};
        sum += bytes[count] = read;
        starts[count++] = (double)phase->start_ms / 1e3;
    }
    if (count < PHASES_MIN || pauses.read > BETWEEN * sum)
        return;
    whole = count > PHASES_MIN && bytes[count - 1] < bytes[count - 2] ? count - 1 : count;
    peer_norm_of(bytes, whole, 0, 0, &norm);
    if (bytes[whole - 1] > ALIKE * norm.median) /* the largest deviation */
        return;
    if (set_of(most_read(job), &set) ? norm.median < LEAST * set.bytes.value || norm.median > MOST * set.bytes.value
                                     : pauses.wrote == pauses.count)
        return; /* from checkpoint to checkpoint, maybe */
    *out = (struct epochs){.count = count, .bytes = norm.median};
    for (unsigned i = 0; i + 1 < count; i++)
        starts[i] = starts[i + 1] - starts[i];
    peer_norm_of(starts, count - 1, 0, 0, &norm);
    out->length_s = norm.median;
}

/* Whether processes at once each read all of it, as ranks do: whose second time that is, nobody knows. Nor of what
   belongs to no process. */
static bool may_be_of_several(const struct job_total *job, const struct volume_total *volume, double set)
{
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN, lived_ns = 0;

    if ((double)volume->rest.op[OP_READ].bytes > PASS_OFF * set)
        return true;
    for (uint32_t i = 0; i < job->unit_count; i++) {
        const struct unit *unit = &job->units[i];
        double passes = (double)unit->tally.op[OP_READ].bytes / set;

        if (unit->volume != volume->name || passes < LEAST ||
            (passes > 1 && fabs(passes - round(passes)) > PASS_OFF))
            continue;
        first_ns = unit->first_ns < first_ns ? unit->first_ns : first_ns;
        last_ns = unit->last_ns > last_ns ? unit->last_ns : last_ns;
        lived_ns += unit->last_ns - unit->first_ns;
    }
    return lived_ns && lived_ns > last_ns - first_ns;
}

/* One after the other. */
static void of_set(const struct job_total *job, const struct phases *phases, struct epochs *out)
{
    const struct volume_total *volume = most_read(job);
    struct working_set all;
    double reading_s = 0;

    for (unsigned i = 0; i < phases->count; i++)
        if (phases->list[i].kind == PHASE_READ || phases->list[i].kind == PHASE_MIXED)
            reading_s += phases->list[i].length_s;
    if (!set_of(volume, &all) || !(all.reread >= PASSES_MIN - PASSES_OFF) ||
        fabs(all.reread - round(all.reread)) > PASSES_OFF ||
        all.bytes.high - all.bytes.low > SET_ERROR * all.bytes.value || !(reading_s > 0) ||
        may_be_of_several(job, volume, all.bytes.value))
        return;
    *out = (struct epochs){.count = (unsigned)round(all.reread), .of_set = true, .bytes = all.bytes.value};
    out->length_s = reading_s / all.reread;
}

void epochs_of(const struct job_total *job, const struct phases *phases, struct epochs *out)
{
    *out = (struct epochs){.count = 0};
    of_phases(job, phases, out);
    if (!out->count)
        of_set(job, phases, out);
}

void epochs_write(FILE *out, const struct epochs *epochs)
{
    char length[HUMAN_SIZE], bytes[HUMAN_SIZE];

    fprintf(out, "epochs: %s%u, one every %s, each reads about %s", epochs->of_set ? "about " : "", epochs->count,
            human_duration(length, epochs->length_s), human_bytes(bytes, epochs->bytes));
}
