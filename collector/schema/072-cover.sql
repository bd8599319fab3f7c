-- SPDX-License-Identifier: GPL-2.0-or-later
-- What was watched of a cluster, hour by hour: who looks at many days of many nodes reads these rows in the place of
-- one a node.

create table unblend.cover_1h (
    time         timestamptz not null,
    cluster      text        not null,
    node_ids     integer[]   not null, -- in their order
    watched_ns   bigint      not null,
    records      bigint      not null,
    lost         bigint      not null,
    killed       bigint      not null,
    unattributed bigint      not null,
    overflow     bigint      not null,
    shed_ms      bigint[]    not null,
    primary key (time, cluster)
) partition by range (time);
create table unblend.cover_1h_default partition of unblend.cover_1h default;

insert into unblend.cover_1h
select b.time, n.cluster, array_agg(distinct b.node_id order by b.node_id), least(sum(b.duration_ns), 9e18)::bigint,
       sum(b.records),
       least(sum(b.lost), 9e18)::bigint, least(sum(b.killed), 9e18)::bigint, least(sum(b.unattributed), 9e18)::bigint,
       least(sum(b.overflow), 9e18)::bigint,
       array[least(sum(b.shed_ms[1]), 9e18), least(sum(b.shed_ms[2]), 9e18), least(sum(b.shed_ms[3]), 9e18)]::bigint[]
from unblend.batch_1h as b join unblend.node as n using (node_id)
group by 1, 2;

create or replace function unblend.coverage(clusters text[], nodes text[], since timestamptz, until timestamptz,
                                            step interval)
returns table ("time" timestamptz, seconds double precision, node_count bigint, watched_ns double precision,
               records bigint, lost_ops double precision, killed_ops double precision, unattributed_ops double precision,
               overflow_ops double precision, job_keys_ms double precision, metadata_only_ms double precision,
               detached_ms double precision)
language plpgsql stable security definer set search_path = pg_catalog set jit = off set work_mem = '64MB' as $$
#variable_conflict use_column
declare
    -- A row a node and minute is much: over more than six hours all nodes are told of by the hour.
    unit constant double precision := case when unblend.tier_for($3, $4) = '1m'
        and ($2 is not null or $4 - $3 <= interval '6 hours') then 60 else 3600 end;
    width constant double precision := coalesce(greatest(1, ceil(extract(epoch from $5)::double precision / unit)) * unit, 1e9);
    shortest constant double precision := least(width, 600);
    last_at constant timestamptz := least($4, now() - interval '1 minute');
    first_at constant timestamptz := case when $5 is null then $3
        else to_timestamp(floor(extract(epoch from $3)::double precision / width) * width) end;
    span constant double precision := extract(epoch from last_at - first_at);
    ids constant integer[] := array(select n.node_id from unblend.node as n
                                    where n.cluster = any($1) and ($2 is null or n.node = any($2)));
begin
    if unit = 3600 and $2 is null then
        return query
            select b.at, b.width, b.nodes, b.watched, b.records, b.lost, b.killed, b.unattributed, b.overflow, b.shed1,
                   b.shed2, b.shed3
            from (select c.at, sum(c.nodes)::bigint as nodes, sum(c.watched) as watched, sum(c.records)::bigint as records,
                         sum(c.lost) as lost, sum(c.killed) as killed, sum(c.unattributed) as unattributed,
                         sum(c.overflow) as overflow, sum(c.shed1) as shed1, sum(c.shed2) as shed2, sum(c.shed3) as shed3
                  from (select case when $5 is null then first_at
                               else to_timestamp(floor(extract(epoch from c.time)::double precision / width) * width) end as at,
                               c.cluster,
                               -- Mostly the same nodes: then they need not be told apart.
                               case when min(c.node_ids) = max(c.node_ids) then cardinality(min(c.node_ids))
                               else (select count(distinct u.id) from unnest(string_to_array(string_agg(
                                   array_to_string(c.node_ids, ','), ','), ',')) as u (id)) end as nodes,
                               sum(c.watched_ns::double precision) as watched, sum(c.records) as records,
                               sum(c.lost::double precision) as lost, sum(c.killed::double precision) as killed,
                               sum(c.unattributed::double precision) as unattributed,
                               sum(c.overflow::double precision) as overflow, sum(c.shed_ms[1]::double precision) as shed1,
                               sum(c.shed_ms[2]::double precision) as shed2, sum(c.shed_ms[3]::double precision) as shed3
                        from unblend.cover_1h as c
                        where c.time >= first_at and c.time < last_at and c.cluster = any($1) group by 1, 2) as c
                  group by 1) as i
            cross join lateral (select i.*, case when $5 is null then span else
                least(width, extract(epoch from last_at - i.at)::double precision) end as width) as b
            where b.width >= shortest or $5 is null
            order by 1;
        return;
    end if;
    return query execute format($sql$
        select b.at, b.width, b.nodes, b.watched, b.records, b.lost, b.killed, b.unattributed, b.overflow, b.shed1, b.shed2,
               b.shed3
        from (select case when $5 then $2
                     else to_timestamp(floor(extract(epoch from i.time)::double precision / $4) * $4) end as at,
                     count(distinct i.node_id) as nodes, sum(i.duration_ns::double precision) as watched,
                     sum(i.records) as records, sum(i.lost::double precision) as lost,
                     sum(i.killed::double precision) as killed, sum(i.unattributed::double precision) as unattributed,
                     sum(i.overflow::double precision) as overflow, sum(i.shed_ms[1]::double precision) as shed1,
                     sum(i.shed_ms[2]::double precision) as shed2, sum(i.shed_ms[3]::double precision) as shed3
              from %s as i where i.time >= $2 and i.time < $3 and ($8 or i.node_id = any($7)) group by 1) as i
        cross join lateral (select i.*, case when $5 then $6 else
            least($4, extract(epoch from $3 - i.at)::double precision) end as width) as b
        where b.width >= least($4, 600) or $5
        order by 1 $sql$, case unit when 60 then 'unblend.batch_1m' else 'unblend.batch_1h' end)
        using null::integer, first_at, last_at, width, $5 is null, span, ids,
              cardinality(ids) = (select count(*) from unblend.node);
end
$$;
