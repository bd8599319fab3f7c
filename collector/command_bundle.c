/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/command_bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/export.h"
#include "collector/ingest.h"
#include "lib/bundle.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/moment.h"

#define OWN_SITE  "self" /* whose bundles we have signed ourselves */
#define SHOWN_MAX 20     /* refused batches that are told one by one */

static void hex(const uint8_t key[SITE_KEY_SIZE], char text[2 * SITE_KEY_SIZE + 1])
{
    for (unsigned i = 0; i < SITE_KEY_SIZE; i++)
        snprintf(text + 2 * i, 3, "%02x", key[i]);
}

int command_site_key(const struct values *values)
{
    const struct outward_options options = {.pseudonyms = true, .site_key = values->serve.forward.outward.site_key};
    struct outward outward;
    char text[2 * SITE_KEY_SIZE + 1];

    if (outward_new(&options, &outward))
        return EXIT_FAILURE;
    hex(outward.key.public_key, text);
    puts(text);
    return EXIT_SUCCESS;
}

/* --- export --- */

struct exporting {
    struct outward outward;
    int64_t since_ns, until_ns;
    int fd;
    uint64_t count;
};

/* Not before the database has answered, as what the file held is lost by then. Pipes and devices hold nothing. */
static int empty_file(const struct values *values, int fd)
{
    return !values->output || !ftruncate(fd, 0) || errno == EINVAL ? 0 : -errno;
}

static int export(struct store *store, const struct values *values, void *context)
{
    struct exporting *e = context;
    struct bundle_writer *bundle = NULL;
    const struct db *db = store_db(store);
    int err;

    if (!db) {
        log_error("cannot export: %s", store_why(store));
        return -EAGAIN;
    }
    err = empty_file(values, e->fd) ?: bundle_create(e->fd, &e->outward.key, &bundle);
    if (!err)
        err = export_batches(db, e->since_ns, e->until_ns, &e->outward, bundle, &e->count);
    else
        log_error("cannot write the bundle: %s", log_errno(err));
    if (!err) {
        err = bundle_finish(bundle);
        if (!err && values->output && fsync(e->fd))
            err = -errno;
        if (err)
            log_error("cannot write the bundle: %s", log_errno(err));
    }
    bundle_writer_free(bundle);
    return err;
}

