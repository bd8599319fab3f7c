/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A job's processes that do alike on one volume, or on the same of their nodes', at the same time, and the one that
   takes longer. */
#include "analyzer/finding/rule.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/peer.h"
#include "lib/cleanup.h"

#define OPS_MIN   20
#define MAD_SHARE 0.05
#define RANKS_MAX 4096  /* of a job; each is compared with each */
#define LITTLE    65536 /* bytes that do not tell ranks apart */
#define AT_ONCE   0.5   /* of the longer life: so late a rank may be launched, as one after the other is by who forks */
#define TOGETHER  0.5   /* of those that do alike: else they come one after the other, and nobody waits for one */
#define HELD_UP   0.5   /* of its life, inside operations */
#define SLOW      4     /* as the rule has it */
#define FEW       (1 / 3.0) /* of all: where more are slow, they do something else */

struct rank {
    const struct unit *unit;
    struct peer_place place;
    double ops, time_s;
    double begin_s, life_s; /* since when, and for how long at least */
    double longest_s;       /* and at most */
};

/* Operations for which the page cache had to fetch something. */
static double fetches(const struct tally *tally, enum operation op)
{
    return (double)(op == OP_READ ? tally->op[op].cache[CACHE_MISS_OPS] : tally_ops(tally, op));
}

/* Time in operations without so many of the slowest, and of the rest the slowest in twenty taken for no slower than the
   others: a stall that hit one rank by chance makes no straggler. */
static double usual_ns(const struct histogram *h, double without)
{
    double all = (double)histogram_count(h), left = all - without, sum = 0;
    uint64_t most = 0;

    if (!(left > 0))
        return 0;
    histogram_quantile(h, 0.95 * left / all, false, &most);
    for (unsigned i = 0; i < h->length && left > 0; i++) {
        uint64_t latency = bucket_lower(h->cells[i].bucket);
        double count = fmin((double)h->cells[i].count, left);

        sum += (double)(latency < most ? latency : most) * count;
        left -= count;
    }
    return sum;
}

/* Time in all its operations, each kind by itself, without so many of its reads and page faults. */
static double usual_time_s(const struct tally *tally, double reads, double faults)
{
    double sum_ns = 0;

    for (enum operation op = OP_FIRST; op < OP_FILE_END; op++)
        sum_ns += usual_ns(&tally->op[op].latency_ns, op == OP_READ ? reads : op == OP_MMAP_FAULT ? faults : 0);
    return sum_ns / 1e9;
}

static bool is_as_much(double a, double b)
{
    return a <= 2 * b + LITTLE && b <= 2 * a + LITTLE;
}

/* What a node's own disk is on one, it is on the others. */
static bool is_one_place(const struct rank *a, const struct rank *b)
{
    return a->unit->volume == b->unit->volume ||
           (strcmp(a->unit->node, b->unit->node) != 0 && peer_same_place(&a->place, &b->place));
}

/* Whether a rank did less than one on another node as it was inside its operations all the time: what runs for some
   time, and not for some work, gets less done where it is slow. On one node programs of a name do this and that. */
static bool is_held_up(const struct rank *rank, const struct rank *peer)
{
    return rank->ops < peer->ops && rank->time_s >= HELD_UP * rank->longest_s &&
           strcmp(rank->unit->node, peer->unit->node) != 0;
}

static bool are_alike(const struct rank *peer, const struct rank *rank)
{
    const struct record *x = peer->unit->tally.op, *y = rank->unit->tally.op;
    double part = is_held_up(rank, peer) ? rank->ops / peer->ops : 1;

    return is_one_place(peer, rank) && strcmp(peer->unit->command, rank->unit->command) == 0 &&
           part * peer->ops <= 2 * rank->ops && rank->ops <= 2 * part * peer->ops &&
           is_as_much(part * (double)x[OP_READ].bytes, (double)y[OP_READ].bytes) &&
           is_as_much(part * (double)x[OP_WRITE].bytes, (double)y[OP_WRITE].bytes);
}

/* Whether one had begun before the other was through, or they were launched at once, as the fast ones may soon be. */
static bool are_together(const struct rank *a, const struct rank *b)
{
    const struct rank *earlier = a->begin_s <= b->begin_s ? a : b;

    return fabs(a->begin_s - b->begin_s) <= fmax(earlier->life_s, AT_ONCE * fmax(a->life_s, b->life_s));
}

/* How many more than most of its peers on its node, whose page cache they share: who comes first fetches for all of them,
   which makes it no straggler. values: room for all ranks. */
