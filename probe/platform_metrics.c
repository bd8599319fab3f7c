/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/platform_table.h"

#define LABELS_MAX 32

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
static bool read_name(char *name, enum request_kind *request, enum platform_value *unit, bool *total)
{
    bool waits = false;

    for (char *word, *rest = name; (word = strsep(&rest, "_:"));) {
        enum platform_value is = platform_unit(word);

        if (strcmp(word, "rate") == 0 || strcmp(word, "per") == 0 || strcmp(word, "bucket") == 0)
            return false;
        *total = strcmp(word, "total") == 0;
        if (platform_request(word) != REQUEST_ALL)
            *request = platform_request(word);
        if (is == PLATFORM_QUEUE)
            waits = true;
        else if (is != PLATFORM_NONE)
            *unit = is;
    }
    /* "reads_total" */
    if (*unit == PLATFORM_NONE && *total && *request != REQUEST_ALL && !waits)
        *unit = PLATFORM_OPS;
    if (*unit == PLATFORM_SERVICE && waits)
        *unit = PLATFORM_QUEUE;
    return *unit != PLATFORM_NONE;
}

/* "# TYPE name counter" tells of the samples that follow. */
static void read_comment(const char *line, char counter[128])
{
    char name[100], type[20];

    if (sscanf(line, "# TYPE %99s %19s", name, type) == 2)
        snprintf(counter, 128, "%s", strcmp(type, "counter") == 0 ? name : "");
}

static int parse_sample(struct platform_table *table, char *line, const char *counter)
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
    enum platform_value unit = PLATFORM_NONE;
    bool total = false, typed;
    double value, stamp;

    if (!length || !*rest)
        return platform_refuse(table, "\"%.40s\" is no sample", line);
    if (*rest == '{') {
        *rest = '\0';
        rest = parse_labels(rest, labels, &count);
        if (!rest)
            return platform_refuse(table, "%.40s: its labels cannot be read", line);
    } else {
        *rest++ = '\0';
    }
    value = strtod(rest, &end);
    if (end == rest)
        return platform_refuse(table, "%.40s has no value", line);
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
        request = platform_request(word);
    if (request == REQUEST_ALL)
        return 0;
    volume = label_of(labels, count, volume_keys);
    return platform_add(table, volume && *volume ? volume : "platform", request, unit, value);
}

int platform_metrics(struct platform_table *table, char *text)
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
