/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/export.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/codec.h"
#include "lib/database_reader.h"
#include "lib/log.h"

struct export {
    PGconn *conn;
    const struct outward *outward;
    struct bundle_writer *bundle;
    uint64_t count;
};

static int run(const struct export *export, const char *sql)
{
    _cleanup_result_ PGresult *result = PQexec(export->conn, sql);

    if (PQresultStatus(result) == PGRES_COMMAND_OK)
        return 0;
    log_error("cannot read the database: %.*s", (int)strcspn(PQerrorMessage(export->conn), "\n"),
              PQerrorMessage(export->conn));
    return -EIO;
}

static int add_batch(struct export *export, struct batch *batch)
{
    _cleanup_free_ char *json = NULL;
    size_t size;
    int err = outward_apply(export->outward, batch);

    if (!err)
        err = codec_encode(batch, &json, &size);
    if (!err)
        err = bundle_add(export->bundle, json, size);
    if (err)
        log_error("cannot export batch %" PRIu64 " of %s: %s", batch->seq, batch->node, log_errno(err));
    else
        export->count++;
    return err;
}

static int add_batches(struct export *export, int64_t since_ns, int64_t until_ns)
{
    const struct database_piece piece = {"", since_ns > 0 ? since_ns : 0, until_ns};
    struct database_reader *reader;
    int err = database_reader_new(export->conn, &piece, 1, NULL, &reader), got = 1;

    if (err)
        return err;
    while (!err && got == 1) {
        _cleanup_(batch_freep) struct batch *batch = NULL;

        got = database_reader_next(reader, &batch);
        err = got == 1 ? add_batch(export, batch) : got;
    }
    database_reader_free(reader);
    return err;
}

int export_batches(const struct db *db, int64_t since_ns, int64_t until_ns, const struct outward *outward,
                   struct bundle_writer *bundle, uint64_t *count)
{
    struct export export = {.conn = db->conn, .outward = outward, .bundle = bundle};
    int err = run(&export, "begin isolation level repeatable read read only");

    if (!err)
        err = add_batches(&export, since_ns, until_ns);
    run(&export, "rollback");
    if (!err)
        *count = export.count;
    return err;
}