static double fetches_for_others(const struct rank *ranks, uint32_t count, const struct rank *rank, enum operation op,
                                 double *values)
{
    double own = fetches(&rank->unit->tally, op);
    struct peer_norm norm;
    uint32_t peers = 0;

    for (uint32_t i = 0; own > 0 && i < count; i++)
        if (&ranks[i] != rank && strcmp(ranks[i].unit->node, rank->unit->node) == 0 && are_alike(&ranks[i], rank) &&
            are_together(&ranks[i], rank))
            values[peers++] = fetches(&ranks[i].unit->tally, op);
    if (!peers)
        return 0;
    peer_norm_of(values, peers, MAD_SHARE, 0, &norm);
    return fmax(own - norm.median, 0);
}

static void compare(const struct rank *ranks, uint32_t count, const struct rank *rank, double *values,
                    struct subject *subject)
{
    double reads = fetches_for_others(ranks, count, rank, OP_READ, values);
    double faults = fetches_for_others(ranks, count, rank, OP_MMAP_FAULT, values);
    double time_s = usual_time_s(&rank->unit->tally, reads, faults), usual = time_s / rank->ops;
    uint32_t peers = 0, alike = 0, slow = 1;
    struct peer_norm norm;

    for (uint32_t i = 0; i < count; i++) {
        if (&ranks[i] == rank || !are_alike(&ranks[i], rank))
            continue;
        alike++;
        if (are_together(&ranks[i], rank))
            values[peers++] = ranks[i].time_s / ranks[i].ops;
    }
    if (!peers || peers < TOGETHER * alike)
        return;
    peer_norm_of(values, peers, MAD_SHARE, 0, &norm);
    for (uint32_t i = 0; i < peers; i++) /* how far they are from it */
        slow += values[i] >= (SLOW - 1) * norm.median;
    if (slow > FEW * (peers + 1))
        return;
    subject->values[TRAIT_PEERS] = peers;
    subject->values[TRAIT_MADS] = peer_mads(&norm, usual);
    subject->values[TRAIT_TIMES_PEERS] = usual / norm.median;
    subject->values[TRAIT_PEER_COST] = time_s - rank->ops * norm.median;
    subject->values[TRAIT_PEER_LOW] = time_s - rank->ops * norm.high;
}

static struct peer_place place_of(const struct job_total *job, const struct unit *unit)
{
    const struct volume_total *total = volume_named(job->volumes, job->volume_count, unit->volume);
    const struct volume volume = {.name = total->name, .source = total->source, .fstype = total->fstype,
                                  .scope = total->scope, .mounts = total->mounts, .mount_count = total->mount_count};

    return peer_place_of(&volume, unit->node);
}

/* What began before the first interval it was seen in did nothing until then. */
static struct rank rank_of(const struct job_total *job, const struct unit *unit, double ops)
{
    struct rank rank = {
        .unit = unit, .place = place_of(job, unit), .ops = ops, .time_s = usual_time_s(&unit->tally, 0, 0)};
    int64_t begin_ns = unit->start_ns > unit->first_ns ? unit->start_ns : unit->first_ns;

    rank.begin_s = (double)begin_ns / 1e9;
    rank.life_s = fmax((double)(unit->last_ns - unit->interval_ns - begin_ns) / 1e9, rank.time_s);
    rank.longest_s = fmax((double)(unit->last_ns - begin_ns) / 1e9, rank.life_s);
    return rank;
}

static int look(const struct job_total *job, subject_take take, void *to)
{
    _cleanup_free_ struct rank *ranks = calloc(job->unit_count + 1u, sizeof(*ranks));
    _cleanup_free_ double *values = calloc(job->unit_count + 1u, sizeof(*values));
    uint32_t count = 0;

    if (!ranks || !values)
        return -ENOMEM;
    for (uint32_t i = 0; i < job->unit_count; i++) {
        double ops = (double)tally_file_ops(&job->units[i].tally);

        if (ops >= OPS_MIN)
            ranks[count++] = rank_of(job, &job->units[i], ops);
    }
    if (count > RANKS_MAX)
        return 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct unit *unit = ranks[i].unit;
        struct subject subject;
        int err;

        subject_init(&subject, SUBJECT_RANK, job, volume_named(job->volumes, job->volume_count, unit->volume));
        subject.node = unit->node;
        compare(ranks, count, &ranks[i], values, &subject);
        err = subject_note(&subject, "%s (process %u)", unit->command, unit->pid);
        if (!err)
            err = subject_give(&subject, take, to);
        if (err)
            return err;
    }
    return 0;
}

int subjects_rank(const struct finding_matter *matter, subject_take take, void *to)
{
    for (uint32_t j = 0; j < matter->totals->job_count; j++) {
        int err = look(&matter->totals->jobs[j], take, to);

        if (err)
            return err;
    }
    return 0;
}
