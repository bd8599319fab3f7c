/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/command.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/behaviour.h"
#include "analyzer/classify.h"
#include "analyzer/gather.h"
#include "analyzer/learn.h"
#include "analyzer/progress.h"
#include "lib/cleanup.h"
#include "lib/log.h"
#include "lib/output.h"

struct arguments {
    const char *out, *volume, *job, *profiles, *name;
    char **files; /* operands; the first is the name */
    unsigned file_count;
};

static int parse(int argc, char **argv, struct arguments *a)
{
    const struct option_spec options[] = {
        {"output", 'o', OPTION_STRING, "PROFILE.json", &a->out, "file to write the profile to"},
        {"volume", 0, OPTION_STRING, "NAME", &a->volume,
         "learn from what was done on that volume (default: the one that most bytes were moved on)"},
        {"job", 0, OPTION_STRING, "GLOB", &a->job, "jobs with such names only"},
        {"profiles", 0, OPTION_STRING, "DIR", &a->profiles, "more profiles to compare with, as JSON files"},
    };
    const struct option_program program = {
        "unblend learn",
        "NAME -o PROFILE.json FILE...",
        "Makes a profile of recordings of one workload, and says how well it is told from the others.",
        options,
        sizeof(options) / sizeof(*options),
        SYSCONFDIR "/unblend/learn.conf",
        NULL,
    };

    return option_parse_mixed(&program, argc, argv, &a->files, &a->file_count);
}

/* Names stand in reports, in scenarios as NAME=2+NAME=0.5 and as names of files. */
static bool is_name(const char *name)
{
    return isalnum((unsigned char)*name) &&
           !name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.")];
}

static int check(struct arguments *a)
{
    if (!a->file_count)
        log_error("the profile has no name: try 'unblend learn --help'");
    else if (a->file_count < 2)
        log_error("no recording is named: try 'unblend learn --help'");
    else if (!a->out)
        log_error("-o is missing: say where to write the profile");
    else if (!is_name(a->files[0]) || strcmp(a->files[0], PROFILE_UNKNOWN) == 0)
        log_error("a profile cannot be named '%s': choose letters, digits, '-', '_' and '.'", a->files[0]);
    else
        return source_spare(a->files + 1, a->file_count - 1, a->out);
    return -EINVAL;
}

static int write_profile(const char *path, const json_t *profile)
{
    FILE *out = fopen(path, "we");
    int err = out ? output_json(profile, out, JSON_INDENT(2) | JSON_REAL_PRECISION(6)) : -errno;

    if (out && fclose(out) && !err)
        err = -errno;
    if (err)
        log_error("cannot write %s: %s", path, log_why(err));
    return err;
}

/* Writes what was learned, reads it back as any other profile is, and compares. */
static int teach(const struct arguments *a, const struct lesson *lesson, struct catalogue *catalogue)
{
    json_auto_t *profile = learn_profile(lesson, a->files[0]);
    _cleanup_free_ char *text = profile ? json_dumps(profile, JSON_REAL_PRECISION(6)) : NULL;
    const struct profile *learned = NULL;
    int err;

    if (!text) {
        log_error("cannot make the profile: %s", log_why(-ENOMEM));
        return -ENOMEM;
    }
    if (catalogue_find(catalogue, a->files[0]))
        log_warning("there is a profile %s already: a report that reads both takes the learned one", a->files[0]);
    err = catalogue_add(catalogue, a->files[0], text, strlen(text));
    if (!err)
        err = write_profile(a->out, profile);
    learned = catalogue_find(catalogue, a->files[0]);
    if (err || !learned)
        return err;
    printf("%s: learned from %u %s on %s\n", learned->name, lesson->count,
           lesson->count == 1 ? "process" : "processes", lesson->volume);
    if (lesson->count < 4)
        printf("  fewer than four: what others of its kind do is a guess\n");
    printf("What tells it from the others:\n");
    learn_compare(lesson, catalogue, learned, stdout);
    return 0;
}

static int run(const struct arguments *a)
{
    const struct source_window window = {.since_ns = INT64_MIN, .until_ns = INT64_MAX, .job = a->job};
    struct aggregate totals = {0};
    struct catalogue catalogue = {0};
    struct lesson lesson = {0};
    struct source *source = NULL;
    struct progress *progress = progress_start();
    bool damaged;
    int err = catalogue_load(a->profiles, &catalogue);

    if (!err)
        err = source_recording(a->files + 1, a->file_count - 1, &window, &damaged, &source);
    if (!err)
        err = progress_watch(progress, &source);
    if (!err)
        err = gather(source, &totals, NULL);
    progress_stop(progress); /* before what is said of it */
    if (!err) {
        err = lesson_take(&totals, a->volume, &lesson);
        if (err)
            log_error("cannot learn from %s: %s", a->files[1],
                      err == -ENODATA ? "too little was done there: at least 100 operations or 8 MiB are needed"
                                      : log_why(err));
    }
    if (!err)
        err = teach(a, &lesson, &catalogue);
    source_freep(&source);
    lesson_clear(&lesson);
    aggregate_clear(&totals);
    catalogue_clear(&catalogue);
    return err;
}

int command_learn(int argc, char **argv)
{
    struct arguments a = {0};
    int status = parse(argc, argv, &a);

    if (status)
        return status < 0 ? 2 : 0;
    status = check(&a) ? 2 : run(&a) ? 1 : 0;
    free(a.files);
    return status;
}
