/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A part of a mixture: how much of which operation was attributed to a profile. */
#ifndef UNBLEND_ANALYZER_PART_H
#define UNBLEND_ANALYZER_PART_H

#include "analyzer/busy.h"
#include "analyzer/catalogue.h"
#include "analyzer/feature.h"

#define SURE_MIN   0.5 /* without processes, what is more likely wrong than right is not named: confidence at least */

/* What a transfer has the size of. */
enum match {
    MATCH_NONE,
    MATCH_COPY,   /* a read as large as a write, or a write as a read, or an open of a file as large as these */
    MATCH_FILE,   /* a read as large as a file that was opened */
    MATCH_BEYOND, /* an open of a file that has more than was copied, so that it was not */
    MATCH_KINDS
};

/* Where a read starts, as far as that is clear (analyzer/ordering.h), and what a stat is of. */
enum order_known {
    NOT_KNOWN,
    GOES_ON, /* where the last one ended */
    JUMPS,   /* elsewhere */
    OF_OPEN, /* what is open, by descriptor */
    BY_NAME,
};

/* Operations of one kind and one size: what the mixture fit works on. */
struct bin {
    enum operation op;
    enum outcome outcome;
    enum match match; /* where they are told apart (analyzer/matching.h) */
    bool twin;        /* a copy of a size that nearly all of its reads and writes share */
    enum order_known order;
    bool lone;        /* it goes on, and hardly any of its size jumps */
    unsigned files;  /* of reads, stats, seeks and closes: of what files they may be, a bit for each kind (analyzer/filing.h) */
    uint16_t bucket; /* of the size; 0 where an operation has none */
    double ops;
    double bytes; /* the buckets' shares of the bytes really transferred */
};

/* Whether it is known of what kind of files the operations are, though they move nothing. */
bool bin_tells_files(const struct bin *bin);

/* A file layer's tally as bins. *out is malloc'ed. 0 or -ENOMEM. */
int bins_of(const struct tally *tally, struct bin **out, size_t *count);

/* Operations that a signature would have taken, but for a bound or for being too unlike; and the profile that would have
   had most of them, with the bound that they break (NULL: none) and what they have instead. */
struct rejected {
    double ops;
    const struct profile *profile;
    const struct requirement *broken;
    double value;
};

/* Amounts are fractions of operations, a bin may be divided among parts. Zeroed is empty. */
struct part {
    double ok[OP_COUNT], failed[OP_COUNT], bytes[OP_COUNT];
    /* Of those that succeeded, and of reads those that moved nothing, how many were of files of each kind and of all else
       (analyzer/filing.h), where that was counted. */
    double of_files[OP_COUNT][FILE_SIZES + 1];
    double received;   /* bytes written that had just come from the network, of tallies that were not divided, */
    double taken;      /* and bytes that the processes received, */
    double reworked;   /* or read, meanwhile */
    double opened;     /* bytes of the files that were opened, where that is known */
    double fit;        /* sum over units of ops * how well their signature fits */
    double confidence; /* sum over processes of ops * confidence */
    double summed;     /* operations that belong to no process: how sure they are depends on all the rest */
    double unjoined;   /* of those, reads of which it is known where they start, but not of which sizes they are */
    double given;      /* operations that nobody explains, and that are so few that they count here */
    double prelude;    /* operations that look like a profile's that others do first, and count here, */
    uint32_t first;    /* which is this one of the catalogue's */
    double time[BUSY_KINDS]; /* ns inside operations, by enum busy */
    struct rejected rejected; /* of unknown */
    double contested;  /* operations that another profile would explain nearly as well, */
    uint32_t rival;    /* which is this one of the catalogue's, mostly */
    double once;       /* operations on volumes whose files were opened once (analyzer/once.h) */
    double together;   /* operations of several processes that were judged as one: a job's, or the two ends of a pipe */
    uint32_t processes; /* that have enough of it each, judged by itself */
    unsigned filled; /* buckets that transfers may have; of zero bytes they have the first, whatever this is */
    double read[BUCKET_COUNT], write[BUCKET_COUNT]; /* transfers by size */
};

/* Empties one; that of a few sizes is emptied sooner than it is filled with zeros. */
void part_clear(struct part *part);
void part_add_bin(struct part *part, const struct bin *bin, double ops);
void part_add(struct part *part, const struct part *other);
/* The profile is that of the larger one. */
void rejected_add(struct rejected *rejected, const struct rejected *other);
/* Adds such shares of the sizes of another's transfers. */
void part_add_sizes(struct part *part, const struct part *other, double reads, double writes);
/* Adds such shares of another's operations and of its bytes, which do not change how well it fits, nor how much of it is
   contested; nor does what has come since it had so many operations. */
void part_add_share(struct part *part, const struct part *other, double ops, double bytes);
void part_keep_likeness(struct part *part, double had);
double part_ops(const struct part *part);
double part_bytes(const struct part *part);
/* Successful opens, with those that made the file. */
double part_opens(const struct part *part);

/* Nearest-rank quantile of transfers that moved something, lower bound of its bucket; 0 when there
 * are none. */
uint64_t part_quantile(const double sizes[BUCKET_COUNT], double q);

#define READDIRS 2.0 /* of a folder, mostly: one for its names, one that returns nothing more */
#define FAULT_AROUND 65536 /* bytes that a minor page fault maps, as the kernel is built */

#endif
