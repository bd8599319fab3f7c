/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/command_profiles.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/report_check.h"
#include "lib/log.h"

#define REPORT_MAX (256u << 20)

static int store(struct store *store, const struct values *values, void *context)
{
    struct db *db = store_db(store);
    struct db_args args = {.count = 0};
    _cleanup_result_ PGresult *result = NULL;
    int err = -EAGAIN;

    if (db) {
        db_text(&args, context);
        err = db_query(db, "select unblend.store_profiles($1::json)", &args, &result);
    }
    if (err) {
        log_error("cannot store the profiles: %s: check --db, and that this role may write", store_why(store));
        return err;
    }
    printf("%s profiles stored\n", PQgetvalue(result, 0, 0));
    return 0;
}

static void complain(const char *path, const char *why)
{
    log_error("cannot store the profiles of %s: %s: give what unblend report --format json wrote",
              path ? path : "standard input", why);
}

int command_profiles(const struct values *values)
{
    const char *path = values->operand && strcmp(values->operand, "-") != 0 ? values->operand : NULL;
    _cleanup_free_ char *text = NULL;
    char why[REPORT_WHY];
    FILE *file = path ? fopen(path, "re") : stdin;
    size_t size = 0;
    int err;

    if (!file) {
        complain(path, log_errno(-errno));
        return EXIT_FAILURE;
    }
    err = report_read(file, REPORT_MAX, &text, &size);
    if (path)
        fclose(file);
    if (err) {
        complain(path, log_errno(err));
        return EXIT_FAILURE;
    }
    if (report_check(text, size, why)) {
        complain(path, why);
        return EXIT_FAILURE;
    }
    return work_with_database(values, false, store, text);
}
