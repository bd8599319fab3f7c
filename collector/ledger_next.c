/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/ledger_next.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array_text.h"
#include "lib/cleanup.h"
#include "lib/order.h"

#define STREAMS 3 /* among the tables of dimension.c */

struct next {
    int64_t stream_id, seq;
    unsigned item;
};

/* The columns of what is asked for, as arrays in texts: of batches, and of runs. */
struct columns {
    char *streams, *seqs, *hashes, *run_streams, *firsts, *lasts;
};

static void columns_free(struct columns *columns)
{
    free(columns->streams);
    free(columns->seqs);
    free(columns->hashes);
    free(columns->run_streams);
    free(columns->firsts);
    free(columns->lasts);
}

static struct dimension_key key_of(const struct batch *batch)
{
    struct dimension_key key = {.table = STREAMS};
    char name[3 * 256];
    uint8_t hash[SHA256_SIZE];
    int length = snprintf(name, sizeof(name), "%s%c%s%c%s", batch->cluster, 0, batch->node, 0, batch->stream);

    sha256(name, (size_t)length, hash);
    memcpy(key.digest, hash, sizeof(key.digest));
    return key;
}

void ledger_remember(struct dimension_cache *cache, const struct batch *batch, const struct ledger_place *place)
{
    const struct dimension_key key = key_of(batch);
    int64_t known;

    if (!dimension_cached(cache, &key, &known))
        dimension_remember(cache, &key, place->stream_id);
}

static int by_stream(const void *a, const void *b)
{
    const struct next *x = a, *y = b;

    return ORDER(x->stream_id, y->stream_id) ?: ORDER(x->item, y->item);
}

/* Of each stream the first and what follows it without a gap, in the order of streams, so that two who want the same
   ones do not wait for each other. */
static unsigned choose(const struct dimension_cache *cache, const struct store_item *items, unsigned count,
                       struct next *nexts)
{
    unsigned found = 0, kept = 0;

    for (unsigned i = 0; i < count; i++) {
        const struct batch *batch = items[i].batch;
        const struct dimension_key key = key_of(batch);
        int64_t stream_id;

        if (!batch->coverage.dropped_count && dimension_cached(cache, &key, &stream_id))
            nexts[found++] = (struct next){stream_id, (int64_t)batch->seq, i};
    }
    qsort(nexts, found, sizeof(*nexts), by_stream);
    for (unsigned i = 0; i < found; i++) {
        const bool first = !i || nexts[i].stream_id != nexts[i - 1].stream_id;

        if (first || (nexts[kept - 1].stream_id == nexts[i].stream_id && nexts[kept - 1].seq + 1 == nexts[i].seq))
            nexts[kept++] = nexts[i];
    }
    return kept;
}

static char *hashes_text(const struct store_item *items, const struct next *nexts, unsigned count)
{
    _cleanup_free_ const uint8_t **hashes = calloc(count, sizeof(*hashes));

    for (unsigned i = 0; hashes && i < count; i++)
        hashes[i] = items[nexts[i].item].hash;
    return hashes ? array_of_bytes(hashes, SHA256_SIZE, count) : NULL;
}

static int columns_of(const struct store_item *items, const struct next *nexts, unsigned count, struct columns *columns)
{
    _cleanup_free_ int64_t *numbers = calloc(3 * (size_t)count, sizeof(*numbers));
    int64_t *seqs = numbers + count, *lasts = seqs + count;
    unsigned runs = 0;

    if (!numbers)
        return -ENOMEM;
    for (unsigned i = 0; i < count; i++) {
        numbers[i] = nexts[i].stream_id;
        seqs[i] = nexts[i].seq;
    }
    columns->streams = array_text(numbers, count);
    columns->seqs = array_text(seqs, count);
    columns->hashes = hashes_text(items, nexts, count);
    for (unsigned i = 0; i < count; i++) {
        if (!i || nexts[i].stream_id != nexts[i - 1].stream_id) {
            numbers[runs] = nexts[i].stream_id;
            seqs[runs++] = nexts[i].seq;
        }
        lasts[runs - 1] = nexts[i].seq;
    }
    columns->run_streams = array_text(numbers, runs);
    columns->firsts = array_text(seqs, runs);
    columns->lasts = array_text(lasts, runs);
    return columns->streams && columns->seqs && columns->hashes && columns->run_streams && columns->firsts &&
                   columns->lasts
               ? 0
               : -ENOMEM;
}

