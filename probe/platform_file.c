/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe/platform_file.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/lookup.h"

#define COLUMNS_MAX 16
#define LABELS_MAX  32
#define SECOND_NS   1e9

/* What a number is. */
enum unit { UNIT_NONE, UNIT_OPS, UNIT_BYTES, UNIT_ERRORS, UNIT_QUEUE, UNIT_SERVICE };

struct table {
    struct platform_row *rows;
    uint32_t count, capacity;
    struct lookup index;
    unsigned line;
    int64_t newest_ms;
    char *why;
    size_t size;
};

static __attribute__((format(printf, 2, 3))) int refuse(struct table *table, const char *format, ...)
{
    va_list args;
    int used = snprintf(table->why, table->size, "line %u: ", table->line);

    va_start(args, format);
    if (used > 0 && (size_t)used < table->size)
        vsnprintf(table->why + used, table->size - (size_t)used, format, args);
    va_end(args);
    return -EBADMSG;
}

static void table_clear(struct table *table)
{
    free(table->rows);
    lookup_clear(&table->index);
}

static int make_room(struct table *table)
{
    uint32_t wanted = table->capacity ? table->capacity * 2 : 32;
    struct platform_row *grown;

    if (table->count < table->capacity)
        return 0;
    grown = reallocarray(table->rows, wanted, sizeof(*grown));
    if (!grown)
        return -ENOMEM;
    table->rows = grown;
    table->capacity = wanted;
    return 0;
}

static int find_row(struct table *table, const char *volume, enum request_kind request, struct platform_row **out)
{
    uint32_t hash = lookup_hash(volume, strlen(volume)) + request, cursor = hash, at;

    if (make_room(table) || lookup_reserve(&table->index))
        return -ENOMEM;
    while (lookup_next(&table->index, hash, &cursor, &at))
        if (table->rows[at].request == request && strcmp(table->rows[at].volume, volume) == 0) {
            *out = &table->rows[at];
            return 0;
        }
    if (table->count == PLATFORM_ROWS_MAX) {
        refuse(table, "more than %d volumes and requests", PLATFORM_ROWS_MAX);
        return -EBADMSG;
    }
    lookup_insert(&table->index, hash, table->count);
    *out = &table->rows[table->count++];
    **out = (struct platform_row){
        .layer = LAYER_PLATFORM, .volume = volume, .fstype = "platform", .shared = true, .request = request};
    return 0;
}

static int add(struct table *table, const char *volume, enum request_kind request, enum unit unit, double value)
{
    double number = unit == UNIT_QUEUE || unit == UNIT_SERVICE ? value * SECOND_NS : value;
    struct platform_row *row = NULL;
    uint64_t *sum;
    int err;

    if (!(number >= 0) || number >= 9e18)
        return refuse(table, "%g is no count", value);
    err = find_row(table, volume, request, &row);
    if (err)
        return err;
    sum = unit == UNIT_OPS      ? &row->ops
          : unit == UNIT_BYTES  ? &row->bytes
          : unit == UNIT_ERRORS ? &row->errors
          : unit == UNIT_QUEUE  ? &row->queue_ns
                                : &row->service_ns;
    row->known |= unit == UNIT_OPS      ? STATION_OPS
                  : unit == UNIT_BYTES  ? STATION_BYTES
                  : unit == UNIT_ERRORS ? STATION_ERRORS
                  : unit == UNIT_QUEUE  ? STATION_QUEUE
                                        : STATION_SERVICE;
    *sum = *sum + (uint64_t)number > INT64_MAX ? INT64_MAX : *sum + (uint64_t)number;
    return 0;
}

/* --- words --- */

static enum request_kind request_of(const char *word)
{
    static const struct {
        const char *word;
        enum request_kind request;
    } words[] = {
        {"read", REQUEST_READ},         {"reads", REQUEST_READ},         {"rd", REQUEST_READ},
        {"write", REQUEST_WRITE},       {"writes", REQUEST_WRITE},       {"written", REQUEST_WRITE},
        {"wr", REQUEST_WRITE},          {"flush", REQUEST_FLUSH},        {"sync", REQUEST_FLUSH},
        {"fsync", REQUEST_FLUSH},       {"commit", REQUEST_FLUSH},       {"discard", REQUEST_DISCARD},
        {"trim", REQUEST_DISCARD},      {"metadata", REQUEST_METADATA},  {"meta", REQUEST_METADATA},
    };

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (strcmp(words[i].word, word) == 0)
            return words[i].request;
    return REQUEST_ALL;
}

