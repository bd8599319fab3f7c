/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The working set of a job on a volume, or of all of them: which files were opened in the last hour, day and week, how
 * large they are together, and how often their bytes were read. Files that were opened before anybody looked are in
 * none of it.
 *
 * A zeroed struct is an empty one; working_clear() gives its memory back.
 */
#ifndef UNBLEND_ANALYZER_WORKING_H
#define UNBLEND_ANALYZER_WORKING_H

#include "lib/flow.h"

#define WORKING_WINDOWS 3 /* an hour, a day, a week */

struct working {
    struct sketch files;
    uint64_t *read_bytes; /* by bins of ten minutes, from the first on */
    int64_t first;
    uint32_t length;
    int64_t end_ns;
};

struct working_set {
    uint32_t window_s;
    struct sketch_estimate files, bytes;
    uint64_t read_bytes; /* to ten minutes */
    double reread;       /* read_bytes over bytes; NAN without any */
};

/* What a flow of an interval that begins then has opened and read. 0 or -ENOMEM. */
int working_add(struct working *working, int64_t start_ns, const struct flow *flow);

/* The sets of windows that end with the last interval: up to the first that holds all that was seen. How many;
   0 when no file was seen being opened. */
unsigned working_sets(const struct working *working, struct working_set sets[WORKING_WINDOWS]);

void working_clear(struct working *working);

#endif
