/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one program does with one volume, in figures that do not depend on how its library cuts transfers into calls:
 * bytes an open, how much of what was opened is read, whether it goes forward, what share is looking up names. The
 * catalogue's bounds on them (`process` in a profile) name a program as a whole; blends are for mixture.h.
 */
#ifndef UNBLEND_ANALYZER_BEHAVIOUR_H
#define UNBLEND_ANALYZER_BEHAVIOUR_H

#include "analyzer/catalogue.h"
#include "analyzer/feature.h"

/* What a process's operations do not say. Other processes that loaded the same: `exact` read just as many bytes, `mapped`
   touched about as many pages. */
struct peers {
    uint32_t exact, mapped;
    double opened, files; /* of all that were opened on its volumes, by whomever: bytes, and how many; 0: not known */
    double opens, unpacked, unwritten_syncs; /* figure_...() of it on all its volumes, with who is behind a pipe */
    uint32_t starts; /* it is several processes, so many; 0: one */
    /* Shares of what it reads that it reads in intervals of its own, in which it writes nothing, and in those in which it
       writes, too; 0: not known. */
    double apart, mingled;
};

/* What is not known, or cannot be divided, is NAN. */
struct behaviour {
    double ops, metadata, lookups; /* lookups: stat, readdir, unlink, setattr, seek, and opens and closes of directories */
    double listings;               /* readdirs */
    double names;                  /* share of operations that look a name up, or list names */
    double opens, creates;         /* that succeeded; opens of regular files where that is known */
    double read_bytes, fault_bytes, write_bytes, minor_faults;
    double stray_reads;
    double bytes_per_open, median_file, coverage; /* coverage: bytes read of the bytes of what was opened */
    double read_coverage; /* the same of those kinds of files by size that it reads: libraries are opened to be mapped */
    double files;  /* different ones that anybody opened on its volumes; INFINITY: not known */
    double rounds; /* opens to different files that anybody opened on its volumes, by bytes or by files, the larger, of who writes
                      in few pieces; who packs writes something of each file: 1 */
    double bytes_per_large_open, large_reads;     /* bytes read to each open of a large file; share of reads that are of such */
    double of_largest; /* bytes read to those of the largest file that was opened */
    double variety; /* bytes of all files that were opened on its volumes, to a file as most of its bytes are in */
    double evenness; /* bytes of what it opens, an open, to those of a file as most of these bytes are in */
    double jumps, write_jumps;     /* share of reads, and of writes, that jump, where it is known of half of them */
    double returns, bytes_per_jump; /* share of the jumps that go back; bytes read from one to the next */
    double jumped_bytes;            /* share of the bytes read that reads which jump have moved */
    double read_mean, write_mean;  /* bytes, of transfers that moved something */
    double write_share;            /* of the bytes of read and write, and of page faults */
    double written;                /* of the bytes of read and write */
    double large_writes;           /* share of the bytes written that come in writes of 128 KiB and more */
    double received;               /* share of the bytes written that its threads had just received from the network */
    double passed; /* bytes written to those that it received from the network, or the reverse where these are fewer */
    double copy_likeness;          /* how alike the sizes of reads and of writes are, 0..1 */
    double stats_per_open, seeks_per_open, seeks_per_read, open_errors;
    double missing, not_found; /* stats and opens of names that are not there: share of these, and of all operations */
    double missing_later, open_errors_later; /* but for as many as a program and its libraries have when they start */
    double creates_per_open, creates_per_round, bytes_per_create, bytes_per_fsync;
    double unpacked; /* files made to each that is opened, of who makes many small ones; 0 of others */
    double renames_per_create; /* 0 where there are few: who saves again and again keeps the old one until the new one is whole */
    double unwritten_syncs; /* fsyncs beyond its writes: of what it has written by a mapping */
    double resaves; /* fsyncs, each of a lot, to each file made: who saves again over what is there forces each to disk; else 0 */
    double commits_per_create; /* those that are forced to disk and moved into place, as who saves does; few copies and packs are */
    double small_opens_per_create; /* opens of files below 128 KiB, where there are many, and they more than a trifle of what is read; else 0 */
    double faults, faults_per_open, fault_writes; /* major ones; and which part of them was to write */
    double fault_share, minors_per_op, minors_per_open, bytes_per_op;
    double piped; /* 1: of two processes that are the ends of a pipe (analyzer/pipes.h); 0 */
    struct peers peers;
};

void behaviour_of(const struct tally *tally, const struct peers *peers, struct behaviour *out);

bool behaviour_is_known(const char *feature);

/* NAN where the name is not known. */
double behaviour_value(const struct behaviour *behaviour, const char *feature);

#endif
