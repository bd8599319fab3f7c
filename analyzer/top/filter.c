/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/top/filter.h"

#include <errno.h>
#include <fnmatch.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/top/model.h"
#include "lib/cleanup.h"
#include "lib/option.h"

#define REPETITIONS_MAX 8

enum field { FIELD_USER, FIELD_PID, FIELD_JOB, FIELD_VOLUME, FIELD_FS, FIELD_NODE, FIELD_COUNT };

static const char *const field_names[FIELD_COUNT] = {"user", "pid", "job", "volume", "fs", "node"};

struct filter {
    char *value[FIELD_COUNT]; /* NULL: any */
    uint64_t pid;
    regex_t regex;
    bool has_regex;
};

void filter_free(struct filter *filter)
{
    if (!filter)
        return;
    for (unsigned i = 0; i < FIELD_COUNT; i++)
        free(filter->value[i]);
    if (filter->has_regex)
        regfree(&filter->regex);
    free(filter);
}

static void filter_freep(struct filter **filter)
{
    filter_free(*filter);
}

/* The field that a word names, its value behind *value; FIELD_COUNT for none. */
static enum field field_of(const char *word, const char **value)
{
    const char *colon = strchr(word, ':');

    for (unsigned i = 0; colon && i < FIELD_COUNT; i++)
        if (strlen(field_names[i]) == (size_t)(colon - word) &&
            strncmp(word, field_names[i], (size_t)(colon - word)) == 0) {
            *value = colon + 1;
            return (enum field)i;
        }
    return FIELD_COUNT;
}

static int set_field(struct filter *filter, enum field field, const char *value, char *why, size_t size)
{
    if (!*value) {
        snprintf(why, size, "%s: names nothing", field_names[field]);
        return -EINVAL;
    }
    if (field == FIELD_PID && option_count(value, &filter->pid)) {
        snprintf(why, size, "pid:%.32s is no process id", value);
        return -EINVAL;
    }
    free(filter->value[field]);
    filter->value[field] = strdup(value);
    return filter->value[field] ? 0 : -ENOMEM;
}

/* Repetitions of repetitions take memory that doubles with each: more than a filter is worth. */
static bool repeats_too_much(const char *text)
{
    unsigned repetitions = 0, counted = 0;

    for (const char *at = text; *at; at++) {
        bool again = strchr("*+?{", *at);

        if (*at == '\\' && at[1]) {
            at++;
            continue;
        }
        repetitions += again;
        counted += *at == '{';
        if (again && at[1] && strchr("*+?{", at[1]))
            return true;
    }
    return repetitions > REPETITIONS_MAX || counted > 1;
}

static int set_regex(struct filter *filter, const char *text, char *why, size_t size)
{
    int bad;

    if (repeats_too_much(text)) {
        snprintf(why, size, "repetitions of repetitions, or too many");
        return -EINVAL;
    }
    bad = *text ? regcomp(&filter->regex, text, REG_EXTENDED | REG_ICASE | REG_NOSUB) : 0;

    if (bad) {
        regerror(bad, &filter->regex, why, size);
        return bad == REG_ESPACE ? -ENOMEM : -EINVAL;
    }
    filter->has_regex = *text;
    return 0;
}

int filter_new(const char *text, struct filter **out, char *why, size_t size)
{
    _cleanup_(filter_freep) struct filter *filter = calloc(1, sizeof(*filter));
    _cleanup_free_ char *copy = strdup(text), *regex = calloc(1, strlen(text) + 2);
    char *rest = copy, *word;
    bool any = false;
    int err;

    *why = '\0';
    if (!filter || !copy || !regex)
        return -ENOMEM;
    while ((word = strsep(&rest, " "))) {
        const char *value;
        enum field field = field_of(word, &value);

        if (!*word)
            continue;
        any = true;
        if (field == FIELD_COUNT) {
            strcat(strcat(regex, *regex ? " " : ""), word);
            continue;
        }
        err = set_field(filter, field, value, why, size);
        if (err)
            return err;
    }
    err = set_regex(filter, regex, why, size);
    if (err)
        return err;
    *out = any ? take_pointer(filter) : NULL;
    return 0;
}

/* A glob matches all of a name, other words a part of it. */
static bool matches(const char *pattern, const char *name)
{
    return pattern[strcspn(pattern, "*?[")] ? fnmatch(pattern, name, 0) == 0 : strstr(name, pattern) != NULL;
}

bool filter_volume(const struct filter *filter, const struct volume *volume)
{
    const char *name = filter ? filter->value[FIELD_VOLUME] : NULL;
    bool found = !name || matches(name, volume->name) || matches(name, volume->source);

    if (filter && filter->value[FIELD_FS] && fnmatch(filter->value[FIELD_FS], volume->fstype, 0) != 0)
        return false;
    for (uint32_t i = 0; !found && i < volume->mount_count; i++)
        found = matches(name, volume->mounts[i]);
    return found;
}

bool filter_entity(const struct filter *filter, const struct entity *e)
{
    const char *const names[] = {e->name, e->user, e->job, e->volume, e->mounts, e->node, e->why};
    const char *job, *node;

    if (!filter)
        return true;
    job = e->kind == ENTITY_JOB ? e->name : e->job;
    node = e->kind == ENTITY_NODE ? e->name : e->node;
    /* a word says nothing about rows that have no such thing */
    if ((filter->value[FIELD_USER] && *e->user && strcmp(filter->value[FIELD_USER], e->user) != 0) ||
        (filter->value[FIELD_PID] && entity_is_somebody(e) && e->pid != filter->pid) ||
        (filter->value[FIELD_JOB] && *job && !matches(filter->value[FIELD_JOB], job)) ||
        (filter->value[FIELD_NODE] && *node && !matches(filter->value[FIELD_NODE], node)))
        return false;
    if (!filter->has_regex)
        return true;
    for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (*names[i] && regexec(&filter->regex, names[i], 0, NULL, 0) == 0)
            return true;
    return e->profile && regexec(&filter->regex, e->profile, 0, NULL, 0) == 0;
}

static bool same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

bool filter_same_volumes(const struct filter *a, const struct filter *b)
{
    static const struct filter none;

    a = a ? a : &none;
    b = b ? b : &none;
    return same(a->value[FIELD_VOLUME], b->value[FIELD_VOLUME]) && same(a->value[FIELD_FS], b->value[FIELD_FS]);
}