int command_export(const struct values *values)
{
    struct exporting e = {.since_ns = 0, .until_ns = INT64_MAX, .fd = STDOUT_FILENO};
    int status;

    if (moment_option("since", &values->since, &e.since_ns) || moment_option("until", &values->until, &e.until_ns))
        return WORK_USAGE;
    if (!values->output && isatty(STDOUT_FILENO)) {
        log_error("a bundle is nothing for a terminal: give --output FILE");
        return WORK_USAGE;
    }
    /* Key and file while we are who called. */
    status = outward_new(&values->serve.forward.outward, &e.outward);
    if (status)
        return status == -EINVAL ? WORK_USAGE : EXIT_FAILURE;
    if (values->output) {
        e.fd = open(values->output, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        if (e.fd < 0) {
            log_error("%s: %s: give --output a file that can be written", values->output, log_errno(-errno));
            return EXIT_FAILURE;
        }
    }
    status = work_with_database(values, false, export, &e);
    if (values->output)
        close(e.fd);
    if (status == EXIT_SUCCESS && values->output)
        log_info("%" PRIu64 " batches are in %s", e.count, values->output);
    return status;
}

/* --- import --- */

struct importing {
    struct bundle_reader *bundle;
    uint8_t own_key[SITE_KEY_SIZE];
    bool has_own_key;
    uint64_t stored, duplicates, refused;
};

/* All of it, before any of it is stored. */
static int check_bundle(struct importing *i, const char *path)
{
    int got;

    do {
        _cleanup_free_ void *lines = NULL;
        size_t size;

        got = bundle_next(i->bundle, &lines, &size);
    } while (got == 1);
    if (!got)
        got = bundle_rewind(i->bundle);
    if (got)
        log_error("%s is refused: %s", path,
                  got == -EBADMSG ? "it was changed, or cut short, after it was signed: have it exported again"
                                  : log_why(got));
    return got;
}

static int find_site(struct store *store, const struct importing *i, const char *path, struct identity *who)
{
    const uint8_t *key = bundle_key(i->bundle);
    char text[2 * SITE_KEY_SIZE + 1];
    int err = store_site_of_key(store, key, who);

    if (err == -EACCES && i->has_own_key && memcmp(key, i->own_key, SITE_KEY_SIZE) == 0) {
        *who = (struct identity){.site = OWN_SITE};
        return 0;
    }
    hex(key, text);
    if (err == -EACCES)
        log_error("%s is refused: nobody here is known by its key: if it is right, enroll --site NAME --key %s",
                  path, text);
    else if (err)
        log_error("cannot import: %s: check the database", store_why(store));
    return err;
}

/* A frame at once; if it is not taken, a line at a time. 0, or -errno when trying again may help. */
static int take_lines(struct store *store, struct importing *i, const struct identity *who, const char *text,
                      size_t size)
{
    struct answer answer;
    const char *line;
    size_t at = 0, line_size;

    ingest(store, who, ENCODING_NONE, text, size, &answer);
    if (answer.status == 200) {
        i->stored += answer.batches;
        i->duplicates += answer.duplicates;
        return 0;
    }
    while (answer.status < 500 && ingest_line(text, size, &at, &line, &line_size)) {
        if (!line_size)
            continue;
        ingest(store, who, ENCODING_NONE, line, line_size, &answer);
        if (answer.status == 200) {
            i->stored += answer.batches;
            i->duplicates += answer.duplicates;
        } else if (answer.status < 500 && i->refused++ < SHOWN_MAX) {
            log_warning("a batch is refused (%u): %s", answer.status, answer.why);
        }
    }
    if (answer.status < 500)
        return 0;
    log_error("cannot import: %s: import it again later, what is there already is not doubled", answer.why);
    return -EAGAIN;
}

static int import(struct store *store, const struct values *values, void *context)
{
    struct importing *i = context;
    struct identity who;
    int err = find_site(store, i, values->operand, &who), got = 1;

    while (!err && got == 1) {
        _cleanup_free_ void *lines = NULL;
        size_t size;

        got = bundle_next(i->bundle, &lines, &size);
        if (got == 1 && size)
            err = take_lines(store, i, &who, lines, size);
        else if (got < 0)
            err = got;
    }
    if (got < 0)
        log_error("%s has changed while it was imported: import it again", values->operand);
    if (!err)
        printf("%" PRIu64 " batches of site %s stored, %" PRIu64 " were there before, %" PRIu64 " refused\n", i->stored,
               who.site, i->duplicates, i->refused);
    return err ? err : i->refused ? -EBADMSG : 0;
}

/* Our own key, if there is one; importing makes none. */
static void read_own_key(const struct values *values, struct importing *i)
{
    const char *path = values->serve.forward.outward.site_key;
    struct site_key key;

    if (access(path, R_OK) == 0 && site_key_load(path, &key) == 0) {
        memcpy(i->own_key, key.public_key, sizeof(i->own_key));
        i->has_own_key = true;
        explicit_bzero(&key, sizeof(key));
    }
}

int command_import(const struct values *values)
{
    struct importing i = {.bundle = NULL};
    int err, status = EXIT_FAILURE;

    if (!values->operand) {
        log_error("which bundle? give its FILE");
        return WORK_USAGE;
    }
    err = bundle_open(values->operand, &i.bundle);
    if (err)
        log_error("cannot import %s: %s", values->operand,
                  err == -EBADMSG ? "this is no bundle: give what unblend-collector export wrote" : log_why(err));
    else if (check_bundle(&i, values->operand) == 0) {
        read_own_key(values, &i);
        status = work_with_database(values, false, import, &i);
    }
    bundle_reader_free(i.bundle);
    return status;
}
