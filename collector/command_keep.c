/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/command_keep.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "collector/pin.h"
#include "collector/upkeep.h"
#include "lib/clock.h"
#include "lib/log.h"
#include "lib/moment.h"

struct span {
    int64_t since_ns, until_ns;
};

static int away(struct store *store, const char *what)
{
    log_error("cannot %s: %s: check the database", what, store_why(store));
    return -EAGAIN;
}

static int prune(struct store *store, const struct values *values, void *context)
{
    const struct serve_options *o = &values->serve;
    struct retention retention = {.max_bytes = o->max_db_bytes};
    struct db *db = store_db(store);
    struct retention_done done = {.dropped = 0};
    int64_t batches = 0;
    int err;

    memcpy(retention.keep_ns, o->setup.keep_ns, sizeof(retention.keep_ns));
    if (!db)
        return away(store, "prune");
    err = upkeep_once(db, &retention, &batches, &done);
    if (err) {
        log_error("cannot prune: %s: %s", store_why(store),
                  err == -EACCES ? "run it as the owner of the tables" : "see the database's log");
        return err;
    }
    printf("%" PRId64 " batches summed up, %u pieces dropped, %u wait, %" PRIu64 " MiB in use\n", batches, done.dropped,
           done.waiting, done.bytes >> 20);
    if (done.full)
        log_warning("the database is larger than --max-db-size allows, and nothing may be dropped but what is new, "
                    "kept or read");
    return 0;
}

int command_prune(const struct values *values)
{
    return work_with_database(values, false, prune, NULL);
}

static const char *time_text(int64_t ns, char text[32])
{
    time_t seconds = (time_t)(ns / 1000000000);
    struct tm tm;

    gmtime_r(&seconds, &tm);
    strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &tm);
    return text;
}

static int keep_rows(struct db *db, const char *since, const char *until)
{
    char kept[32];
    int err = pin_rows(db, since, until, kept, sizeof(kept));

    if (err)
        return err;
    if (*kept)
        printf("raw rows from %s to %s are kept\n", kept, until);
    else
        puts("no raw rows are kept");
    if (strcmp(kept, since) != 0)
        log_warning("%s raw rows of that time were dropped before: the view tiers says until when",
                    *kept ? "some" : "all");
    return 0;
}

static int release_rows(struct db *db, const char *since, const char *until)
{
    int64_t count;
    int err = pin_release(db, since, until, &count);

    if (!err)
        printf("%" PRId64 " pins released\n", count);
    return err;
}

static int keep(struct store *store, const struct values *values, void *context)
{
    const struct span *span = context;
    struct db *db = store_db(store);
    char since[32], until[32];
    int err;

    if (!db)
        return away(store, "keep");
    time_text(span->since_ns, since);
    time_text(span->until_ns, until);
    err = values->release ? release_rows(db, since, until) : keep_rows(db, since, until);
    if (err)
        log_error("cannot keep: %s: check the database", store_why(store));
    return err;
}

int command_keep(const struct values *values)
{
    int64_t now = wall_clock_ns();
    struct span span;

    if (!values->since || !values->until || moment_parse(values->since, now, &span.since_ns) ||
        moment_parse(values->until, now, &span.until_ns) || span.since_ns >= span.until_ns) {
        log_error("wrong span: --since %s, --until %s: give two times like 2026-03-01T12:00:00Z or 2h, the earlier one "
                  "first",
                  values->since ? values->since : "is missing", values->until ? values->until : "is missing");
        return WORK_USAGE;
    }
    span.until_ns += 999999999; /* whole seconds, outward */
    return work_with_database(values, false, keep, &span);
}
