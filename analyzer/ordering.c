/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/ordering.h"

#include <math.h>
#include <stdbool.h>

#include "analyzer/modes.h"

static bool is_read(const struct bin *bin)
{
    return bin->op == OP_READ && bin->outcome == OUTCOME_OK && bin->bucket && bin->match == MATCH_NONE;
}

/* Reads that go on as they are a copy's or of a whole file. */
static double count_matched(const struct bin *bins, size_t count)
{
    double matched = 0;

    for (size_t i = 0; i < count; i++)
        matched += bins[i].op == OP_READ && bins[i].match != MATCH_NONE ? bins[i].ops : 0;
    return matched;
}

/* How far what goes on is from what was counted, if it is the sizes of this set. */
static double misfit(const struct modes *modes, unsigned set, double goes_on, double unknown)
{
    double reads = 0;

    for (unsigned i = 0; i <= modes->count; i++)
        reads += set >> i & 1 ? modes->reads[i] : 0;
    return fmax(0, fmax(goes_on - reads, reads - goes_on - unknown));
}

/* least[i][on]: the least misfit with this mode among those that go on, or not. */
static double find_least(const struct modes *modes, double goes_on, double unknown, double least[MODES + 1][2])
{
    double best = INFINITY;

    for (unsigned i = 0; i <= modes->count; i++)
        least[i][0] = least[i][1] = INFINITY;
    for (unsigned set = 0; set < 1u << (modes->count + 1); set++) {
        double off = misfit(modes, set, goes_on, unknown);

        for (unsigned i = 0; i <= modes->count; i++)
            least[i][set >> i & 1] = fmin(least[i][set >> i & 1], off);
        best = fmin(best, off);
    }
    return best;
}

static enum order_known decide(const double least[2])
{
    if (modes_is_unlikely(least[0], least[1]))
        return GOES_ON;
    if (modes_is_unlikely(least[1], least[0]))
        return JUMPS;
    return NOT_KNOWN;
}

void ordering_note(const struct tally *tally, struct bin *bins, size_t count)
{
    const uint64_t *order = tally->op[OP_READ].order;
    double goes_on = (double)order[ORDER_CONSECUTIVE], matched = count_matched(bins, count);
    double known = goes_on + (double)order[ORDER_SEQUENTIAL] + (double)order[ORDER_RANDOM];
    double least[MODES + 1][2], unknown;
    struct modes modes;

    modes_find(bins, count, is_read, &modes);
    if (modes.all < MODES_READS_MIN || known < MODES_READS_MIN)
        return;
    unknown = fmax(0, modes.all + matched - known);
    goes_on = fmax(0, goes_on - matched);
    if (find_least(&modes, goes_on, unknown, least) > MODES_MISFIT_MAX * modes.all)
        return;
    for (size_t i = 0; i < count; i++)
        if (is_read(&bins[i]))
            bins[i].order = decide(least[modes_of(&modes, bins[i].bucket)]);
}