/*
 * A stream that another transaction moves on meanwhile is waited for, and looked at again: then the seq is not its next
 * one any more, and no row of its is among the results.
 */
static int move_on(struct db *db, const struct columns *columns, PGresult **result)
{
    static const char sql[] =
        "with asked as (select * from unnest($1::bigint[], $2::bigint[], $3::bytea[]) with ordinality "
        "as asked (stream_id, seq, sha256, n)), "
        "runs as (select * from unnest($4::bigint[], $5::bigint[], $6::bigint[]) as runs (stream_id, first, last)), "
        "moved as (update unblend.stream as s set next_seq = runs.last + 1, last_batch = now() from runs "
        "where s.stream_id = runs.stream_id and s.next_seq = runs.first returning s.stream_id, s.node_id), "
        "entered as (select n, stream_id, seq, sha256, node_id from asked join moved using (stream_id)), "
        "noted as (insert into unblend.ledger (stream_id, seq, sha256) select stream_id, seq, sha256 from entered) "
        "select n, node_id, nextval('unblend.batch_id') from entered order by n";
    struct db_args args = {.count = 0};

    db_text(&args, columns->streams);
    db_text(&args, columns->seqs);
    db_text(&args, columns->hashes);
    db_text(&args, columns->run_streams);
    db_text(&args, columns->firsts);
    db_text(&args, columns->lasts);
    return db_query(db, sql, &args, result);
}

/* Hashes that are out of the window, of streams that have come to a round number. */
static int trim(struct db *db, const struct next *nexts, unsigned count, const struct ledger_place *places)
{
    _cleanup_free_ int64_t *streams = calloc(count, sizeof(*streams)), *seqs = calloc(count, sizeof(*seqs));
    struct db_args args = {.count = 0};
    _cleanup_free_ char *stream_text = NULL, *seq_text = NULL;
    unsigned due = 0;

    if (!streams || !seqs)
        return -ENOMEM;
    for (unsigned i = 0; i < count; i++)
        if (places[nexts[i].item].batch_id && nexts[i].seq % LEDGER_TRIM_EVERY == 0) {
            streams[due] = nexts[i].stream_id;
            seqs[due++] = nexts[i].seq + 1 > LEDGER_WINDOW ? nexts[i].seq + 1 - LEDGER_WINDOW : 0;
        }
    if (!due)
        return 0;
    stream_text = array_text(streams, due);
    seq_text = array_text(seqs, due);
    if (!stream_text || !seq_text)
        return -ENOMEM;
    db_text(&args, stream_text);
    db_text(&args, seq_text);
    return db_query(db,
                    "delete from unblend.ledger as l using unnest($1::bigint[], $2::bigint[]) as due (stream_id, seq) "
                    "where l.stream_id = due.stream_id and l.seq < due.seq",
                    &args, NULL);
}

int ledger_next(struct db *db, const struct dimension_cache *cache, const struct store_item *items, unsigned count,
                struct ledger_place *places)
{
    _cleanup_free_ struct next *nexts = calloc(count + 1, sizeof(*nexts));
    _cleanup_(columns_free) struct columns columns = {.streams = NULL};
    _cleanup_result_ PGresult *result = NULL;
    unsigned asked;
    int err;

    if (!nexts)
        return -ENOMEM;
    asked = choose(cache, items, count, nexts);
    if (!asked)
        return 0;
    err = columns_of(items, nexts, asked, &columns);
    if (!err)
        err = move_on(db, &columns, &result);
    if (err)
        return err;
    for (int row = 0; row < PQntuples(result); row++) {
        const struct next *next = &nexts[result_number(result, row, 0) - 1];

        places[next->item] = (struct ledger_place){
            .node_id = result_number(result, row, 1),
            .stream_id = next->stream_id,
            .batch_id = result_number(result, row, 2),
        };
    }
    return trim(db, nexts, asked, places);
}
