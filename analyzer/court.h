/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rooms of a judgement: a job and what no process of it has to itself (judge.c), its processes (judge_units.c, each on
 * a volume in judge_unit.c, those without a name together in judge_together.c), those of them that do one thing (team.c),
 * and what all do with a tally (court.c). No header for others.
 */
#ifndef UNBLEND_ANALYZER_COURT_H
#define UNBLEND_ANALYZER_COURT_H

#include "analyzer/behaviour.h"
#include "analyzer/judge.h"
#include "analyzer/spells.h"

struct court {
    const struct catalogue *catalogue;
    const struct job_total *job;
    struct part *all;   /* by volume and profile */
    uint32_t volume;    /* that is judged: */
    struct part *parts; /* what it has, */
    const struct concert *concert; /* and when what belongs to no process there was read and written */
    struct draws *draws; /* NULL: nobody asks */
    struct spells *spells; /* NULL: nobody asks */
    const struct unit *unit; /* whose tally is judged; NULL: several units', or what belongs to none */
    uint32_t process;    /* that is judged by itself, as its first unit; NO_INDEX: several together, or none */
    bool *counted;       /* by profile and process: it is one of those that the profile was seen in, */
    bool by_volume;      /* on that volume: then by volume, too */
};

/* Which of the job's volumes has that name. */
uint32_t court_volume(const struct job_total *job, const char *name);

/* What is said from now on is said of that volume. */
void court_sit(struct court *court, uint32_t volume);

/* The same of a unit, and of the volume that it is on. */
void court_sit_for(struct court *court, const struct unit *unit);

/* A side's operations; for reading only, the histograms stay the original's. */
struct tally court_side(const struct tally *tally, bool written);

/* Whether it is no more than that share of operations, and of bytes. */
bool court_is_part(const struct tally *part, const struct tally *whole, double share);
bool court_is_small(const struct tally *side, const struct tally *whole);

/* A part takes as much of an operation's time as it has of its calls. */
void court_add_time(struct part *part, const struct tally *tally);

/* A process's time inside operations that are a profile's, on the volume that is judged. 0 or -ENOMEM. */
int court_note_spell(struct court *court, uint32_t profile, const struct unit *unit, const double times[BUSY_KINDS]);

/* All of a tally is a profile's. 0 or -ENOMEM. */
int court_give(struct court *court, const struct profile *profile, const struct tally *tally, double match, bool process);

/* Unmixes a process's tally, of which that is known beside it. 0, -ENOMEM or -ERANGE. */
int court_divide(struct court *court, const struct tally *tally, const struct peers *peers);

/* One that does what its clients do: it serves a file system, or seeks before each transfer. */
bool judge_serves(const struct court *court, const struct unit *unit);

/* Whether a process that is named is a blend all the same; one that does little of what its job does is not asked. 1, 0
   or -errno. */
int judge_blend(const struct court *court, const struct tally *tally, bool serves, const struct profile *read,
                const struct profile *written);

/* What a process did on a volume, with how much of what it read it did in intervals in which it wrote: sums of processes
   have that from who summed them up (lib/reworked.h). It shares what the unit's tally points to. */
struct tally judge_reworked(const struct court *court, const struct unit *unit);

#define FEW_OPENS 2 /* one of many alike opens no more */

/* What a process's tally may be that has no name. */
enum verdict {
    IS_FEW = 1,   /* not named, and it has opened no more files than that */
    IS_SOME = 2,  /* not named, and it has opened no more files than one that is given some at a time may */
    IS_BLEND = 3  /* of several programs, or to be looked at like one */
};

/* One process on one volume: 0, an enum verdict, -ENOMEM or -ERANGE. */
int judge_unit(struct court *court, const struct unit *unit, const struct peers *peers);

/* What is looked at when all processes have been judged by themselves. */
struct rests {
    struct tally *tallies; /* by volume: what belongs to processes that do too little */
    uint32_t *unnamed;     /* units that are not named, of few opens */
    uint32_t unnamed_count;
    uint32_t *some;        /* and of some, or that do little */
    uint32_t some_count;
};

/* Too little to say anything of who did it. */
bool judge_is_tiny(const struct tally *tally);

/* A unit's tally is looked at with what belongs to none. 0, -ENOMEM or -ERANGE. */
int judge_leave(const struct court *court, struct rests *rests, const struct unit *unit);

/* Those that have no name alone, and that many others are like. 0, -ENOMEM or -ERANGE. */
int judge_together(struct court *court, const struct peers *peers, struct rests *rests);

/*
 * All processes of the job, but for the units that are judged already (NULL: none is), and those that do too little, or have
 * no name alone, added to rests[volume_count]. 0, -ENOMEM or -ERANGE.
 */
int judge_units(struct court *court, const struct job_total *job, const bool *judged, struct tally *rests);

#endif
