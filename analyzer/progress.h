/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One line on a terminal while a long reading lasts: how much of it has been read. It comes after two seconds,
 * stands on stderr behind whatever is said there, and is erased at the end. Nothing is written where stderr is no
 * terminal, nor while the terminal belongs to somebody else in the foreground.
 */
#ifndef UNBLEND_ANALYZER_PROGRESS_H
#define UNBLEND_ANALYZER_PROGRESS_H

#include <stddef.h>

#include "analyzer/source.h"

#define PROGRESS_WIDTH 40 /* columns at most, with the end of the string: what is logged meanwhile covers it */

struct progress;

/* NULL where nothing is to be shown, or cannot be: then what follows does nothing. */
struct progress *progress_start(void);

/* Erases the line. */
void progress_stop(struct progress *progress);

/* How much of all has been read, 0..1; NAN when that is not known. From any thread. */
void progress_share(struct progress *progress, double share);

/* Puts itself in front of a source, and tells of each batch that is read from it. 0 or -ENOMEM (logged), and the
   source is as it was. */
int progress_watch(struct progress *progress, struct source **source);

/* The line, without moves of the cursor. */
void progress_text(char line[PROGRESS_WIDTH], double share, unsigned seconds);

#endif
