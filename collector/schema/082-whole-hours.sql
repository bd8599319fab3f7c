-- SPDX-License-Identifier: GPL-2.0-or-later
-- What names asked for over a whole span is read out of hours, and of minutes at their edges: of 400 nodes and a day
-- these are 9,600 rows in the place of 576,000.

create or replace function unblend.demand(subject text, clusters text[], names text[], since timestamptz,
                                          until timestamptz, step interval)
returns table ("time" timestamptz, seconds double precision, cluster text, name text, read_ops numeric,
               write_ops numeric, metadata_ops numeric, other_ops numeric, read_bytes numeric, write_bytes numeric,
               errors numeric, data_latency_ns numeric, metadata_latency_ns numeric)
language plpgsql stable security definer set search_path = pg_catalog set jit = off set work_mem = '64MB' as $$
#variable_conflict use_column
declare
    ids constant bigint[] := unblend.subject_ids($1, $2, $3);
    tier constant text := unblend.tier_for($4, $5);
    width constant double precision := coalesce(unblend.step_for($4, $5, $6), 1e9);
    last_at constant timestamptz := least($5, now() - interval '1 minute');
    first_at constant timestamptz := case when $6 is null then $4
        else to_timestamp(floor(extract(epoch from $4)::double precision / width) * width) end;
    span constant double precision := extract(epoch from last_at - first_at);
    whole_from timestamptz;
    whole_until timestamptz;
    rows_of text := case tier when '1m' then 'unblend.demand_1m' else 'unblend.demand_1h' end;
begin
    if $6 is null and tier = '1m' then
        whole_from := to_timestamp(ceil(extract(epoch from first_at)::double precision / 3600) * 3600);
        -- Up to the first hour that lacks what its minutes have: the two are of one transaction, so this is exact.
        select to_timestamp(floor(extract(epoch from least(last_at, min(q.time)))::double precision / 3600) * 3600)
            into whole_until from unblend.pending_1h as q where q.time >= whole_from;
        if whole_from < whole_until and whole_from >= (select t.since from unblend.tier as t where t.tier = '1h') then
            rows_of := format('(select * from unblend.demand_1h as h '
                'where h.subject_id = any($1) and h.time >= %1$L and h.time < %2$L '
                'union all select * from unblend.demand_1m as m '
                'where m.subject_id = any($1) and m.time >= $2 and m.time < %1$L '
                'union all select * from unblend.demand_1m as m '
                'where m.subject_id = any($1) and m.time >= %2$L and m.time < $3)', whole_from, whole_until);
        end if;
    end if;
    return query execute format($sql$
        select b.at, b.width, s.cluster, s.name, b.read_ops, b.write_ops, b.metadata_ops, b.other_ops, b.read_bytes,
               b.write_bytes, b.errors, b.data_latency, b.metadata_latency
        from (select case when $5 then $2
                     else to_timestamp(floor(extract(epoch from d.time)::double precision / $4) * $4) end as at,
                     d.subject_id, sum(d.read_ops) as read_ops, sum(d.write_ops) as write_ops,
                     sum(d.metadata_ops) as metadata_ops, sum(d.other_ops) as other_ops,
                     sum(d.read_bytes) as read_bytes, sum(d.write_bytes) as write_bytes, sum(d.errors) as errors,
                     sum(d.data_latency_ns) as data_latency, sum(d.metadata_latency_ns) as metadata_latency
              from %s as d where d.subject_id = any($1) and d.time >= $2 and d.time < $3 group by 1, 2) as d
        cross join lateral (select d.*, case when $5 then $6 else
            least($4, extract(epoch from $3 - d.at)::double precision) end as width) as b
        join unblend.subject as s on s.subject_id = b.subject_id
        where b.width >= least($4, 600) or $5
        order by 1, 4 $sql$, rows_of)
        using ids, first_at, last_at, width, $6 is null, span;
end
$$;
