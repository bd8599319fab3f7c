/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One recording of those that a source reads: its batches in the order of time, decoded ahead of whoever reads them
 * where that is worth it. Of what is damaged the first is told with its place in the file, and how much it was at the
 * end.
 */
#ifndef UNBLEND_ANALYZER_RECORDING_FILE_H
#define UNBLEND_ANALYZER_RECORDING_FILE_H

#include <sys/stat.h>

#include "analyzer/decode_ahead.h"
#include "analyzer/recording_order.h"

struct recording_file {
    const char *path; /* the caller's */
    struct recording_reader *reader;
    struct decode_ahead *decoder; /* NULL: nobody decodes ahead, and the reader is ours */
    struct recording_order order;
    struct stat stat; /* before it was opened; zeroed where that failed */
    double bytes;     /* NAN of what is no file on a disk */
    uint64_t number;  /* frames read */
    uint64_t looked;  /* up to there damage has been told of */
    uint64_t damages; /* places where it is damaged */
    bool sought;      /* it was gone to and fro in: its frames have no numbers */
};

/* Opens the file at file->path, whose stat is known. 0 or -errno (logged). */
int recording_file_open(struct recording_file *file);

/* Makes it ready to be read from its start to its end: in the order of time, with up to so many threads. 0 or -errno
   (logged). */
int recording_file_line_up(struct recording_file *file, unsigned threads);

/* The next batch. 1, 0 at the end, or -errno (logged); damage is passed, and *damaged set. */
int recording_file_next(struct recording_file *file, struct batch **out, bool *damaged);

/* Goes on with the last batch that begins at that time or before, as source->seek(). */
int recording_file_seek(struct recording_file *file, int64_t ns, int64_t *found);

/* How many bytes of it were read. */
double recording_file_read(const struct recording_file *file);

void recording_file_close(struct recording_file *file);

#endif
