/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/partition.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "collector/locks.h"

const char *const partition_tables[TIER_COUNT][6] = {
    {"batch", "sample", "flow"},
    {"batch_1m", "sample_1m", "total_1m", "demand_1m"},
    {"batch_1h", "sample_1h", "total_1h", "demand_1h", "cover_1h"},
};

const char *const partition_tier[TIER_COUNT] = {"raw", "1m", "1h"};
const char *const partition_queue[TIER_COUNT] = {"pending_1m", "pending_1h", NULL};

/* How a tier is cut: where a piece begins, its length, its name, and how far ahead pieces are made. */
static const struct cut {
    const char *begin; /* of a time */
    const char *length, *name;
    const char *first, *last;
} cuts[TIER_COUNT] = {
    {"to_timestamp(floor(extract(epoch from %s) / 21600) * 21600)", "6 hours", "YYYYMMDDHH24",
     "now() - interval '6 hours'", "now() + interval '30 hours'"},
    {"date_trunc('day', %s)", "1 day", "YYYYMMDD", "now() - interval '1 day'", "now() + interval '3 days'"},
    {"date_trunc('month', %s)", "1 month", "YYYYMM", "now()", "now() + interval '15 days'"},
};

const char *partition_list(enum tier tier)
{
    /* Raw rows had a day each at first: what a name says is told by its length. */
#define LIST(table)                                                                                \
    "select suffix, since, since + case length(suffix) when 10 then interval '6 hours' "           \
    "when 8 then interval '1 day' else interval '1 month' end as until from ("                     \
    "select suffix, to_timestamp(suffix, 'YYYYMMDDHH24') as since from ("                          \
    "select substr(relname, length('" table "_') + 1) as suffix from pg_class "                    \
    "join pg_inherits on inhrelid = oid where inhparent = 'unblend." table "'::regclass) as named " \
    "where suffix ~ '^[0-9]{6,10}$') as timed order by since"
    static const char *const lists[TIER_COUNT] = {LIST("batch"), LIST("batch_1m"), LIST("batch_1h")};

    return lists[tier];
#undef LIST
}

/*
 * A partition is filled from the default one and attached, not created in place: that locks
 * the parent against nobody who writes, and works when rows of that time are already there.
 */
static int make_one(struct db *db, const char *table, const char *suffix, const char *since, const char *until)
{
    char name[64], sql[1536];

    snprintf(name, sizeof(name), "%s_%s", table, suffix);
    snprintf(sql, sizeof(sql),
             "begin; lock table only unblend.%s in share update exclusive mode; "
             "lock table unblend.%s_default in access exclusive mode; "
             "create table unblend.%s (like unblend.%s including defaults including constraints); "
             "insert into unblend.%s select * from unblend.%s_default where time >= '%s' and time < '%s'; "
             "delete from unblend.%s_default where time >= '%s' and time < '%s'; "
             "alter table unblend.%s attach partition unblend.%s for values from ('%s') to ('%s'); commit",
             table, table, name, table, name, table, since, until, table, since, until, table, name, since, until);
    return db_run(db, sql);
}

/* Waiting rows that are older than what is dropped, or to be kept, stay where they are. */
static int make_all(struct db *db, enum tier tier, const char *table, uint64_t keep_ns)
{
    const struct cut *cut = &cuts[tier];
    _cleanup_result_ PGresult *wanted = NULL;
    char of_first[128], of_time[128], of_last[128], sql[2048];
    int err;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(of_first, sizeof(of_first), cut->begin, cut->first);
    snprintf(of_last, sizeof(of_last), cut->begin, cut->last);
    snprintf(of_time, sizeof(of_time), cut->begin, "time");
#pragma GCC diagnostic pop
    snprintf(sql, sizeof(sql),
             "select to_char(since, '%s'), since, since + interval '%s' from ("
             "select generate_series(%s, %s, interval '%s') as since union "
             "select distinct %s from unblend.%s_default where time < now() + interval '30 hours' and time >= "
             "greatest(now() - %" PRIu64 " * interval '1 s', (select since from unblend.tier where tier = '%s'))"
             ") as wanted where to_regclass('unblend.%s_' || to_char(since, '%s')) is null "
             "and to_regclass('unblend.%s_' || to_char(since, 'YYYYMMDD')) is null order by since",
             cut->name, cut->length, of_first, of_last, cut->length, of_time, table, keep_ns / 1000000000,
             partition_tier[tier], table, cut->name, table);
    err = db_query(db, sql, NULL, &wanted);
    for (int i = 0; !err && i < PQntuples(wanted); i++)
        err = make_one(db, table, PQgetvalue(wanted, i, 0), PQgetvalue(wanted, i, 1), PQgetvalue(wanted, i, 2));
    return err;
}

int partition_make(struct db *db, const uint64_t keep_ns[TIER_COUNT], bool wait)
{
    static const char *const locks[] = {"select pg_try_advisory_lock(" LOCK_PARTITIONS ")",
                                        "select true from pg_advisory_lock(" LOCK_PARTITIONS ")"};
    _cleanup_result_ PGresult *mine = NULL;
    int err = db_query(db, locks[wait], NULL, &mine);

    if (err || *PQgetvalue(mine, 0, 0) != 't')
        return err;
    for (enum tier tier = 0; tier < TIER_COUNT; tier++)
        for (const char *const *table = partition_tables[tier]; *table && !err; table++)
            err = make_all(db, tier, *table, keep_ns[tier]);
    if (!err)
        err = db_run(db, "select pg_advisory_unlock(" LOCK_PARTITIONS ")");
    if (err && db->conn)
        db_close(db); /* and with it the transaction and the lock */
    return err;
}
