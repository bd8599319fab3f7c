/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Batches of made-up operations for the analyzer's tests. */
#ifndef UNBLEND_TESTS_HISTORY_H
#define UNBLEND_TESTS_HISTORY_H

#include "analyzer/aggregate.h"
#include "analyzer/source.h"
#include "lib/record.h"

#define HISTORY_START INT64_C(1767225600000000000) /* 2026-01-01T00:00:00Z */

/* An interval of 1 s of node n1, at that second. */
struct batch *history_batch(int second);

/* Operations that succeed: count times size bytes (0 for operations without size; of opens, the size of the file, 0 where
 * it is not known), 1 us each. pid 0 is no process. */
void history_ops(struct batch *batch, const char *job, uint32_t pid, enum operation op,
                 uint64_t size, uint64_t count);
/* The same on another volume than the one that all else is on. */
void history_ops_on(struct batch *batch, const char *volume, const char *job, uint32_t pid, enum operation op, uint64_t size,
                    uint64_t count);
/* Operations that fail, by an errno, or by one that nobody recorded (0). */
void history_errors(struct batch *batch, const char *job, uint32_t pid, enum operation op, int code, uint64_t count);

/* Where so many of the reads or writes that are there started. */
void history_order(struct batch *batch, const char *job, uint32_t pid, enum operation op, enum order order,
                   uint64_t count);
/* What of the bytes written had just come from the network, and what its process received while it wrote. */
void history_received(struct batch *batch, const char *job, uint32_t pid, uint64_t bytes);
void history_process_received(struct batch *batch, const char *job, uint32_t pid, uint64_t bytes);
/* What processes that wrote had read, where they were folded into their job. */
void history_reworked(struct batch *batch, const char *job, uint64_t bytes);
/* What a process did of a kind so far; made when it is not there. */
struct record *history_record(struct batch *batch, const char *job, uint32_t pid, enum operation op);
/* Page faults on mapped files that were served from the page cache. */
void history_minor_faults(struct batch *batch, const char *job, uint32_t pid, uint64_t count);

/* The files that the job of a batch's first record opened on its volume, all so large. */
void history_told(struct batch *batch, unsigned count, uint64_t size);
/* Reads that moved something, of files of that kind, of which so many went ahead and the rest on where the last one ended. */
void history_pieces(struct batch *batch, uint32_t pid, enum file_size files, uint64_t size, uint64_t count, uint64_t jumps);

/* So many files of that size are opened, read at once, read to their end, and closed. */
void history_whole_files(struct batch *batch, uint32_t pid, uint64_t size, uint64_t count);

/* What Python does to load torch, but for what it reads of the modules. */
void history_torch(struct batch *batch, uint32_t pid);

/* What processes of the job "j" were seen to do on a real system, call by call: 1,000 files of 10 to 91 kB are read whole
 * (50.5 MB), 384 MiB of three shards in pieces of 1 MiB, a checkpoint of 256 MiB is written and moved into place. */
void history_small_files(struct batch *batch, uint32_t pid);
void history_shards(struct batch *batch, uint32_t pid);
void history_checkpoint(struct batch *batch, uint32_t pid);

#define GIVEN_MAX 32

/* A source that hands out what it was given; its next is history_next(). */
struct given {
    struct source source;
    struct batch *batches[GIVEN_MAX];
    unsigned count, next;
};

int history_next(struct source *source, struct batch **out);

/* Adds the batch to the totals and frees it. */
void history_into(struct aggregate *totals, struct batch *batch);

#endif
