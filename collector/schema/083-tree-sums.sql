-- SPDX-License-Identifier: GPL-2.0-or-later
-- Trees of some jobs over a span: only lists of intervals that these jobs are in are looked for and taken apart.

-- Holds what has trees, so it costs nothing where none are sent.
create index batch_trees on unblend.batch (node_id, time) where trees is not null;

create function unblend.tree_sums(clusters text[], jobs text[], since timestamptz, until timestamptz)
returns table (volume text, tree text, opens numeric, reads numeric, writes numeric, metadata numeric,
               read_bytes numeric, write_bytes numeric, wait_ns numeric)
language plpgsql stable security definer set search_path = pg_catalog set jit = off as $$
#variable_conflict use_column
declare
    ids constant bigint[] := array(select j.job_id from unblend.job as j join unblend.node as n using (node_id)
                                   where n.cluster = any($1) and j.job = any($2));
    nodes constant integer[] := array(select distinct j.node_id from unblend.job as j where j.job_id = any(ids));
begin
    return query
        select v.volume, t.tree, coalesce(sum(t.opens), 0), coalesce(sum(t.reads), 0), coalesce(sum(t.writes), 0),
               coalesce(sum(t.metadata), 0), coalesce(sum(t.read_bytes), 0), coalesce(sum(t.write_bytes), 0),
               coalesce(sum(t.wait_ns), 0)
        from (select b.job_ids, b.volume_ids, b.trees from unblend.batch as b
              where b.time >= $3 and b.time < $4 and b.node_id = any(nodes) and b.job_ids && ids
                and b.trees is not null offset 0) as b
        cross join lateral json_to_recordset(b.trees) as t (job integer, volume integer, tree text, opens bigint,
            reads bigint, writes bigint, metadata bigint, read_bytes bigint, write_bytes bigint, wait_ns bigint)
        left join unblend.volume as v on v.volume_id = b.volume_ids[t.volume + 1]
        where b.job_ids[t.job + 1] = any(ids)
        group by 1, 2;
end
$$;
comment on function unblend.tree_sums(text[], text[], timestamptz, timestamptz) is
    'tree_sums(clusters, jobs, since, until): what jobs did in trees of volumes, as in trees, a row a volume and tree.';
