/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/report_check.h"

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "collector/ingest.h"
#include "lib/cleanup.h"
#include "lib/moment.h"
#include "lib/utf8.h"

#define SCHEMA "unblend.report/1"

int report_read(FILE *file, size_t max, char **text, size_t *size)
{
    _cleanup_free_ char *all = NULL;
    size_t used = 0, room = 0;

    for (;;) {
        char *more;
        size_t got;

        if (used + 1 >= room) {
            room = room ? 2 * room : 1 << 16;
            more = realloc(all, room);
            if (!more)
                return -ENOMEM;
            all = more;
        }
        got = fread(all + used, 1, room - 1 - used, file);
        if (!got)
            break;
        used += got;
        if (used > max)
            return -EFBIG;
    }
    if (ferror(file))
        return -EIO;
    if (!used)
        return -ENODATA;
    all[used] = '\0';
    *text = all;
    *size = used;
    all = NULL;
    return 0;
}

static int wrong(char why[REPORT_WHY], const char *where, size_t i, const char *field, const char *what)
{
    if (where)
        snprintf(why, REPORT_WHY, "%s[%zu].%s %s", where, i, field, what);
    else
        snprintf(why, REPORT_WHY, "%s %s", field, what);
    return -EINVAL;
}

/* Numbers as an analyzer writes them: finite, never negative, null where not known. */
static bool is_count(const json_t *value)
{
    return !value || json_is_null(value) ||
           (json_is_number(value) && json_number_value(value) >= 0 && json_number_value(value) <= 1e30);
}

/* PostgreSQL takes no text with a zero in it. */
static bool is_text(const json_t *value)
{
    return json_is_string(value) && strlen(json_string_value(value)) == json_string_length(value);
}

static int check_profiles(const json_t *profiles, const char *where, size_t at, char why[REPORT_WHY])
{
    static const char *const numbers[] = {"share_ops", "share_bytes", "confidence"};
    size_t i;
    json_t *profile;

    if (!json_is_array(profiles))
        return wrong(why, where, at, "profiles", "is no list");
    json_array_foreach (profiles, i, profile) {
        const json_t *kind = json_object_get(profile, "kind"), *name = json_object_get(profile, "profile");
        size_t k;
        json_t *other;

        if (!is_text(kind) || !is_text(name))
            return wrong(why, where, at, "profiles", "has one without kind or profile");
        for (unsigned n = 0; n < sizeof(numbers) / sizeof(*numbers); n++)
            if (!is_count(json_object_get(profile, numbers[n])))
                return wrong(why, where, at, numbers[n], "of a profile is no share");
        json_array_foreach (profiles, k, other)
            if (k < i && json_equal(json_object_get(other, "kind"), kind) &&
                json_equal(json_object_get(other, "profile"), name))
                return wrong(why, where, at, "profiles", "names one twice");
    }
    return 0;
}

static int check_job(const json_t *job, size_t i, char why[REPORT_WHY])
{
    json_t *nodes = json_object_get(job, "nodes"), *ops = json_object_get(job, "ops"), *node, *op;
    const char *name;
    size_t n;

    if (!is_text(json_object_get(job, "job")))
        return wrong(why, "jobs", i, "job", "is no name");
    if (json_string_length(json_object_get(job, "job")) > INGEST_NAME_MAX)
        return wrong(why, "jobs", i, "job", "is longer than a name may be");
    if (!json_is_array(nodes) || !json_is_object(ops))
        return wrong(why, "jobs", i, json_is_object(ops) ? "nodes" : "ops", "is missing");
    json_array_foreach (nodes, n, node)
        if (!is_text(node))
            return wrong(why, "jobs", i, "nodes", "has one that is no name");
    json_object_foreach (ops, name, op)
        if (!json_is_object(op) || !is_count(json_object_get(op, "ops")) || !is_count(json_object_get(op, "bytes")))
            return wrong(why, "jobs", i, "ops", "has one that counts nothing");
    return check_profiles(json_object_get(job, "profiles"), "jobs", i, why);
}

static int check_span(const json_t *span, char why[REPORT_WHY])
{
    static const char *const ends[] = {"start", "end"};

    if (!json_is_object(span))
        return wrong(why, NULL, 0, "span", "is missing");
    for (unsigned i = 0; i < 2; i++) {
        const json_t *value = json_object_get(span, ends[i]);
        int64_t ns;

        if (value && !json_is_null(value) && (!is_text(value) || !strchr(json_string_value(value), 'T') ||
                                              moment_parse(json_string_value(value), 0, &ns)))
            return wrong(why, NULL, 0, i ? "span.end" : "span.start", "is no time");
    }
    return 0;
}

static int check(const json_t *report, char why[REPORT_WHY])
{
    const json_t *schema = json_object_get(report, "schema"), *cluster = json_object_get(report, "cluster");
    json_t *nodes = json_object_get(report, "nodes"), *jobs = json_object_get(report, "jobs"), *entry;
    size_t i;
    int err;

    if (!json_is_string(schema) || strcmp(json_string_value(schema), SCHEMA) != 0)
        return wrong(why, NULL, 0, "schema", "is not " SCHEMA);
    err = check_span(json_object_get(report, "span"), why);
    if (err)
        return err;
    if (!json_is_array(nodes) || !json_is_array(jobs) || !json_is_object(cluster))
        return wrong(why, NULL, 0, !json_is_array(nodes) ? "nodes" : !json_is_array(jobs) ? "jobs" : "cluster",
                     "is missing");
    json_array_foreach (nodes, i, entry)
        if (!is_text(json_object_get(entry, "cluster")) || !is_text(json_object_get(entry, "node")))
            return wrong(why, "nodes", i, "node", "or its cluster has no name");
    json_array_foreach (jobs, i, entry) {
        err = check_job(entry, i, why);
        if (err)
            return err;
    }
    if (!is_count(json_object_get(cluster, "effective_profiles")))
        return wrong(why, NULL, 0, "cluster.effective_profiles", "is no number");
    return check_profiles(json_object_get(cluster, "profiles"), "cluster", 0, why);
}

int report_check(const char *text, size_t size, char why[REPORT_WHY])
{
    json_error_t error;
    json_t *report = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    int err;

    if (!report) {
        snprintf(why, REPORT_WHY, "line %d is no JSON: %s", error.line, error.text);
        utf8_one_line(why); /* what stands near the error is shown as it is */
        return -EINVAL;
    }
    err = check(report, why);
    json_decref(report);
    return err;
}