/* UNIT_NONE for what says nothing; a rate is no counter. */
static enum unit unit_of(const char *word)
{
    static const struct {
        const char *word;
        enum unit unit;
    } words[] = {
        {"bytes", UNIT_BYTES},  {"ops", UNIT_OPS},        {"operations", UNIT_OPS}, {"requests", UNIT_OPS},
        {"ios", UNIT_OPS},      {"errors", UNIT_ERRORS},  {"failures", UNIT_ERRORS}, {"seconds", UNIT_SERVICE},
        {"queue", UNIT_QUEUE},  {"wait", UNIT_QUEUE},
    };

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (strcmp(words[i].word, word) == 0)
            return words[i].unit;
    return UNIT_NONE;
}

/* --- CSV --- */

static unsigned split(char *line, char *fields[COLUMNS_MAX])
{
    unsigned count = 0;

    while (line && count < COLUMNS_MAX) {
        char *field = strsep(&line, ",");

        field += strspn(field, " \t");
        field[strcspn(field, " \t\r")] = '\0';
        fields[count++] = field;
    }
    return line ? COLUMNS_MAX + 1 : count;
}

static int parse_csv(struct table *table, char *text)
{
    static const char *const names[] = {"volume", "request", "ops", "bytes", "errors", "queue_seconds",
                                        "service_seconds"};
    static const enum unit units[] = {UNIT_NONE, UNIT_NONE, UNIT_OPS, UNIT_BYTES, UNIT_ERRORS, UNIT_QUEUE, UNIT_SERVICE};
    int column[sizeof(names) / sizeof(*names)];
    char *fields[COLUMNS_MAX];
    unsigned count = split(strsep(&text, "\n"), fields);
    int err = 0;

    table->line = 1;
    for (size_t n = 0; n < sizeof(names) / sizeof(*names); n++) {
        column[n] = -1;
        for (unsigned i = 0; i < count && i < COLUMNS_MAX; i++)
            if (strcmp(fields[i], names[n]) == 0)
                column[n] = (int)i;
    }
    if (count > COLUMNS_MAX || column[0] < 0 || column[1] < 0)
        return refuse(table, "columns volume and request are needed, and at most %d in all", COLUMNS_MAX);
    for (char *line; !err && (line = strsep(&text, "\n"));) {
        enum request_kind request;

        table->line++;
        if (!line[strspn(line, " \t\r")])
            continue;
        if (split(line, fields) != count)
            return refuse(table, "not as many fields as the first line has");
        request = request_of(fields[column[1]]);
        if (request == REQUEST_ALL)
            return refuse(table, "request \"%.40s\" is none of read, write, flush, discard and metadata",
                          fields[column[1]]);
        for (size_t n = 2; !err && n < sizeof(names) / sizeof(*names); n++) {
            char *field = column[n] < 0 ? NULL : fields[column[n]], *end;
            double value = field ? strtod(field, &end) : 0;

            if (!field || !*field)
                continue;
            err = *end ? refuse(table, "%s \"%.40s\" is no number", names[n], field)
                       : add(table, fields[column[0]], request, units[n], value);
        }
    }
    return err;
}

/* --- OpenMetrics --- */

struct tag {
    const char *key;
    char *value;
};

/* {a="b",c="d"}; in place. NULL when it is none. */
static char *parse_labels(char *at, struct tag labels[LABELS_MAX], unsigned *count)
{
    for (at++; *at && *at != '}';) {
        char *key = at, *to;

        at += strcspn(at, "=}");
        if (*at != '=' || at[1] != '"' || *count == LABELS_MAX)
            return NULL;
        *at = '\0';
        at += 2;
        labels[*count] = (struct tag){key, at};
        for (to = at; *at && *at != '"'; at++) {
            if (*at == '\\' && at[1])
                at++;
            *to++ = *at;
        }
        if (*at != '"')
            return NULL;
        *to = '\0';
        (*count)++;
        at++;
        at += strspn(at, ", ");
    }
    return *at == '}' ? at + 1 : NULL;
}

static const char *label_of(const struct tag *labels, unsigned count, const char *const *keys)
{
    for (; *keys; keys++)
        for (unsigned i = 0; i < count; i++)
            if (strcmp(labels[i].key, *keys) == 0)
                return labels[i].value;
    return NULL;
}

