/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analyzer/command.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/bundle.h"
#include "lib/cleanup.h"
#include "lib/compress.h"
#include "lib/log.h"
#include "lib/output.h"
#include "lib/outward.h"
#include "lib/recording.h"

#define DIGITS 20 /* of the name of a file in a spool */

static int print(const void *line, size_t size)
{
    if (fwrite(line, 1, size, stdout) == size && putchar('\n') != EOF)
        return 0;
    log_error("cannot write to standard output: %s", log_why(output_error()));
    return -EIO;
}

static int complain(const char *path, int err, const char *what)
{
    if (err == -EPROTONOSUPPORT)
        what = "this is a recording of another version: take that version for it";
    log_error("%s: %s", path, err == -EBADMSG || err == -EPROTONOSUPPORT ? what : log_why(err));
    return err;
}

/* --- a spool: what lies there is what is sent --- */

static int print_frame(const char *path)
{
    _cleanup_fclose_ FILE *file = fopen(path, "re");
    _cleanup_free_ char *data = NULL;
    _cleanup_free_ void *json = NULL;
    const void *payload;
    size_t size, used;
    struct stat st = {0};
    int err = !file || fstat(fileno(file), &st) ? -errno : 0;

    if (!err && (st.st_size < 1 || st.st_size > (off_t)RECORDING_FRAME_MAX + 64))
        err = -EBADMSG;
    if (!err && !(data = malloc((size_t)st.st_size)))
        err = -ENOMEM;
    if (!err && fread(data, 1, (size_t)st.st_size, file) != (size_t)st.st_size)
        err = -EIO;
    if (!err && frame_next(data, (size_t)st.st_size, &payload, &size, &used) != 1)
        err = -EBADMSG;
    if (!err)
        err = decompress(ENCODING_ZSTD, payload, size, RECORDING_BATCH_MAX, &json, &size);
    return err ? complain(path, err, "this is no spooled batch, or it is damaged: give one as the agent wrote it")
               : print(json, size);
}

static int is_batch(const struct dirent *entry)
{
    return strlen(entry->d_name) == DIGITS && strspn(entry->d_name, "0123456789") == DIGITS;
}

/* An agent makes its spool beside a directory of what was refused: without that, and without batches, it is none. */
static bool is_spool(const char *path)
{
    _cleanup_free_ char *beside = NULL;

    return asprintf(&beside, "%s/../refused", path) < 0 || access(beside, F_OK) == 0;
}

/* 0 or -errno, logged. */
static int list_spool(const char *path, struct dirent ***entries, int *count)
{
    *count = scandir(path, entries, is_batch, alphasort);
    if (*count < 0) {
        int err = -errno;

        log_error("cannot read the spool %s: %s", path, log_why(err));
        return err;
    }
    if (*count)
        return 0;
    if (is_spool(path)) {
        log_info("%s: no batch waits there", path);
        return 0;
    }
    free(*entries);
    log_error("%s: it is no agent's state directory, and no spool: give what the agent has as --state", path);
    return -ENOENT;
}

/* The state directory of an agent, or the spool in it. */
static int print_spool(const char *path)
{
    _cleanup_free_ char *inner = NULL;
    struct dirent **entries = NULL;
    int count = 0, err;

    if (asprintf(&inner, "%s/spool", path) < 0)
        return -ENOMEM;
    if (access(inner, F_OK) == 0 || errno != ENOENT) /* what may not be read is said of the spool itself */
        path = inner;
    err = list_spool(path, &entries, &count);
    if (err)
        return err;
    for (int i = 0; i < count; i++) {
        _cleanup_free_ char *name = NULL;

        if (!err)
            err = asprintf(&name, "%s/%s", path, entries[i]->d_name) < 0 ? -ENOMEM : print_frame(name);
        free(entries[i]);
    }
    free(entries);
    return err;
}

/* --- a recording: as an agent would send it, without processes --- */

static int print_batch(const struct batch *batch, const struct outward *outward)
{
    _cleanup_(batch_freep) struct batch *folded = NULL;
    _cleanup_free_ char *json = NULL;
    size_t size;
    int err = batch_new(&folded);

    if (!err)
        err = batch_merge(folded, batch, GRAIN_JOBS);
    if (!err)
        err = batch_set(folded, &folded->stream, batch->stream);
    if (!err) {
        folded->seq = batch->seq;
        err = outward_apply(outward, folded);
    }
    if (!err)
        err = codec_encode(folded, &json, &size);
    return err ? err : print(json, size);
}

