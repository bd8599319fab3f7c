/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/peers.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/param.h>

#include "analyzer/court.h"
#include "analyzer/figure.h"
#include "lib/bucket.h"
#include "lib/cleanup.h"
#include "lib/order.h"

#define BYTES_MIN  16e6
#define FAULTS_MIN 500
#define EXACT      1e-6
#define ALIKE      0.25  /* of pages: who does about as much as others, */
#define SAME       0.001 /* and who touches the same pages as most of these: who picks some by chance meets others as often */
#define FASTEST    8e9  /* bytes a second that no process reads: whoever starts sooner was not waited for */
#define LOOKED_AT  1000 /* units of the same amount; more of them change nothing */
#define LARGE      (8u << 20) /* bytes of a file: a part of a model, or a shard */
#define INTERVAL_MAX  INT64_C(2000000000) /* ns: in longer ones who reads and who writes meet by chance */
#define INTERVALS_MIN 4
#define FEW        2   /* such files are no more than one checkpoint, and its ranks may each have their own */
#define SHARED     1.2 /* bytes of all files that were opened on the volume, to those of one process: others read the same */
#define OWN_PART   0.25 /* of what each of them reads: so much of others' files they may have opened beside what all open */
#define OWN        0.9 /* of what so many would open if no two opened the same */
#define BESIDE     0.5 /* of what each of the others has, and of the one file that all have */
#define AROUND     65536 /* bytes that a page fault maps, of what is in memory */
#define PIECE      (4u << 20) /* bytes a read: who loads what only he needs reads it by more, and who streams by less */

struct load {
    double amount;
    const struct unit *unit;
};

static int by_amount(const void *a, const void *b)
{
    const struct load *x = a, *y = b;

    return ORDER(x->amount, y->amount);
}

static double bytes_read(const struct unit *unit)
{
    return (double)unit->tally.op[OP_READ].bytes;
}

static double pages_touched(const struct unit *unit)
{
    return (double)unit->tally.op[OP_MMAP_FAULT].faults[FAULT_MINOR] + (double)tally_ops(&unit->tally, OP_MMAP_FAULT);
}

/* Not one after the other, as the passes of a loop are: both ran in several intervals, or one began before the other
   can have read as much. */
static bool at_once(const struct unit *a, const struct unit *b, double bytes)
{
    int64_t apart = a->start_ns > b->start_ns ? a->start_ns - b->start_ns : b->start_ns - a->start_ns;
    int64_t from = MAX(a->first_ns, b->first_ns), to = MIN(a->last_ns, b->last_ns);

    return a->process != b->process && a->volume == b->volume &&
           (to - from >= 3 * a->interval_ns || (to > from && (double)apart < bytes / FASTEST * 1e9));
}

