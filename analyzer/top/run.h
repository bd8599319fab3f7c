/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `unblend top` at work, in batch mode or on the terminal. */
#ifndef UNBLEND_ANALYZER_TOP_RUN_H
#define UNBLEND_ANALYZER_TOP_RUN_H

#include "analyzer/source.h"
#include "analyzer/top/write.h"

struct top_arguments {
    bool batch, json, csv;
    bool active, since_start, tree, ascii;
    bool replay, cluster;
    bool local; /* it is this node, now: /proc tells more of its processes */
    uint64_t count, interval_ns, speed, quiet;
    unsigned tab;
    const char *sort, *theme; /* NULL if not given */
    char *filter;             /* valid words, "" for none */
    struct text_style style;
};

/* A theme by name: 0 and more, -EINVAL for none. */
int top_theme(const char *name);

/* Writes samples until the source ends or there were enough. 0 or -errno (logged). */
int top_batch(struct source *source, const struct top_arguments *arguments);

/* Runs until q. 0, or -errno (logged). The source stays with the reading thread: it must not be freed afterwards, the
   program is to end. */
int top_screen(struct source *source, const struct top_arguments *arguments);

#endif
