/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/rollup_private.h"

/* Rounds of one hour add up: a later one has the nodes that the earlier ones did not reach, and what came late. */
int rollup_cover(struct db *db, const char *batch_ids, const char *since, const char *until)
{
    static const char sql[] =
        "insert into unblend.cover_1h as c (time, cluster, node_ids, watched_ns, records, lost, killed, unattributed, "
        "overflow, shed_ms) "
        "select b.time, n.cluster, array_agg(distinct b.node_id order by b.node_id), "
        "least(sum(b.duration_ns), 9e18)::bigint, sum(b.records), least(sum(b.lost), 9e18)::bigint, "
        "least(sum(b.killed), 9e18)::bigint, least(sum(b.unattributed), 9e18)::bigint, "
        "least(sum(b.overflow), 9e18)::bigint, array[least(sum(b.shed_ms[1]), 9e18), "
        "least(sum(b.shed_ms[2]), 9e18), least(sum(b.shed_ms[3]), 9e18)]::bigint[] "
        "from unblend.batch_1h as b join unnest($1::bigint[]) as asked (batch_id) using (batch_id) "
        "join unblend.node as n using (node_id) "
        "where b.time between to_timestamp($2::bigint) and to_timestamp($3::bigint) group by 1, 2 "
        "on conflict (time, cluster) do update set "
        "node_ids = array(select distinct u.id from unnest(c.node_ids || excluded.node_ids) as u (id) order by 1), "
        "watched_ns = least(c.watched_ns::numeric + excluded.watched_ns, 9e18)::bigint, "
        "records = c.records + excluded.records, lost = least(c.lost::numeric + excluded.lost, 9e18)::bigint, "
        "killed = least(c.killed::numeric + excluded.killed, 9e18)::bigint, "
        "unattributed = least(c.unattributed::numeric + excluded.unattributed, 9e18)::bigint, "
        "overflow = least(c.overflow::numeric + excluded.overflow, 9e18)::bigint, "
        "shed_ms = array[least(c.shed_ms[1]::numeric + excluded.shed_ms[1], 9e18), "
        "least(c.shed_ms[2]::numeric + excluded.shed_ms[2], 9e18), "
        "least(c.shed_ms[3]::numeric + excluded.shed_ms[3], 9e18)]::bigint[]";
    struct db_args args = {.count = 0};

    db_text(&args, batch_ids);
    db_text(&args, since);
    db_text(&args, until);
    return db_query(db, sql, &args, NULL);
}
