/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The working set of a job on a volume, in a tree of it, or of all of them: which files were opened in the last hour,
 * day and week, how large they are together, and how often their bytes were read. Files that were opened before anybody
 * looked are in none of it. And, over all the time, how often those files were opened.
 *
 * Files are as large as when they were opened. Who goes on to write to them and reads that, reads nothing again: where
 * more was read than was opened, and written as well, so much may be new.
 *
 * A zeroed struct is an empty one; working_clear() gives its memory back.
 */
#ifndef UNBLEND_ANALYZER_WORKING_H
#define UNBLEND_ANALYZER_WORKING_H

#include "lib/record.h"

#define WORKING_WINDOWS 3 /* an hour, a day, a week */

struct working_bin {
    uint64_t read_bytes, written_bytes, opens;
    double opened_bytes; /* of each open what its file had, at most */
    bool told; /* which files were opened */
};

struct working {
    struct sketch files;
    struct working_bin *bins; /* of ten minutes, from the first on */
    int64_t first;
    uint32_t length;
    int64_t end_ns;
};

struct working_set {
    uint32_t window_s;
    struct sketch_estimate files, bytes;
    uint64_t read_bytes; /* to ten minutes */
    bool grown;          /* bytes are too few, maybe: what was written since may have been read */
    double reread;       /* read_bytes over bytes; NAN without any, and of files that have grown */
};

/* What was read and written, and which files were opened, in an interval that begins then. 0 or -ENOMEM. */
int working_add(struct working *working, int64_t start_ns, uint64_t read, uint64_t written, const struct sketch *files);
int working_add_flow(struct working *working, int64_t start_ns, const struct flow *flow);

/*
 * A record of opens in that batch. Files are told of once in ten minutes: of a job that may have begun before told_ns,
 * from when on it is known what was told, those ten minutes are left out. INT64_MIN: all of it is known.
 */
void working_opened(struct working *working, const struct batch *batch, const struct record *record, int64_t told_ns);

/* The sets of windows that end with the last interval: up to the first that holds all that was seen. How many;
   0 when no file was seen being opened. */
unsigned working_sets(const struct working *working, struct working_set sets[WORKING_WINDOWS]);

/* Of what was read beyond what the files opened had: so much may have been written to them since, and be no second
   time. */
double working_grown(double read, double opened, double written);

struct working_opens {
    uint64_t opens; /* of regular files that were there: in the last week, and as far as it was told which they were */
    struct sketch_estimate files, bytes; /* of all the time, those that were made included */
};

/* False when no file was seen being opened, or none of the opens is such. */
bool working_opens(const struct working *working, struct working_opens *out);

void working_clear(struct working *working);

#endif
