/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/ledger.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LEDGER_KEEP "2 days" /* hashes of a stream that is over */

static bool yes(const PGresult *result, int column)
{
    return *PQgetvalue(result, 0, column) == 't';
}

/* Below 0 is null. */
static void number_or_null(struct db_args *args, int64_t value)
{
    if (value < 0)
        db_text(args, NULL);
    else
        db_number(args, value);
}

/* A stream of the batch's node: the row, locked until the transaction ends. *found is false when there is no such
   row. */
static int lock_stream(struct db *db, const struct batch *batch, const char *stream, struct ledger_place *place,
                       int64_t *next_seq, bool *found)
{
    _cleanup_result_ PGresult *result = NULL;
    struct db_args args = {.count = 0};
    int err;

    db_text(&args, batch->cluster);
    db_text(&args, batch->node);
    db_text(&args, stream);
    err = db_query(db,
                   "select node_id, s.stream_id, s.next_seq from unblend.node "
                   "join unblend.stream as s using (node_id) "
                   "where cluster = $1 and node = $2 and stream = $3 for update of s",
                   &args, &result);
    if (err)
        return err;
    *found = PQntuples(result) == 1;
    if (*found) {
        place->node_id = result_number(result, 0, 0);
        place->stream_id = result_number(result, 0, 1);
        *next_seq = result_number(result, 0, 2);
    }
    return 0;
}

/* A node begins a stream at each start: what is known of the bodies of its old ones goes after some days. */
static int add_stream(struct db *db, const struct batch *batch, const char *stream)
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
    if (!err)
        err = db_query(db,
                       "delete from unblend.ledger where stream_id in (select stream_id from unblend.stream "
                       "join unblend.node using (node_id) where cluster = $1 and node = $2 "
                       "and last_batch < now() - interval '" LEDGER_KEEP "')",
                       &args, NULL);
    if (err)
        return err;
    db_text(&args, stream);
    return db_query(db,
                    "insert into unblend.stream (node_id, stream) select node_id, $3 "
                    "from unblend.node where cluster = $1 and node = $2 on conflict do nothing",
                    &args, NULL);
}

static int find_stream(struct db *db, const struct batch *batch, const char *stream, struct ledger_place *place,
                       int64_t *next_seq)
{
    bool found;
    int err = lock_stream(db, batch, stream, place, next_seq, &found);

    if (err || found)
        return err;
    err = add_stream(db, batch, stream);
    if (!err)
        err = lock_stream(db, batch, stream, place, next_seq, &found);
    return !err && !found ? -EDEADLK : err; /* removed at this very moment: once more */
}

enum lapse {
    LAPSE_NONE,
    LAPSE_GAP,     /* not here, and nobody knows why */
    LAPSE_DROPPED, /* said never to come */
};

/*
 * What became of a seq below next_seq. Asked after the lock was taken, in a statement of its own:
 * only so it sees what another collector committed while we waited.
 *
 * Where the body's hash is no longer known, the batch itself tells, by the time that it began: while others of that
 * minute are there and it is not, another one has its seq. (Partitions are dropped by the hour at least, so the minute
 * is looked at within its hour.)
 */
static int look_back(struct db *db, const struct ledger_place *place, const struct batch *batch,
                     const uint8_t hash[SHA256_SIZE], enum lapse *lapse, enum verdict *verdict)
{
    static const char sql[] =
        "with asked as (select unblend.timestamp_of($4) as at) "
        "select (select sha256 = $3 from unblend.ledger where stream_id = $1 and seq = $2), "
        "exists (select from unblend.gap where stream_id = $1 and $2 between first_seq and last_seq), "
        "exists (select from unblend.dropped where node_id = $5 and stream_id = $1 "
        "and $2 between first_seq and last_seq), "
        "exists (select from unblend.batch, asked where time = at and stream_id = $1 and seq = $2), "
        "exists (select from unblend.batch, asked where time between "
        "greatest(date_trunc('hour', at), at - interval '1 minute') and "
        "least(date_trunc('hour', at) + interval '59 minutes 59.999999 seconds', at + interval '1 minute'))";
    _cleanup_result_ PGresult *result = NULL;
    struct db_args args = {.count = 0};
    int err;

    db_number(&args, place->stream_id);
    db_number(&args, (int64_t)batch->seq);
    db_bytes(&args, hash, SHA256_SIZE);
    db_number(&args, batch->start_ns);
    db_number(&args, place->node_id);
    err = db_query(db, sql, &args, &result);
    if (err)
        return err;
    *lapse = yes(result, 1) ? LAPSE_GAP : yes(result, 2) ? LAPSE_DROPPED : LAPSE_NONE;
    if (*lapse != LAPSE_NONE)
        *verdict = VERDICT_STORED;
    else if (PQgetisnull(result, 0, 0))
        *verdict = yes(result, 3) || !yes(result, 4) ? VERDICT_DUPLICATE : VERDICT_CONFLICT;
    else
        *verdict = yes(result, 0) ? VERDICT_DUPLICATE : VERDICT_CONFLICT;
    return 0;
}

