/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one table of columns: it feeds the screen, batch mode, JSON, CSV and the manual. To add one is to add a line to
 * the table, and its key to the tabs that have it.
 */
#ifndef UNBLEND_ANALYZER_TOP_COLUMN_H
#define UNBLEND_ANALYZER_TOP_COLUMN_H

#include "analyzer/top/model.h"

enum column_unit {
    UNIT_ID,    /* a process id */
    UNIT_RATE,  /* operations, each second or since the start */
    UNIT_BYTES, /* the same of bytes */
    UNIT_COUNT, /* as it is */
    UNIT_SIZE,  /* bytes, as they are */
    UNIT_TIME,  /* ns */
    UNIT_SHARE, /* 0..1 */
    UNIT_RATIO,
    UNIT_TEXT,
    UNIT_SPARK, /* a minute of history */
};

/* What the colour of a column means. */
enum paint { PAINT_PLAIN, PAINT_READ, PAINT_WRITE, PAINT_METADATA, PAINT_TIME, PAINT_BAD, PAINT_PROFILE };

struct row {
    const struct model *model;
    const struct entity *entity;
    const struct amounts *amounts; /* the last sample's, or those since the start */
    struct spread size, latency_ns;
    double seconds; /* what amounts are divided by; 1 for amounts since the start */
    bool since_start;
    uint8_t depth; /* in a tree */
};

struct column {
    const char *key; /* in JSON, CSV, options and settings */
    const char *title;
    const char *help;
    enum column_unit unit;
    int width;
    enum paint paint;
    unsigned needs; /* what must have been watched for it to be known */
    /* A count that stands behind the value, plus one; or what computes it: NAN where nothing is known. */
    unsigned count;
    double (*number)(const struct row *row);
    const char *(*text)(const struct row *row); /* "" for nothing */
};

extern const struct column columns[];
extern const unsigned column_count;

/* Its place in the table; column_count for none. */
unsigned column_find(const char *key, size_t length);

/* The row of an entity as it is now, or since the start. */
struct row row_of(const struct model *model, const struct entity *entity, bool since_start);

/* What the column has for the row: of rates already divided; NAN where it is not known. Not for texts and sparks. */
double column_value(const struct column *column, const struct row *row);

/* The value in at most the column's width, not padded; "-" where it is not known. Kilobytes: bytes always in KiB.
   The buffer holds COLUMN_CELL bytes. */
#define COLUMN_CELL 64
char *column_format(const struct column *column, const struct row *row, bool kilobytes, char *buffer);

/* The title, and the key; of amounts since the start without their "/s" and "_s". The buffer as above. */
char *column_title(const struct column *column, bool since_start, char *buffer);
char *column_key(const struct column *column, bool since_start, char *buffer);

/* Of a minute's history the last `width` parts, as heights from 0 to 1 of the highest. */
void column_spark(const struct row *row, unsigned width, float *heights);

#endif
