/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/ledger.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TRIM_EVERY 64 /* batches */

static int64_t number(const PGresult *result, int column)
{
    return strtoll(PQgetvalue(result, 0, column), NULL, 10);
}

/* The stream's row, locked until the transaction ends. *found is false when there is no such row.
 */
static int lock_stream(struct db *db, const struct batch *batch, struct ledger_place *place,
                       int64_t *next_seq, bool *found)
{
    _cleanup_result_ PGresult *result = NULL;
    struct db_args args = {.count = 0};
    int err;

    db_text(&args, batch->cluster);
    db_text(&args, batch->node);
    db_text(&args, batch->stream);
    err = db_query(db,
                   "select node_id, s.stream_id, s.next_seq from unblend.node "
                   "join unblend.stream as s using (node_id) "
                   "where cluster = $1 and node = $2 and stream = $3 for update of s",
                   &args, &result);
    if (err)
        return err;
    *found = PQntuples(result) == 1;
    if (*found) {
        place->node_id = number(result, 0);
        place->stream_id = number(result, 1);
        *next_seq = number(result, 2);
    }
    return 0;
}

static int add_stream(struct db *db, const struct batch *batch)
{
    struct db_args args = {.count = 0};
    int err;

    db_text(&args, batch->cluster);
    db_text(&args, batch->node);
    err = db_query(
        db,
        "insert into unblend.node (cluster, node) select $1, $2 where not exists "
        "(select from unblend.node where cluster = $1 and node = $2) on conflict do nothing",
        &args, NULL);
    if (err)
        return err;
    db_text(&args, batch->stream);
    return db_query(db,
                    "insert into unblend.stream (node_id, stream) select node_id, $3 "
                    "from unblend.node where cluster = $1 and node = $2 on conflict do nothing",
                    &args, NULL);
}

/*
 * What became of a seq below next_seq. Asked after the lock was taken, in a statement of its own:
 * only so it sees what another collector committed while we waited.
 */
static int look_back(struct db *db, const struct ledger_place *place, int64_t seq,
                     const uint8_t hash[SHA256_SIZE], bool *in_gap, enum verdict *verdict)
{
    _cleanup_result_ PGresult *result = NULL;
    struct db_args args = {.count = 0};
    int err;

    db_number(&args, place->stream_id);
    db_number(&args, seq);
    db_bytes(&args, hash, SHA256_SIZE);
    err = db_query(
        db,
        "select (select sha256 = $3 from unblend.ledger where stream_id = $1 and seq = $2), "
        "exists (select from unblend.gap where stream_id = $1 and $2 between first_seq and "
        "last_seq)",
        &args, &result);
    if (err)
        return err;
    *in_gap = *PQgetvalue(result, 0, 1) == 't';
    if (*in_gap)
        *verdict = VERDICT_STORED;
    else if (*PQgetvalue(result, 0, 0) == 'f')
        *verdict = VERDICT_CONFLICT;
    else /* the same body, or too long ago to have its hash */
        *verdict = VERDICT_DUPLICATE;
    return 0;
}

/* Takes seq out of the gap it lies in; what is left on either side stays a gap. */
static int close_gap(struct db *db, const struct ledger_place *place, int64_t seq)
{
    static const char *const steps[] = {
        "insert into unblend.gap select stream_id, $2::bigint + 1, last_seq from unblend.gap "
        "where stream_id = $1 and first_seq <= $2 and last_seq > $2",
        "update unblend.gap set last_seq = $2::bigint - 1 "
        "where stream_id = $1 and first_seq < $2 and last_seq >= $2",
        "delete from unblend.gap where stream_id = $1 and first_seq = $2",
    };
    struct db_args args = {.count = 0};
    int err = 0;

    db_number(&args, place->stream_id);
    db_number(&args, seq);
    for (unsigned i = 0; i < sizeof(steps) / sizeof(*steps) && !err; i++)
        err = db_query(db, steps[i], &args, NULL);
    return err;
}

static int open_gap(struct db *db, const struct ledger_place *place, int64_t first, int64_t last)
{
    struct db_args args = {.count = 0};

    db_number(&args, place->stream_id);
    db_number(&args, first);
    db_number(&args, last);
    return db_query(db, "insert into unblend.gap values ($1, $2, $3)", &args, NULL);
}

static int note(struct db *db, const struct ledger_place *place, int64_t seq, int64_t next_seq,
                const uint8_t hash[SHA256_SIZE])
{
    struct db_args args = {.count = 0};
    int err;

    db_number(&args, place->stream_id);
    db_number(&args, seq);
    db_bytes(&args, hash, SHA256_SIZE);
    db_number(&args, next_seq);
    err =
        db_query(db,
                 "with hash as (insert into unblend.ledger values ($1, $2, $3)) "
                 "update unblend.stream set next_seq = $4, last_batch = now() where stream_id = $1",
                 &args, NULL);
    if (err || seq % TRIM_EVERY)
        return err;
    args.count = 1;
    db_number(&args, next_seq - LEDGER_WINDOW);
    return db_query(db, "delete from unblend.ledger where stream_id = $1 and seq < $2", &args,
                    NULL);
}

int ledger_enter(struct db *db, const struct batch *batch, const uint8_t hash[SHA256_SIZE],
                 struct ledger_place *out, enum verdict *verdict)
{
    int64_t seq = (int64_t)batch->seq, next_seq = 0;
    struct ledger_place place = {0};
    bool found = false, in_gap = false;
    enum verdict v = VERDICT_STORED;
    int err = lock_stream(db, batch, &place, &next_seq, &found);

    if (!err && !found) {
        err = add_stream(db, batch);
        if (!err)
            err = lock_stream(db, batch, &place, &next_seq, &found);
        if (!err && !found)
            err = -EDEADLK; /* removed at this very moment: once more */
    }
    if (!err && seq < next_seq)
        err = look_back(db, &place, seq, hash, &in_gap, &v);
    if (err)
        return err;
    if (v == VERDICT_STORED) {
        if (in_gap)
            err = close_gap(db, &place, seq);
        else if (seq > next_seq)
            err = open_gap(db, &place, next_seq, seq - 1);
        if (!err)
            err = note(db, &place, seq, seq >= next_seq ? seq + 1 : next_seq, hash);
        if (err)
            return err;
    }
    *out = place;
    *verdict = v;
    return 0;
}