/* What the words of a name say. False: it counts nothing of ours. */
static bool read_name(char *name, enum request_kind *request, enum unit *unit, bool *total)
{
    bool waits = false;

    for (char *word, *rest = name; (word = strsep(&rest, "_:"));) {
        enum unit is = unit_of(word);

        if (strcmp(word, "rate") == 0 || strcmp(word, "per") == 0 || strcmp(word, "bucket") == 0)
            return false;
        *total = strcmp(word, "total") == 0;
        if (request_of(word) != REQUEST_ALL)
            *request = request_of(word);
        if (is == UNIT_QUEUE)
            waits = true;
        else if (is != UNIT_NONE)
            *unit = is;
    }
    /* "reads_total" */
    if (*unit == UNIT_NONE && *total && *request != REQUEST_ALL && !waits)
        *unit = UNIT_OPS;
    if (*unit == UNIT_SERVICE && waits)
        *unit = UNIT_QUEUE;
    return *unit != UNIT_NONE;
}

/* "# TYPE name counter" tells of the samples that follow. */
static void read_comment(const char *line, char counter[128])
{
    char name[100], type[20];

    if (sscanf(line, "# TYPE %99s %19s", name, type) == 2)
        snprintf(counter, 128, "%s", strcmp(type, "counter") == 0 ? name : "");
}

static int parse_sample(struct table *table, char *line, const char *counter)
{
    static const char *const volume_keys[] = {"volume", "filesystem", "fs",   "pool", "bucket",
                                              "share",  "export",     "name", NULL};
    static const char *const request_keys[] = {"request", "op", "operation", "direction", "type", NULL};
    struct tag labels[LABELS_MAX];
    unsigned count = 0;
    size_t length = strcspn(line, "{ \t");
    char *rest = line + length, *end;
    const char *volume, *word;
    enum request_kind request = REQUEST_ALL;
    enum unit unit = UNIT_NONE;
    bool total = false, typed;
    double value, stamp;

    if (!length || !*rest)
        return refuse(table, "\"%.40s\" is no sample", line);
    if (*rest == '{') {
        *rest = '\0';
        rest = parse_labels(rest, labels, &count);
        if (!rest)
            return refuse(table, "%.40s: its labels cannot be read", line);
    } else {
        *rest++ = '\0';
    }
    value = strtod(rest, &end);
    if (end == rest)
        return refuse(table, "%.40s has no value", line);
    stamp = strtod(end, &rest);
    if (rest != end && stamp > 0 && stamp < 1e15) {
        double ms = stamp < 1e11 ? stamp * 1000 : stamp; /* OpenMetrics has seconds, Prometheus milliseconds */

        if ((int64_t)ms > table->newest_ms)
            table->newest_ms = (int64_t)ms;
    }
    typed = *counter && strncmp(line, counter, strlen(counter)) == 0;
    if (!read_name(line, &request, &unit, &total) || !(typed || total) || isnan(value))
        return 0;
    word = label_of(labels, count, request_keys);
    if (request == REQUEST_ALL && word)
        request = request_of(word);
    if (request == REQUEST_ALL)
        return 0;
    volume = label_of(labels, count, volume_keys);
    return add(table, volume && *volume ? volume : "platform", request, unit, value);
}

static int parse_metrics(struct table *table, char *text)
{
    char counter[128] = "";
    int err = 0;

    for (char *line; !err && (line = strsep(&text, "\n"));) {
        table->line++;
        line[strcspn(line, "\r")] = '\0';
        line += strspn(line, " \t");
        if (*line == '#')
            read_comment(line, counter);
        else if (*line)
            err = parse_sample(table, line, counter);
    }
    return err;
}

int platform_parse(char *text, int64_t oldest_ms, platform_sink sink, void *context, char *why, size_t size)
{
    _cleanup_(table_clear) struct table table = {.why = why, .size = size};
    size_t first = strcspn(text, "\n");
    bool csv = memchr(text, ',', first) && !memchr(text, '{', first) && *text != '#';
    int err = csv ? parse_csv(&table, text) : parse_metrics(&table, text);

    if (!err && !table.count) {
        snprintf(why, size, "no counter of requests or bytes by volume is in it");
        err = -EBADMSG;
    }
    if (!err && table.newest_ms && table.newest_ms < oldest_ms) {
        snprintf(why, size, "stale: its latest sample is older than 5 minutes");
        err = -EBADMSG;
    }
    for (uint32_t i = 0; !err && i < table.count; i++)
        err = sink(context, &table.rows[i]);
    return err;
}
