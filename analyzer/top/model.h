/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `unblend top` knows: every process, job, volume, device, node and flow that samples spoke of, with the last
 * sample's amounts, those since the start, and a minute of history. Samples go in, entities come out; nothing here
 * knows of screens. Memory is bounded by how many entities live: those that are gone or idle are forgotten after a
 * while, and the totals keep what they did.
 */
#ifndef UNBLEND_ANALYZER_TOP_MODEL_H
#define UNBLEND_ANALYZER_TOP_MODEL_H

#include "analyzer/catalogue.h"
#include "analyzer/top/amounts.h"
#include "analyzer/top/filter.h"
#include "analyzer/top/sample.h"
#include "lib/lookup.h"

#define HISTORY_SECONDS 60

enum entity_kind {
    ENTITY_PROCESS,
    ENTITY_THREAD, /* while samples are by thread */
    ENTITY_JOB,
    ENTITY_VOLUME, /* file layer */
    ENTITY_DEVICE, /* block layer */
    ENTITY_NODE,
    ENTITY_FLOW,     /* what a job asks of a volume, by tenths of a second */
    ENTITY_PROFILE,  /* of the catalogue, and what is unknown */
    ENTITY_COVERAGE, /* something that could not be seen, or a hook */
    ENTITY_KINDS
};

/* Figures that only some kinds have; NAN when there is none. */
enum figure {
    FIGURE_PEAK,      /* of a flow: bytes in its highest tenth of a second of the last minute, times ten */
    FIGURE_MEAN,      /* bytes a second over that minute */
    FIGURE_METADATA_PEAK,
    FIGURE_IDLE,      /* share of tenths without demand */
    FIGURE_BURST_P99, /* since the start, ns */
    FIGURE_STEADY_P99,
    FIGURE_QUEUE_P99, /* of a device, or what serves a volume: ns that requests waited, and were served */
    FIGURE_SERVICE_P99,
    FIGURE_SHARE_OPS, /* of a profile */
    FIGURE_SHARE_BYTES,
    FIGURE_CONFIDENCE, /* of a profile; of who has one */
    FIGURE_MEMBERS,    /* processes of a job or profile */
    FIGURE_VALUE,      /* of coverage */
    FIGURE_KINDS
};

struct entity {
    enum entity_kind kind;
    uint32_t place;    /* among those of its kind; changes */
    uint32_t pid, uid; /* of a process; pid 0: what its job did outside of known processes */
    uint32_t tid;      /* of a thread; 0: what its process did outside of its threads */
    int64_t start_ns;
    /* the model's strings, "" where there is nothing to say */
    const char *name; /* the command, job, volume, device, node, profile, hook */
    const char *user, *job, *volume, *fstype, *source, *mounts, *node, *state, *why;
    struct amounts now, sum;
    struct histogram size, latency_ns; /* since the start */
    double figure[FIGURE_KINDS];
    float history[HISTORY_SECONDS]; /* operations a second, see model_history() */
    uint64_t first, listed, active; /* samples: when it came, was last mentioned, last did something */
    bool exited;
    const char *profile; /* the largest, NULL while nothing is known */
    struct blend *blend; /* of processes that are looked at, see blend.h */
    struct pulse *pulse; /* of flows, see pulse.h */
};

/* What was not watched in the last sample, so that its counts say nothing. */
enum unknown { UNKNOWN_DATA = 1, UNKNOWN_METADATA = 2, UNKNOWN_FAULTS = 4, UNKNOWN_BLOCK = 8 };

struct entities {
    struct entity **at;
    uint32_t count, capacity;
    struct lookup index;
};

/* A name and its share of the blend. */
struct mix_part {
    const char *profile;
    double ops, bytes, confidence; /* confidence: weighted by ops */
    uint32_t members;
};

struct model {
    const struct catalogue *catalogue; /* NULL: profiles are not looked for */
    struct filter *filter;             /* which records count; borrowed, NULL for all */
    bool local;                        /* it is this node, now: /proc has names of threads */
    bool unhurried;                    /* a recording may take more time to be judged than a node that works */
    uint64_t sample;                   /* how many there were */
    double seconds, sum_seconds;       /* of the last one, of all */
    int64_t end_ns;                    /* of the last one */
    int64_t second;                    /* of the wall clock, in which it ended */
    unsigned turned, told;             /* seconds since the sample before; those of the history that samples spoke of */
    unsigned unknown;
    struct entities of[ENTITY_KINDS];
    struct entity total;
    float data_history[HISTORY_SECONDS], metadata_history[HISTORY_SECONDS]; /* bytes and operations a second */
    struct mix_part *mix; /* one a profile of the catalogue, the last is unknown; NULL without one */
    uint32_t blends;      /* how many are in use */
    double credit_ns;     /* of processor time, for looking at them */
    double unnamed_ops, unnamed_bytes; /* lately, of processes that do too little to be looked at */
    struct lookup texts;
    const char **text; /* interned strings; their memory is the arena's */
    uint32_t text_count, text_capacity;
    struct arena arena;
};

/* The catalogue must outlive it. 0 or -ENOMEM. */
int model_new(const struct catalogue *catalogue, struct model **out);
void model_free(struct model *model);

/* Takes a sample in, which stays the caller's. 0, -ENOMEM or -ERANGE; the model is then of no use. */
int model_add(struct model *model, const struct sample *sample);

/* Forgets everything, as when time jumps or other records count. */
void model_reset(struct model *model);

/* Whether it takes part in the last sample; else it is shown for a while, greyed. */
static inline bool entity_is_current(const struct model *model, const struct entity *entity)
{
    return entity->listed == model->sample;
}

/* A process, or a thread of one. */
static inline bool entity_is_somebody(const struct entity *entity)
{
    return entity->kind == ENTITY_PROCESS || entity->kind == ENTITY_THREAD;
}

/* Value of a history so many seconds ago; 0 is the last one. Of shorter samples it is the highest of that second. */
float model_history(const struct model *model, const float history[HISTORY_SECONDS], unsigned ago);

/* --- for the files of the model --- */

/* What there was in the last sample, for the history; 0 in the seconds that no sample was of. */
void model_remember(const struct model *model, float history[HISTORY_SECONDS], double value);
/* A copy of the string that lives as long as entities use it; "" for NULL; NULL without memory. */
const char *model_text(struct model *model, const char *text);
/* Finds the entity by kind, name, pid, tid, start and (of a flow) volume; NULL for none. */
struct entity *model_find(const struct model *model, const struct entity *like);
/* The same, or makes it. NULL without memory. */
struct entity *model_entity(struct model *model, const struct entity *like);
/* Makes what the batch's coverage says, and the blend's profiles, into entities. 0 or -ENOMEM. */
int model_take_coverage(struct model *model, const struct coverage *coverage);
int model_take_mix(struct model *model);
/* Lets go of entities that have been gone for a while. 0 or -ENOMEM. */
int model_forget(struct model *model);

#endif
