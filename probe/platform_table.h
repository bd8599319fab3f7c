/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the two ways of writing the file of platform_file.h add up to: the counters of a volume and a request. All of it
 * returns 0, -ENOMEM, or -EBADMSG with the table's why filled in.
 */
#ifndef UNBLEND_PROBE_PLATFORM_TABLE_H
#define UNBLEND_PROBE_PLATFORM_TABLE_H

#include "lib/lookup.h"
#include "probe/platform_file.h"

/* Of a file that is being read. */
struct platform_table {
    struct platform_row *rows;
    uint32_t count, capacity;
    struct lookup index;
    unsigned line;     /* that is read */
    int64_t newest_ms; /* the latest time that a sample carries, since 1970; 0: none does */
    char *why;         /* the caller's, of size bytes */
    size_t size;
};

void platform_table_clear(struct platform_table *table);

/* Says what is wrong with the line that is read. -EBADMSG. */
int platform_refuse(struct platform_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds to what is counted of a volume's requests; queue and service in seconds. The name stays the caller's. */
int platform_add(struct platform_table *table, const char *volume, enum request_kind request, enum platform_value kind,
                 double value);

/* What a word says is requested, or counted: REQUEST_ALL and PLATFORM_NONE for one that says neither. */
enum request_kind platform_request(const char *word);
enum platform_value platform_unit(const char *word);

/* Reads a whole file of that kind, in place. */
int platform_csv(struct platform_table *table, char *text);
int platform_metrics(struct platform_table *table, char *text);

#endif
