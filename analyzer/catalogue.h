/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The catalogue of profiles: data, one JSON file each (see unblend-profile(5)). The default one is
 * part of the program; a directory of files adds to it, and replaces profiles of the same name.
 *
 * A pattern has signatures: recipes of operations, with weights, that go together ("an open, a
 * read, a close"). A signature states ranges of sizes, and how much of its operations lies in each;
 * where in the range is for the data to say, because it is a library's buffer that decides it. A companion is what
 * goes with a pattern's operations as often as its library likes: from never to so many times an open.
 * Requirements are bounds on features that the attributed part, or the whole of what is looked at,
 * must keep.
 */
#ifndef UNBLEND_ANALYZER_CATALOGUE_H
#define UNBLEND_ANALYZER_CATALOGUE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "lib/arena.h"
#include "lib/file_size.h"
#include "lib/operation.h"

/* How operations end. */
enum outcome {
    OUTCOME_OK,
    OUTCOME_MISSING, /* a name was looked for that is not there */
    OUTCOME_FAILED,  /* in another way */
    OUTCOME_UNKNOWN, /* it failed, and its error was not recorded */
    OUTCOMES
};

/* What stats are of. */
enum stat_of { STAT_OF_ANY, STAT_OF_OPEN, STAT_BY_NAME, STAT_OF_FOLDER };

struct ingredient {
    enum operation op;
    enum stat_of of; /* of stats, where it is known: these only */
    bool ends[OUTCOMES]; /* operations that end so, by enum outcome */
    bool whole;     /* reads of as much as there is in a file that was opened */
    bool blocks;    /* so many reads a file as it has of these blocks; the weight is for where files' sizes are not known */
    bool sized;     /* lower and upper count */
    uint64_t lower; /* bytes; [lower, upper) */
    uint64_t upper;
    double weight; /* share of the signature's operations; a signature's add up to 1 */
};

struct requirement {
    const char *feature;
    double min;       /* -INFINITY for none */
    double max;       /* INFINITY for none */
    bool unordered;   /* only where it is not known where reads start: the fit tells it otherwise */
    bool each;        /* of a signature's part by itself; else of all parts of the profile */
    double otherwise; /* what confidence is multiplied with when it does not hold; 0: then it is
                         none */
};

struct signature {
    const char *name;
    double jumps; /* share of its reads that do not start where the last one ended; NAN: it does not say */
    bool paired;  /* its reads and its writes have the same sizes */
    uint64_t files_lower; /* bytes of the files that it reads; [lower, upper) */
    uint64_t files_upper;
    bool runs;    /* a read that jumps is followed by some of the same size that go on */
    struct ingredient *ingredients;
    uint32_t ingredient_count;
    struct requirement *requirements; /* beside the profile's */
    uint32_t requirement_count;
};

/* The files that it reads, a bit for each enum file_size. */
static inline unsigned signature_files(const struct signature *signature)
{
    unsigned lower = file_size_class(signature->files_lower), upper = file_size_class(signature->files_upper - 1);

    return ((2u << (upper - lower)) - 1) << lower;
}

/* Which of an operation's calls go with others. */
enum companion_kind {
    COMPANION_OK,     /* those that succeed */
    COMPANION_FAILED, /* those that fail, whatever the error */
    COMPANION_EMPTY,  /* reads at the end of a file */
    COMPANION_KINDS
};

#define COMPANION_READ_MAX (1u << 20) /* bytes: what reads that much is somebody's data */

/* Page faults, and reads of less than that, bring their bytes with them. */
struct companion {
    enum operation op;
    enum companion_kind kind;
    enum operation per; /* goes with those of these that succeed and, where they move bytes, move some: */
    double most;        /* at most so many for each */
};

/* The part of a process's operations that bounds are about. */
enum side {
    SIDE_BOTH,  /* all of it, on all volumes */
    /* on one volume: reads, and what goes with them; SIDE_WRITE takes what makes, writes and changes files */
    SIDE_READ,
    SIDE_WRITE,
    SIDE_JOB, /* all processes of the job together */
};

/* Bounds on a whole process (analyzer/behaviour.h) that name it when they all hold. */
struct way {
    enum side side;
    bool first; /* it says more than others, and is looked for before them */
    struct requirement *requirements;
    uint32_t requirement_count;
};

/* What a program's operations are about. One does one of these, or reads so and saves. */
enum work {
    WORK_FILES = 1 << 0,   /* a file after the other, whole */
    WORK_RECORDS = 1 << 1, /* here and there in large files */
    WORK_STREAMS = 1 << 2, /* large files from end to end */
    WORK_NAMES = 1 << 3,   /* no contents */
    WORK_SAVES = 1 << 4,   /* writes what it has */
    WORK_COPIES = 1 << 5,  /* writes what it reads */
    WORK_WRITES = WORK_SAVES | WORK_COPIES,
};

struct profile {
    const char *name;
    const char *summary;
    bool pipeline;
    bool alone; /* a process does nothing else, or it is not this: never one of several parts */
    bool prelude; /* processes of other profiles do some of it first: who reads files lists them */
    const char *reads, *writes; /* profiles that it looks like where nobody tells who does what; NULL: it says none */
    unsigned work; /* enum work; 0: it is not told, or may go with any other */
    double confidence; /* the most that this catalogue entry can justify */
    double worth;      /* nats that it has to explain more for each of its operations to be found in a sum */
    double once;       /* confidence is multiplied with it where files were opened once; 1: it is the same */
    const char *limit; /* what keeps confidence down, NULL for nothing */
    struct signature *signatures;
    uint32_t signature_count;
    struct companion *companions;
    uint32_t companion_count;
    struct requirement *requirements;
    uint32_t requirement_count;
    struct way *ways;
    uint32_t way_count;
};

struct catalogue {
    struct arena arena;
    struct profile *profiles;
    uint32_t count, capacity;
};

/* The built-in profiles, and those of a directory unless it is NULL. 0, or -errno after one line on
 * stderr. */
int catalogue_load(const char *directory, struct catalogue *out);

/* The profile of that name; NULL for none. */
static inline struct profile *catalogue_find(const struct catalogue *catalogue, const char *name)
{
    for (uint32_t i = 0; i < catalogue->count; i++)
        if (strcmp(catalogue->profiles[i].name, name) == 0)
            return &catalogue->profiles[i];
    return NULL;
}

/* Adds one profile from JSON; `origin` names it in messages. 0 or -errno (logged). */
int catalogue_add(struct catalogue *catalogue, const char *origin, const char *json, size_t size);

void catalogue_clear(struct catalogue *catalogue);

#endif
