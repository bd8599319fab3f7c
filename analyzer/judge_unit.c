/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One process on one volume. */
#include "analyzer/court.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "analyzer/blended.h"
#include "analyzer/figure.h"
#include "analyzer/loads.h"
#include "analyzer/remaking.h"
#include "analyzer/seeks.h"
#include "analyzer/ways.h"
#include "lib/cleanup.h"

#define SOME_OPENS 200
#define OF_A_FILE  8    /* operations beside writing it, of who makes a file: it is asked for, looked at, closed */
#define OF_A_WRITE 2    /* seeks */
#define NO_BYTES   0.03 /* of all that a process moves, which say nothing of it */
#define LITTLE     0.02 /* of a job */
#define PIECE      (8u << 20) /* bytes of each large file that is opened: who reads less of it picks something out, */
#define PIECES     (16u << 20) /* and who jumps to most of it, less than that */
#define JUMPED     0.5
#define FEW_READS  500  /* of large files: more are found by unmixing */
#define PICKED     0.7  /* bytes read of all that are in large files: who reads more loads them */
#define RECORD_MAX (1u << 20) /* bytes */
#define HERE_AND_THERE 0.1 /* writes that jump, as databases' do */

/* What a process that writes does beside that may be what goes with the files that it makes. */
static bool goes_with_files(const struct tally *beside, const struct tally *tally)
{
    double made = (double)tally_succeeded(tally, OP_CREATE), seeks = (double)tally_ops(beside, OP_SEEK);
    double with_writes = fmin(seeks, OF_A_WRITE * (double)tally_ops(tally, OP_WRITE));

    return (double)tally_file_bytes(beside) <= NO_BYTES * (double)tally_file_bytes(tally) &&
           (double)tally_file_ops(beside) - with_writes <= OF_A_FILE * made;
}

int judge_blend(const struct court *court, const struct tally *tally, bool serves, const struct profile *read,
                const struct profile *written)
{
    return court_is_part(tally, &court->job->tally, LITTLE) ? 0 : blended(court->catalogue, tally, serves, read, written);
}

bool judge_serves(const struct court *court, const struct unit *unit)
{
    return court->job->units[unit->process].manner.serves || seeks_go_with_transfers(&unit->tally);
}

/* What a process reads of large files, and all else that it does; they share what the tally points to. */
struct halves {
    struct tally load, rest;
};

/* 1; 0 where it is not known, or little; or -ENOMEM. To be cleared in any case. */
static int halve(const struct tally *tally, struct halves *out)
{
    *out = (struct halves){.rest = *tally};
    for (enum operation op = OP_FIRST; op < OP_COUNT; op++)
        out->load.op[op].op = op;
    return loads_divide(&tally->op[OP_READ], &out->load.op[OP_READ], &out->rest.op[OP_READ]);
}

static void halves_clear(struct halves *halves)
{
    record_clear(&halves->load.op[OP_READ]);
    record_clear(&halves->rest.op[OP_READ]);
}

/* One that loads of large files what others load, too, beside all else that it does. 1, 0 when it is nothing like that, or
   -errno. */
static int judge_load(struct court *court, const struct tally *tally, const struct behaviour *whole)
{
    struct halves halves;
    struct behaviour behaviour;
    const struct profile *profile = NULL;
    double match;
    int err = halve(tally, &halves);

    if (err == 1) {
        behaviour_of(&halves.load, &whole->peers, &behaviour);
        behaviour.of_largest = whole->of_largest;
        if (!(whole->bytes_per_large_open < (behaviour.jumped_bytes >= JUMPED ? PIECES : PIECE)))
            profile = ways_name_first(&behaviour, court->catalogue, SIDE_READ, &match);
        err = profile ? court_give(court, profile, &halves.load, match, true) : 0;
    }
    if (profile && !err)
        err = court_divide(court, &halves.rest, &(struct peers){0});
    halves_clear(&halves);
    return err ? err : profile != NULL;
}

/* Whether what it reads of others than large files is a start's, as of the modules that a program loads. */
static bool is_start(const struct court *court, const struct tally *rest)
{
    const struct tally reads = court_side(rest, false);
    const struct profile *profile;
    struct behaviour behaviour;
    double match;

    behaviour_of(&reads, &(struct peers){0}, &behaviour);
    profile = ways_name(&behaviour, court->catalogue, SIDE_READ, &match);
    return profile && !profile->work && !profile->alone;
}