static int print_recording(const char *path, const struct outward *outward)
{
    struct recording_reader *reader;
    struct codec_error error = {.why = ""};
    int err = recording_open(path, &reader), got = 0;

    if (err)
        return complain(path, err, "this is no recording");
    while (!err) {
        _cleanup_(batch_freep) struct batch *batch = NULL;

        got = recording_read(reader, &batch, &error);
        if (got == 0)
            break;
        if (got == 1)
            err = print_batch(batch, outward);
        else if (got == -EBADMSG)
            log_warning("%s: damaged: %s", path, error.why);
        else
            err = complain(path, got, "");
    }
    recording_reader_free(reader);
    return err;
}

/* --- a bundle --- */

static int print_bundle(const char *path)
{
    struct bundle_reader *reader;
    int err = bundle_open(path, &reader), got = 1;

    while (!err && got == 1) {
        _cleanup_free_ void *lines = NULL;
        size_t size = 0;

        got = bundle_next(reader, &lines, &size);
        if (got < 0)
            err = complain(path, got, "the bundle is damaged, or its signature is not right: export it again");
        else if (got == 1 && fwrite(lines, 1, size, stdout) != size)
            err = complain("standard output", output_error(), "");
    }
    bundle_reader_free(reader);
    return err;
}

/* --- a collector's database: what waits to be forwarded --- */

static int print_outbox(const char *conninfo)
{
    PGconn *db = PQconnectdb(conninfo);
    PGresult *result = NULL;
    int err = PQstatus(db) == CONNECTION_OK ? 0 : -EIO;

    if (!err) {
        result = PQexecParams(db, "select body from unblend.outbox where refused is null order by outbox_id", 0, NULL,
                              NULL, NULL, NULL, 1);
        err = PQresultStatus(result) == PGRES_TUPLES_OK ? 0 : -EIO;
    }
    if (err)
        log_error("cannot read the database: %.*s: check --db", (int)strcspn(PQerrorMessage(db), "\n"),
                  PQerrorMessage(db));
    for (int i = 0; !err && i < PQntuples(result); i++) {
        _cleanup_free_ void *line = NULL;
        size_t size;

        err = decompress(ENCODING_ZSTD, PQgetvalue(result, i, 0), (size_t)PQgetlength(result, i, 0),
                         RECORDING_BATCH_MAX, &line, &size);
        if (err)
            complain("the database", err, "a batch that waits is damaged: restore it from a backup");
        else if (fwrite(line, 1, size, stdout) != size)
            err = complain("standard output", output_error(), "");
    }
    PQclear(result);
    PQfinish(db);
    return err;
}

/* What kind of thing it is, its first bytes tell. */
static int print_path(const char *path, const struct outward *outward)
{
    char magic[8] = "";
    struct stat st;
    _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || fstat(fd, &st))
        return complain(path, -errno, "");
    if (S_ISDIR(st.st_mode))
        return print_spool(path);
    if (read(fd, magic, sizeof(magic)) == sizeof(magic)) {
        if (memcmp(magic, BUNDLE_MAGIC, sizeof(magic)) == 0)
            return print_bundle(path);
        if (memcmp(magic, RECORDING_MAGIC, sizeof(magic) - 1) == 0) /* of whatever version */
            return print_recording(path, outward);
    }
    return print_frame(path);
}

int command_payload(int argc, char **argv)
{
    struct outward_options options = {.pseudonyms = false};
    const char *db = NULL;
    const struct option_spec specs[] = {
        {"db", 0, OPTION_STRING, "CONNINFO", &db, "what waits in a collector's database to be forwarded"},
        OUTWARD_PSEUDONYMS(&options, "of a recording: keyed pseudonyms instead of names"),
        OUTWARD_NAMES(&options, "with --pseudonyms: "),
        OUTWARD_ALLOW_LIST(&options, "of a recording: "),
    };
    const struct option_program program = {
        "unblend payload",
        "[OPTION...] (FILE | SPOOLDIR | --db CONNINFO)",
        "Prints the very bytes that would leave, a batch a line, as they are before compression.",
        specs,
        sizeof(specs) / sizeof(*specs),
        SYSCONFDIR "/unblend/payload.conf",
        NULL,
    };
    _cleanup_free_ char **operands = NULL;
    struct outward outward;
    unsigned count;
    int parsed = option_parse_mixed(&program, argc, argv, &operands, &count), err;

    if (parsed)
        return parsed > 0 ? 0 : 2;
    if (count != (db ? 0 : 1)) {
        log_error("what would leave from where? give one FILE or SPOOLDIR, or --db");
        return 2;
    }
    if (outward_check(&options))
        return 2;
    err = outward_new(&options, &outward);
    if (err)
        return err == -EINVAL ? 2 : 1;
    err = db ? print_outbox(db) : print_path(operands[0], &outward);
    return err ? 1 : 0;
}