static uint32_t first_from(const struct load *loads, uint32_t count, double amount)
{
    uint32_t from = 0, to = count;

    while (from < to) {
        uint32_t middle = from + (to - from) / 2;

        if (loads[middle].amount < amount)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Those that have about as much, as far as they are looked at. */
struct alike {
    uint32_t from, to;
};

static struct alike find_alike(const struct load *loads, uint32_t count, double amount, double tolerance)
{
    struct alike alike = {.from = first_from(loads, count, amount * (1 - tolerance))};

    alike.to = alike.from;
    while (alike.to < count && alike.to - alike.from < LOOKED_AT && loads[alike.to].amount <= amount * (1 + tolerance))
        alike.to++;
    return alike;
}

static uint32_t count_alike(const struct load *loads, uint32_t count, const struct unit *unit, double amount,
                            double unit_bytes, double tolerance)
{
    struct alike alike = find_alike(loads, count, amount, tolerance);
    uint32_t peers = 0;

    for (uint32_t i = alike.from; i < alike.to; i++)
        peers += at_once(loads[i].unit, unit, amount * unit_bytes);
    return peers;
}

/* With itself, whenever: who reads in rounds is started anew for each. */
static uint32_t count_equal(const struct load *loads, uint32_t count, const struct unit *unit)
{
    struct alike alike = find_alike(loads, count, bytes_read(unit), EXACT);
    uint32_t equal = 0;

    for (uint32_t i = alike.from; i < alike.to; i++)
        equal += loads[i].unit->volume == unit->volume;
    return equal;
}

static uint32_t count_mapped(const struct load *loads, uint32_t count, const struct unit *unit)
{
    double touched = pages_touched(unit);
    uint32_t same = count_alike(loads, count, unit, touched, AROUND, fmax(SAME, 1 / touched));

    return 2 * same >= count_alike(loads, count, unit, touched, AROUND, ALIKE) ? same : 0;
}

static int sort_loads(const struct job_total *job, double (*amount)(const struct unit *), struct load **out)
{
    struct load *loads = calloc(job->unit_count + 1u, sizeof(*loads));

    if (!loads)
        return -ENOMEM;
    for (uint32_t i = 0; i < job->unit_count; i++)
        loads[i] = (struct load){amount(&job->units[i]), &job->units[i]};
    qsort(loads, job->unit_count, sizeof(*loads), by_amount);
    *out = loads;
    return 0;
}

/* Of a volume, bytes of all files that were opened there, once each, 0 where that was not recorded, and how many they are; and
   bytes each time. */
struct opened {
    struct sketch_estimate once;
    double files, each_time;
};

/* By volume, malloc'ed. NULL without memory. */
static struct opened *opened_on(const struct job_total *job)
{
    struct opened *opened = calloc(job->volume_count + 1u, sizeof(*opened));
    struct working_opens all;

    for (uint32_t v = 0; opened && v < job->volume_count; v++) {
        const struct volume_total *volume = &job->volumes[v];

        if (working_opens(&volume->working, &all))
            opened[v] = (struct opened){.once = all.bytes, .files = all.files.value};
        opened[v].each_time = figure_bytes_of(&volume->tally.op[OP_OPEN].size, 1);
    }
    return opened;
}

/* Shards that are all as large make those equal who each read some of their own; ranks load the same files, and open the same
   libraries; what others opened there, of whom none reads as much, is theirs, but for a file that may be loaded again and
   again. Where it is not known which files were opened, neither is that. */
static bool may_share(const struct unit *unit, const struct opened *all, uint32_t peers, uint32_t equal)
{
    const struct histogram *sizes = &unit->tally.op[OP_OPEN].size;
    double largest = sizes->length ? (double)bucket_lower(sizes->cells[sizes->length - 1].bucket) : 0;
    double own = figure_bytes_of(sizes, 1);
    double opened = all->once.value, rest = opened - fmax(0, all->each_time - own * equal);

    if (rest >= own / SHARED || (rest >= BESIDE * largest && rest <= SHARED * largest)) /* sizes are known by buckets */
        opened = rest;
    return figure_opens_from(sizes, LARGE) <= FEW || opened <= SHARED * figure_bytes_of(sizes, LARGE) ||
           opened <= fmin(SHARED * own, own + OWN_PART * peers * bytes_read(unit));
}

/* Those so many who have as much did so of other files: even without all that anybody else opened there, as much was opened
   as by all of them; or, where all open the same libraries, half of what the others have beside what one has opened. */
static bool have_their_own(const struct unit *unit, double bytes, uint32_t peers, const struct opened *opened)
{
    double own = figure_bytes_of(&unit->tally.op[OP_OPEN].size, 1), all = own * (peers + 1.0);
    double theirs = opened->once.low - fmax(0, opened->each_time - all);

    return own > 0 && (theirs >= OWN * all || theirs >= own + BESIDE * peers * fmin(bytes, own));
}

static bool reads_pieces(const struct unit *unit)
{
    return bytes_read(unit) < PIECE * (double)histogram_filled(&unit->tally.op[OP_READ].size);
}

/* Whether it reads what it writes: by short intervals, and some of them. */
static void tell_manner(const struct unit *first, struct peers *peers)
{
    double read = (double)first->manner.all;

    if (!(read > 0) || first->interval_ns > INTERVAL_MAX ||
        first->last_ns - first->first_ns < INTERVALS_MIN * first->interval_ns)
        return;
    peers->mingled = (double)first->manner.reworked / read;
    peers->apart = 1 - peers->mingled;
}

int peers_of(const struct job_total *job, struct peers **out)
{
    uint32_t count = job->unit_count;
    _cleanup_free_ struct load *bytes = NULL, *pages = NULL;
    _cleanup_free_ struct opened *opened = opened_on(job);
    struct peers *peers = NULL;

    if (!opened || sort_loads(job, bytes_read, &bytes) || sort_loads(job, pages_touched, &pages) ||
        !(peers = calloc(count + 1u, sizeof(*peers))))
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        const struct unit *unit = &job->units[i];
        const struct opened *here = &opened[court_volume(job, unit->volume)];

        tell_manner(&job->units[unit->process], &peers[i]);
        peers[i].opened = here->once.value;
        peers[i].files = here->files;
        if (bytes_read(unit) >= BYTES_MIN)
            peers[i].exact = count_alike(bytes, count, unit, bytes_read(unit), 1, EXACT);
        if (peers[i].exact && (!may_share(unit, here, peers[i].exact, count_equal(bytes, count, unit)) ||
                               (reads_pieces(unit) && have_their_own(unit, bytes_read(unit), peers[i].exact, here))))
            peers[i].exact = 0;
        if (pages_touched(unit) >= FAULTS_MIN)
            peers[i].mapped = count_mapped(pages, count, unit);
        if (peers[i].mapped && have_their_own(unit, AROUND * pages_touched(unit), peers[i].mapped, here))
            peers[i].mapped = 0;
    }
    *out = peers;
    return 0;
}