/* Records that are picked out of large files, too few of them to be found beside all else by unmixing. NULL for none. */
static const struct profile *name_few(const struct court *court, const struct tally *tally, const struct tally *load,
                                      double *match)
{
    const struct profile *profile;
    struct behaviour behaviour;

    if (tally_ops(load, OP_READ) >= FEW_READS || figure_jumps(&tally->op[OP_WRITE]) > HERE_AND_THERE ||
        !((double)load->op[OP_READ].bytes < PICKED * figure_bytes_of(&tally->op[OP_OPEN].size, FILE_LARGE_MIN)))
        return NULL;
    behaviour_of(load, &(struct peers){0}, &behaviour);
    profile = ways_name(&behaviour, court->catalogue, SIDE_READ, match);
    return profile && profile->work == WORK_RECORDS && behaviour.read_mean < RECORD_MAX ? profile : NULL;
}

static int judge_tally(struct court *court, const struct tally *tally, bool serves, const struct peers *peers);

/* One that starts up, and picks few records beside that, which are most of its bytes. As judge_load(). */
static int judge_few(struct court *court, const struct tally *tally, bool serves, const struct peers *peers)
{
    const struct profile *profile = NULL;
    struct halves halves;
    double match;
    int err = halve(tally, &halves);

    if (err == 1 && is_start(court, &halves.rest))
        profile = name_few(court, tally, &halves.load, &match);
    if (profile)
        err = court_give(court, profile, &halves.load, match, true);
    if (profile && !err && (err = judge_tally(court, &halves.rest, serves, peers)) > 0)
        err = court_divide(court, &halves.rest, peers);
    halves_clear(&halves);
    return err < 0 ? err : profile != NULL;
}

/* What a process did on one volume: 0, an enum verdict, -ENOMEM or -ERANGE. */
static int judge_tally(struct court *court, const struct tally *tally, bool serves, const struct peers *peers)
{
    struct tally sides[2] = {court_side(tally, false), court_side(tally, true)};
    const struct profile *profiles[2];
    struct behaviour behaviour;
    struct peers reads = *peers;
    double match[2];
    int err = 0;

    behaviour_of(tally, peers, &behaviour);
    reads.unpacked = behaviour.unpacked;
    reads.unwritten_syncs = behaviour.unwritten_syncs;
    if (peers->exact && !ways_name_first(&behaviour, court->catalogue, SIDE_READ, &match[0])) {
        err = judge_load(court, tally, &behaviour);
        if (err)
            return err > 0 ? 0 : err;
    }
    for (unsigned i = 0; i < 2; i++)
        profiles[i] = ways_name(&behaviour, court->catalogue, i ? SIDE_WRITE : SIDE_READ, &match[i]);
    if (!(profiles[0] && profiles[0]->work) && !peers->exact && (err = judge_few(court, tally, serves, peers)))
        return err > 0 ? 0 : err;
    if (!profiles[0] && !profiles[1])
        return behaviour.opens <= FEW_OPENS    ? IS_FEW
               : behaviour.opens <= SOME_OPENS ? IS_SOME
                                               : court_divide(court, tally, peers);
    if (profiles[0] && (err = judge_blend(court, tally, serves, profiles[0], profiles[1])))
        return err > 0 ? IS_BLEND : err;
    if (!profiles[0] && goes_with_files(&sides[0], tally))
        return court_give(court, profiles[1], tally, match[1], true);
    for (unsigned i = 0; i < 2; i++)
        if (profiles[i] && (profiles[0] == profiles[1] || court_is_small(&sides[!i], tally)))
            return court_give(court, profiles[i], tally, match[i], true);
    for (unsigned i = 0; !err && i < 2; i++)
        err = profiles[i] ? court_give(court, profiles[i], &sides[i], match[i], true)
                          : court_divide(court, &sides[i], i ? &(struct peers){0} : &reads);
    return err;
}

struct tally judge_reworked(const struct court *court, const struct unit *unit)
{
    struct tally tally = unit->tally;
    uint64_t read = tally.op[OP_READ].bytes + tally.op[OP_MMAP_FAULT].bytes;

    tally.op[OP_WRITE].cache[CACHE_REWORKED_BYTES] = MIN(read, court->job->units[unit->process].manner.reworked);
    return tally;
}

/* A server on one volume: the same. */
static int judge_server(struct court *court, const struct unit *unit, const struct peers *peers)
{
    uint32_t count = court->catalogue->count + 1;
    _cleanup_free_ struct part *before = calloc(count, sizeof(*before));
    bool sought = seeks_go_with_transfers(&unit->tally);
    struct tally tally = judge_reworked(court, unit);
    int err;

    if (!before)
        return -ENOMEM;
    memcpy(before, court->parts, count * sizeof(*before));
    if (sought)
        tally = seeks_left_out(&tally);
    err = judge_tally(court, &tally, true, peers);
    if (err)
        return err;
    remaking_join(court->catalogue, &tally, before, court->parts);
    if (sought)
        seeks_add(&unit->tally, before, court->parts, count);
    return 0;
}

int judge_unit(struct court *court, const struct unit *unit, const struct peers *peers)
{
    return judge_serves(court, unit) ? judge_server(court, unit, peers) : judge_tally(court, &unit->tally, false, peers);
}
