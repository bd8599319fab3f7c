/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rules of findings, as data. A rule looks at one kind of subject, a job on a volume, say, or a pair of jobs that
 * meet there; of a subject so many traits are known, and the rule bounds some of them. Costs and gains are traits, too.
 */
#ifndef UNBLEND_ANALYZER_FINDING_RULE_H
#define UNBLEND_ANALYZER_FINDING_RULE_H

#include "analyzer/finding/finding.h"

enum trait {
    TRAIT_NONE,
    /* of a job on a volume */
    TRAIT_READS,
    TRAIT_READ_MEAN,
    TRAIT_READ_FORWARD,
    TRAIT_READS_PER_OPEN,
    TRAIT_READ_TIME_SHARE,
    TRAIT_SMALL_READ_LOW,
    TRAIT_SMALL_READ_HIGH,
    TRAIT_WRITES,
    TRAIT_WRITE_MEAN,
    TRAIT_WRITE_FORWARD,
    TRAIT_WRITES_TOGETHER,
    TRAIT_WRITE_TIME_SHARE,
    TRAIT_WRITE_TIME,
    TRAIT_SMALL_WRITE_LOW,
    TRAIT_SMALL_WRITE_HIGH,
    TRAIT_SYNC_WRITES,
    TRAIT_METADATA_OPS,
    TRAIT_METADATA_SHARE,
    TRAIT_METADATA_TIME_SHARE,
    TRAIT_UNLINK_SHARE,
    TRAIT_MISSING_SHARE,
    TRAIT_CHANGE_SHARE,
    TRAIT_CREATE_TIME_SHARE,
    TRAIT_READ_FILES_SHARE,
    TRAIT_METADATA_LOW,
    TRAIT_METADATA_TIME,
    TRAIT_METADATA_OF_SPAN,
    TRAIT_OPENS,
    TRAIT_FILE_MEAN,
    TRAIT_OPENS_PER_FILE,
    TRAIT_REOPENED,
    TRAIT_COVERAGE,
    TRAIT_JUMPED_COVERAGE,
    TRAIT_OPEN_LOW,
    TRAIT_OPEN_TIME,
    TRAIT_READ_BYTES,
    TRAIT_REREAD_LOW,
    TRAIT_REREAD_HIGH,
    TRAIT_MISSES_PER_BYTE,
    TRAIT_MISS_SHARE,
    TRAIT_THRASH_LOW,
    TRAIT_THRASH_HIGH,
    TRAIT_RANDOM_LOW,
    TRAIT_RANDOM_HIGH,
    TRAIT_DIRECT_SHARE,
    TRAIT_MISALIGNED,
    TRAIT_MISALIGNED_TIME,
    TRAIT_DATA_TIME,
    TRAIT_FSYNCS,
    TRAIT_BYTES_PER_FSYNC,
    TRAIT_FSYNCS_PER_FILE,
    TRAIT_FSYNC_TIME_SHARE,
    TRAIT_FSYNC_LOW,
    TRAIT_FSYNC_TIME,
    TRAIT_SHARED,
    TRAIT_SMALL_FILES_SHARE,
    TRAIT_SMALL_FILES_LOW,
    TRAIT_SMALL_FILES_TIME,
    TRAIT_SMALL_FILES_SURE,
    TRAIT_OPENED_ONCE,
    TRAIT_IMPORT_SHARE,
    TRAIT_IMPORT_TIME,
    /* of others */
    TRAIT_COPIED,
    TRAIT_COPY_LIKENESS,
    TRAIT_COPY_LOW,
    TRAIT_COPY_TIME,
    TRAIT_SLOWDOWN,
    TRAIT_SECONDS,
    TRAIT_MET_SLOTS,
    TRAIT_TOGETHER_LOW,
    TRAIT_TOGETHER_HIGH,
    TRAIT_STUCK_S,
    TRAIT_STUCK_TIMES,
    TRAIT_STUCK_COST,
    TRAIT_WRITE_SLOTS,
    TRAIT_CHECKPOINT_SHARE,
    TRAIT_OWN_CHECKPOINT_SHARE,
    TRAIT_PAUSES,
    TRAIT_PAUSES_SAVING,
    TRAIT_SAVES_PAUSED,
    TRAIT_SAVED_FILE,
    TRAIT_STOPPED_TIME,
    TRAIT_STOPPED_SHARE,
    TRAIT_PEERS,
    TRAIT_TIMES_PEERS,
    TRAIT_MADS,
    TRAIT_PEER_LOW,
    TRAIT_PEER_COST,
    TRAIT_IN_MEMORY, /* of all subjects on a volume */
    TRAIT_WHOLE, /* of all subjects: the job's time in operations, everywhere */
    TRAIT_COUNT
};