/* Takes a range out of the gaps that it meets; what is left on either side stays a gap. */
static int close_gaps(struct db *db, const struct ledger_place *place, int64_t first, int64_t last)
{
    static const char *const steps[] = {
        "insert into unblend.gap select stream_id, $3::bigint + 1, last_seq from unblend.gap "
        "where stream_id = $1 and first_seq <= $3 and last_seq > $3 and $2::bigint <= $3",
        "update unblend.gap set last_seq = $2::bigint - 1 "
        "where stream_id = $1 and first_seq < $2 and last_seq >= $2 and $3::bigint >= $2",
        "delete from unblend.gap where stream_id = $1 and first_seq between $2 and $3",
    };
    struct db_args args = {.count = 0};
    int err = 0;

    db_number(&args, place->stream_id);
    db_number(&args, first);
    db_number(&args, last);
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

/* It has come all the same: out of its range. The operations of those that remain stand in one row of the two; so that
   of a later one they may stand in another row of what was said at once, and none goes below 0. */
static int take_back(struct db *db, const struct ledger_place *place, const struct batch *batch)
{
    static const char *const steps[] = {
        ("update unblend.dropped as d set ops = d.ops - least(d.ops, short.ops) from ("
        "select $4::bigint - o.ops as ops, (select s.first_seq from unblend.dropped as s where s.node_id = $1 "
        "and s.stream_id = $2 and s.first_seq <> o.first_seq and s.told_at = o.told_at and s.why = o.why "
        "and (s.start_ns, s.end_ns) is not distinct from (o.start_ns, o.end_ns) and s.ops > 0 "
        "order by s.ops desc limit 1) as first_seq from unblend.dropped as o where o.node_id = $1 and o.stream_id = $2 "
        "and $3::bigint between o.first_seq and o.last_seq and o.ops < $4::bigint) as short "
        "where d.node_id = $1 and d.stream_id = $2 and d.first_seq = short.first_seq"),
        ("insert into unblend.dropped select node_id, stream_id, $3::bigint + 1, last_seq, "
        "case when first_seq = $3 then ops - least(ops, $4) else ops * 0 end, start_ns, end_ns, why, told_at "
        "from unblend.dropped where node_id = $1 and stream_id = $2 and first_seq <= $3 and last_seq > $3"),
        ("update unblend.dropped set last_seq = $3::bigint - 1, ops = ops - least(ops, $4) "
        "where node_id = $1 and stream_id = $2 and first_seq < $3 and last_seq >= $3"),
        "delete from unblend.dropped where node_id = $1 and stream_id = $2 and first_seq = $3 and $4::bigint >= 0",
    };
    struct db_args args = {.count = 0};
    uint64_t ops = 0;
    int err = 0;

    for (uint32_t i = 0; i < batch->record_count; i++)
        ops += record_ops(&batch->records[i]);
    db_number(&args, place->node_id);
    db_number(&args, place->stream_id);
    db_number(&args, (int64_t)batch->seq);
    db_number(&args, (int64_t)ops);
    for (unsigned i = 0; i < sizeof(steps) / sizeof(*steps) && !err; i++)
        err = db_query(db, steps[i], &args, NULL);
    return err;
}

static int set_next(struct db *db, const struct ledger_place *place, int64_t next_seq)
{
    struct db_args args = {.count = 0};

    db_number(&args, place->stream_id);
    db_number(&args, next_seq);
    return db_query(db, "update unblend.stream set next_seq = $2 where stream_id = $1", &args, NULL);
}

/* What the node says will never come, and is not here: gaps with a reason. Said again, it changes nothing. Of a range
   that is here in part nobody can tell how many operations the rest had. */
static int drop(struct db *db, const struct batch *batch, const struct dropped *range)
{
    static const char sql[] =
        "insert into unblend.dropped (node_id, stream_id, first_seq, last_seq, ops, start_ns, end_ns, why) "
        "select $1, $2, greatest(first_seq, $3), least(last_seq, $4), "
        "case when first_seq <= $3 and last_seq >= $4 then $5::bigint end, $6::bigint, $7::bigint, $8::text "
        "from unblend.gap where stream_id = $2 and first_seq <= $4 and last_seq >= $3";
    int64_t first = (int64_t)range->first, last = (int64_t)range->last, next_seq = 0;
    struct ledger_place place = {0};
    struct db_args args = {.count = 0};
    int err = find_stream(db, batch, range->stream, &place, &next_seq);

    if (!err && last >= next_seq) {
        err = open_gap(db, &place, next_seq, last);
        if (!err)
            err = set_next(db, &place, last + 1);
    }
    if (err)
        return err;
    db_number(&args, place.node_id);
    db_number(&args, place.stream_id);
    db_number(&args, first);
    db_number(&args, last);
    number_or_null(&args, range->ops == DROPPED_UNKNOWN ? -1 : (int64_t)range->ops);
    number_or_null(&args, range->start_ns ? range->start_ns : -1);
    number_or_null(&args, range->end_ns ? range->end_ns : -1);
    db_text(&args, range->why);
    err = db_query(db, sql, &args, NULL);
    return err ? err : close_gaps(db, &place, first, last);
}

static int note(struct db *db, struct ledger_place *place, int64_t seq, int64_t next_seq,
                const uint8_t hash[SHA256_SIZE])
{
    _cleanup_result_ PGresult *result = NULL;
    struct db_args args = {.count = 0};
    int err;

    db_number(&args, place->stream_id);
    db_number(&args, seq);
    db_bytes(&args, hash, SHA256_SIZE);
    db_number(&args, next_seq);
    err =
        db_query(db,
                 "with hash as (insert into unblend.ledger values ($1, $2, $3)) "
                 "update unblend.stream set next_seq = $4, last_batch = now() where stream_id = $1 "
                 "returning nextval('unblend.batch_id')",
                 &args, &result);
    if (!err && PQntuples(result) != 1)
        err = -EDEADLK; /* removed at this very moment: once more */
    if (err)
        return err;
    place->batch_id = result_number(result, 0, 0);
    if (seq % LEDGER_TRIM_EVERY)
        return 0;
    args.count = 1;
    db_number(&args, next_seq - LEDGER_WINDOW);
    return db_query(db, "delete from unblend.ledger where stream_id = $1 and seq < $2", &args,
                    NULL);
}

/* Makes room for the batch in what is known of its stream. */
static int enter(struct db *db, struct ledger_place *place, const struct batch *batch, int64_t next_seq,
                 enum lapse lapse, const uint8_t hash[SHA256_SIZE])
{
    int64_t seq = (int64_t)batch->seq;
    int err = 0;

    if (lapse == LAPSE_GAP)
        err = close_gaps(db, place, seq, seq);
    else if (lapse == LAPSE_DROPPED)
        err = take_back(db, place, batch);
    else if (seq > next_seq)
        err = open_gap(db, place, next_seq, seq - 1);
    if (!err)
        err = note(db, place, seq, seq >= next_seq ? seq + 1 : next_seq, hash);
    for (uint32_t i = 0; i < batch->coverage.dropped_count && !err; i++)
        err = drop(db, batch, &batch->coverage.dropped[i]);
    return err;
}

int ledger_enter(struct db *db, const struct batch *batch, const uint8_t hash[SHA256_SIZE],
                 struct ledger_place *out, enum verdict *verdict)
{
    struct ledger_place place = {0};
    enum lapse lapse = LAPSE_NONE;
    enum verdict v = VERDICT_STORED;
    int64_t next_seq = 0;
    int err = find_stream(db, batch, batch->stream, &place, &next_seq);

    if (!err && (int64_t)batch->seq < next_seq)
        err = look_back(db, &place, batch, hash, &lapse, &v);
    if (!err && v == VERDICT_STORED)
        err = enter(db, &place, batch, next_seq, lapse, hash);
    if (err)
        return err;
    *out = place;
    *verdict = v;
    return 0;
}
