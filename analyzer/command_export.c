/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/command.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/export/export.h"
#include "analyzer/gather.h"
#include "analyzer/progress.h"
#include "lib/cleanup.h"
#include "lib/log.h"
#include "lib/output.h"

static const struct {
    const char *name;
    int (*write)(const struct export *export, FILE *out);
} formats[] = {
    {"fio", export_fio},
    {"dlio", export_dlio},
};

struct arguments {
    const char *out, *job, *volume, *db;
    bool fill;
    struct outward_options outward;
    char **files; /* operands; the first is the format */
    unsigned file_count;
};

static int parse(int argc, char **argv, struct arguments *a)
{
    const struct option_spec options[] = {
        {"output", 'o', OPTION_STRING, "OUT", &a->out, "file to write instead of standard output"},
        {"job", 0, OPTION_STRING, "GLOB", &a->job, "jobs with such names only"},
        {"volume", 0, OPTION_STRING, "NAME", &a->volume,
         "what was done on that volume (default: the one that a job moved most bytes on)"},
        {"fill", 0, OPTION_FLAG, NULL, &a->fill, "of fio: fill files with data before they are read"},
        {"db", 0, OPTION_STRING, "CONNINFO", &a->db, "read a collector's PostgreSQL database"},
        OUTWARD_PSEUDONYMS(&a->outward, "show keyed pseudonyms instead of names"),
        OUTWARD_NAMES(&a->outward, "with --pseudonyms: "),
    };
    const struct option_program program = {
        "unblend export",
        "(fio | dlio) [OPTION...] (FILE... | --db CONNINFO)",
        "Writes what was recorded as the input of a benchmark: a fio job file, or a DLIO workload file.",
        options,
        sizeof(options) / sizeof(*options),
        SYSCONFDIR "/unblend/export.conf",
        NULL,
    };

    return option_parse_mixed(&program, argc, argv, &a->files, &a->file_count);
}

static int check(const struct arguments *a, size_t *format)
{
    size_t count = sizeof(formats) / sizeof(*formats);

    *format = 0;
    while (a->file_count && *format < count && strcmp(formats[*format].name, a->files[0]) != 0)
        (*format)++;
    if (!a->file_count)
        log_error("it is not said what to write: choose fio or dlio, or try 'unblend export --help'");
    else if (*format == count)
        log_error("cannot write for '%s': choose fio or dlio", a->files[0]);
    else if (!a->db == (a->file_count == 1))
        log_error("%s: try 'unblend export --help'",
                  a->db ? "both --db and files are given: choose one" : "no recording is named");
    else if (outward_check(&a->outward))
        return -EINVAL; /* logged */
    else if (a->fill && formats[*format].write != export_fio && !*option_from(&a->fill))
        log_error("--fill is for fio alone: leave it out");
    else
        return source_spare(a->files + 1, a->file_count - 1, a->out);
    return -EINVAL;
}

/* A volume can be asked for by its pseudonym, as a report shows it, and by its true name. *out is NULL when it was not,
   or when the name is one of the totals'. 0 or -errno (logged). */
static int volume_pseudonym(const struct arguments *a, const struct aggregate *totals, char **out)
{
    struct outward outward;
    int err;

    *out = NULL;
    if (!a->volume || !a->outward.pseudonyms || volume_named(totals->volumes, totals->volume_count, a->volume))
        return 0;
    err = outward_new(&a->outward, &outward);
    if (err)
        return err;
    *out = outward_volume(&outward, a->volume);
    if (!*out) {
        log_error("cannot make pseudonyms: %s", log_why(-ENOMEM));
        return -ENOMEM;
    }
    return 0;
}

/* Says of which input, job and volume. */
static void log_failure(const struct arguments *a, int err)
{
    char inputs[COMMAND_INPUTS_SIZE], job[128] = "no job", volume[160] = "";

    command_inputs(inputs, a->files + 1, a->db ? 0 : a->file_count - 1);
    if (a->job)
        snprintf(job, sizeof(job), "no job like %.100s", a->job);
    if (a->volume)
        snprintf(volume, sizeof(volume), " on %.140s", a->volume);
    if (err == -ENOMSG)
        log_error("cannot export %s for DLIO, which trains on what it reads: %s read anything%s: choose fio", inputs,
                  job, volume);
    else if (err == -ENODATA)
        log_error("cannot export %s: %s did anything%s: see 'unblend report' for jobs and volumes", inputs, job,
                  volume);
    else
        log_error("cannot export %s: %s", inputs, log_why(err));
}

static int write_out(const struct arguments *a, size_t format, const char *volume, const struct aggregate *totals)
{
    const struct export export = {.totals = totals, .volume = volume, .fill = a->fill};
    _cleanup_free_ char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size), *out;
    int err = memory ? formats[format].write(&export, memory) : -ENOMEM;

    if (memory && fclose(memory) && !err)
        err = -ENOMEM;
    if (err) {
        log_failure(a, err);
        return err;
    }
    out = a->out ? fopen(a->out, "we") : stdout;
    if (!out || fwrite(text, 1, size, out) != size || fflush(out))
        err = output_error();
    if (a->out && out && fclose(out) && !err)
        err = -errno;
    if (err)
        log_error("cannot write %s: %s", a->out ? a->out : "to standard output", log_why(err));
    return err;
}

static int run(const struct arguments *a, size_t format)
{
    const struct source_window window = {.since_ns = INT64_MIN, .until_ns = INT64_MAX, .job = a->job};
    _cleanup_free_ char *volume = NULL;
    struct aggregate totals = {0};
    struct source *source = NULL;
    struct progress *progress = progress_start();
    bool damaged;
    int err = a->db ? source_database(a->db, &window, &source)
                    : source_recording(a->files + 1, a->file_count - 1, &window, &damaged, &source);

    if (!err)
        err = progress_watch(progress, &source);
    if (!err)
        err = source_outward(&a->outward, NULL, &source);
    if (!err)
        err = gather(source, &totals, NULL);
    progress_stop(progress); /* before what is written, perhaps to the same terminal */
    if (!err)
        err = volume_pseudonym(a, &totals, &volume);
    if (!err)
        err = write_out(a, format, volume ? volume : a->volume, &totals);
    source_freep(&source);
    aggregate_clear(&totals);
    return err;
}

int command_export(int argc, char **argv)
{
    struct arguments a = {0};
    size_t format;
    int status = parse(argc, argv, &a);

    if (status)
        return status < 0 ? 2 : 0;
    signal(SIGPIPE, SIG_DFL); /* `unblend export fio FILE | head` ends quietly */
    status = check(&a, &format) ? 2 : run(&a, format) ? 1 : 0;
    free(a.files);
    return status;
}
