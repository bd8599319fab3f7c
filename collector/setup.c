/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/setup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "collector/schema.h"
#include "lib/log.h"

#define WAIT_S 60

/* 1 when it is there, 0 when not, or -errno. */
static int has_database(struct db *db)
{
    _cleanup_result_ PGresult *result = NULL;
    int err = db_query(db, "select 1 from pg_database where datname = 'unblend'", NULL, &result);

    return err ? err : PQntuples(result) > 0;
}

static int create_database(const char *conninfo, char why[256])
{
    _cleanup_(db_close) struct db db = {.conn = NULL};
    char server[4200];
    int err, there;

    /* The later word wins. */
    snprintf(server, sizeof(server), "%s dbname=postgres", conninfo);
    err = db_connect(&db, server);
    there = err ? err : has_database(&db);
    if (there == 0)
        err = db_run(&db, "create database unblend encoding 'UTF8' template template0");
    memcpy(why, db.why, sizeof(db.why));
    /* Two commands that find none make it at once, and one is refused. */
    return there < 0 ? there : err && has_database(&db) == 1 ? 0 : err;
}

int setup_database(const struct setup *setup, const char *conninfo, char why[256])
{
    _cleanup_(db_close) struct db db = {.conn = NULL};
    int err = setup->embedded ? create_database(conninfo, why) : 0;

    if (err)
        return err;
    err = db_connect(&db, conninfo);
    if (!err)
        err = schema_apply(&db);
    if (!err)
        err = partition_make(&db, setup->keep_ns, true);
    memcpy(why, db.why, sizeof(db.why));
    return err;
}

int setup_database_wait(const struct setup *setup, const char *conninfo, struct embedded **embedded)
{
    const struct timespec tick = {.tv_nsec = 200000000};
    char why[256] = "";
    int err = -EAGAIN;

    *embedded = NULL;
    /* A server of somebody else's is there or is not; our own needs its time to start. */
    for (unsigned i = 0; i < (setup->embedded ? WAIT_S * 5 : 1) && err == -EAGAIN; i++) {
        if (i)
            nanosleep(&tick, NULL);
        err = setup->embedded && !*embedded
                  ? embedded_start(setup->embedded, setup->sockets, 0, embedded)
                  : 0;
        if (err && err != -EBUSY)
            return err;
        err = setup_database(setup, conninfo, why);
    }
    if (err)
        log_error("cannot set the database up: %s: check %s", why,
                  setup->embedded ? "the server's log in the --embedded directory"
                                  : "--db and the server");
    return err;
}
