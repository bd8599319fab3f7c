/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What fio is to do, section by section, with fio's own calls taken into account: it looks for each file of a section
 * three times, and for each that it makes once, and its layout makes files; so much less is then asked of it.
 */
#ifndef UNBLEND_ANALYZER_EXPORT_PLAN_H
#define UNBLEND_ANALYZER_EXPORT_PLAN_H

#include "analyzer/export/export.h"
#include "analyzer/export/sizes.h"

#define FILES_MAX  1000
#define LOOKS      3 /* fio's stats of each file of a section */
#define LOOKS_MORE 2 /* and of each section's directory */

enum step {
    STEP_READ,
    STEP_WRITE,
    STEP_OPEN,   /* and close, nothing between */
    STEP_EMPTY,  /* reads that return nothing */
    STEP_PAIRS,  /* files are made and deleted */
    STEP_CREATE, /* files are made */
    STEP_STAT,
};

struct section {
    enum step step;
    uint64_t ops;         /* a loop */
    uint64_t loops;
    uint64_t files, file_bytes; /* of its own; 0: all that move data, and look, share one */
    struct size_mix mix;  /* of reads and writes */
    unsigned random;      /* per cent */
    uint64_t sync_every;  /* 0: never */
    uint64_t pause_us, pause_every; /* after so many operations; 0: none */
    bool unlink;          /* its files, at its end */
    uint32_t lent;        /* of stat: the section whose files it looks for, plus one; 0: the shared one */
};

struct plan {
    struct section *sections;
    uint32_t count, capacity;
    bool direct;
    uint64_t shared_bytes; /* the size of the shared file; 0: there is none */
    /* what was recorded, and what of it the sections do, fio's own calls included */
    uint64_t creates, stats, deletes;
    uint64_t made, looked, deleted;
    uint64_t opens, opened;
    uint64_t fsyncs, synced;
};

/* A section more, which is the plan's; NULL without memory. Those that were there may move. */
struct section *plan_add(struct plan *plan, enum step step, uint64_t ops);

/* How many files so many opens may have: fio looks for each, and makes it. */
uint64_t plan_files(const struct plan *plan, uint64_t opens);

/* 0 or -ENOMEM. */
int plan_make(const struct job_total *job, const struct volume_total *volume, struct plan *out);
void plan_clear(struct plan *plan);

#endif