enum trait_unit { UNIT_COUNT, UNIT_BYTES, UNIT_SHARE, UNIT_SECONDS, UNIT_RATIO, UNIT_FLAG };

struct trait_info {
    const char *name;   /* as the JSON's metric */
    const char *phrase; /* what stands in front of the value in evidence */
    enum trait_unit unit;
};

extern const struct trait_info trait_infos[TRAIT_COUNT];

enum subject_kind {
    SUBJECT_USE,        /* a job on a volume */
    SUBJECT_COPY,       /* a job that reads one volume and writes another */
    SUBJECT_MEETING,    /* a job that meets another one on a volume */
    SUBJECT_STUCK,      /* a job's calls that hang on a volume */
    SUBJECT_CHECKPOINT, /* readers of a volume while it is written to, by checkpoints maybe */
    SUBJECT_RANK,       /* a process among its like */
    SUBJECT_KINDS
};

struct subject {
    enum subject_kind kind;
    const char *job, *node, *volume, *user;
    double values[TRAIT_COUNT]; /* NAN: not known */
    char *note;                 /* what its figures do not say; NULL: nothing */
    char *files;                /* which files it opened, and how often; NULL: not known */
};

#define RULE_BOUNDS 7
#define RULE_NEEDS  3
#define RULE_CASES  6

struct bound {
    enum trait trait;
    bool at_most; /* else at least */
    bool strict;  /* the bound itself is another rule's */
    double value;
    const char *source; /* why there */
    bool optional;      /* not known: less sure, instead of no finding */
};

/* A case that a rule's remedy does not fit, and what helps there; NULL behind the last one. Its gain may be one that
   can be told where the rule's own cannot, or the reverse. */
struct rule_case {
    struct bound when;
    const char *remedy;
    enum trait cost_low; /* with the gain: TRAIT_NONE and NULL are the rule's */
    const char *gain;
    bool doubtful; /* maybe there is nothing to mend: a step less severe, and the gain cannot be told */
};

struct rule {
    const char *id;
    enum subject_kind on;
    struct bound bounds[RULE_BOUNDS]; /* the first one is what the finding reports */
    bool of_files; /* its evidence says which files they are */
    bool of_device; /* a file system in memory has none to wait for */
    enum trait cost_low, cost_high;
    const char *needs[RULE_NEEDS]; /* what its data comes from: part of a hook's name; without it, less sure */
    const char *remedy;
    struct rule_case instead[RULE_CASES];
    const char *gain;  /* how the saving is estimated */
    double confidence; /* of the clearest case */
    enum trait sure;   /* how sure the profile is that it goes by; TRAIT_NONE: by none */
    bool critical;
};

extern const struct rule finding_rules[];
extern const uint32_t finding_rule_count;

typedef int (*subject_take)(void *to, const struct subject *subject);

/* Each calls take() with its subjects, one after the other, and stops at what it returns, if that is not 0. -ENOMEM. */
int subjects_use(const struct finding_matter *matter, subject_take take, void *to);
int subjects_copy(const struct finding_matter *matter, subject_take take, void *to);
int subjects_meeting(const struct finding_matter *matter, subject_take take, void *to);
int subjects_stuck(const struct finding_matter *matter, subject_take take, void *to);
int subjects_checkpoint(const struct finding_matter *matter, subject_take take, void *to);
int subjects_rank(const struct finding_matter *matter, subject_take take, void *to);

/* Of a job on a volume: whether it stops reading there while it writes. 0 or -ENOMEM. */
int subject_pauses(const struct volume_total *volume, struct subject *subject);

/* A subject of which nothing is known yet. */
void subject_init(struct subject *subject, enum subject_kind kind, const struct job_total *job,
                  const struct volume_total *volume);

/* Whether a volume is a file system without a device, as a cache of one's own. */
bool subject_in_memory(const struct volume_total *volume);

/* Sets the note, or which files were opened. 0 or -ENOMEM. */
__attribute__((format(printf, 2, 3))) int subject_note(struct subject *subject, const char *format, ...);
int subject_files(struct subject *subject, const struct working_opens *opened);

/* Calls take(), and frees both. */
int subject_give(struct subject *subject, subject_take take, void *to);

/* Time in a job's operations of the file layer, everywhere, in seconds. */
double subject_time_s(const struct tally *tally);

/* From the first slot in which a job did something to the end of its last, as far as they were watched, in seconds;
   NAN for a job of no demand. */
double subject_span_s(const struct aggregate *totals, const struct job_total *job);

#endif
