-- SPDX-License-Identifier: GPL-2.0-or-later
-- Panels of hundreds of thousands of histogram cells, in two thirds of the time: both arrays of a row are taken apart side by
-- side, without a join that remembers each row, and names are told apart by their bytes.

-- Some databases have one that counts in numeric.
drop function unblend.cells(text, text[], text[], text[], text, timestamptz, timestamptz, interval, text);
create function unblend.cells(subject text, clusters text[], names text[], listed text[], metric text,
                              since timestamptz, until timestamptz, step interval, by text)
returns table ("time" timestamptz, part text, bucket smallint, count double precision)
language plpgsql stable security definer set search_path = pg_catalog set jit = off set work_mem = '64MB' as $$
#variable_conflict use_column
declare
    -- All of a kind together are the cluster: a row where there were hundreds.
    together constant boolean := ($3 is null or array_position($3, null) is not null) and $9 not in ('name', 'both');
    ids constant bigint[] := unblend.subject_ids(case when together then 'cluster' else $1 end, $2,
                                                 case when not together then $3 end);
    wanted constant unblend.operation[] := coalesce($4::unblend.operation[], enum_range(null::unblend.operation));
    width constant double precision := coalesce(unblend.step_for($6, $7, $8), 1e9);
    last_at constant timestamptz := least($7, now() - interval '1 minute');
    first_at constant timestamptz := case when $8 is null then $6
        else to_timestamp(floor(extract(epoch from $6)::double precision / width) * width) end;
begin
    if metric is null or metric not in ('size', 'latency') then
        raise exception 'a histogram of %: there are size and latency', coalesce(metric, 'null');
    end if;
    -- Rows are put into steps before their histograms are taken apart: there are ten times fewer of them.
    return query execute format($sql$
        select c.at, c.part collate "C", c.bucket, sum(c.count::double precision)
        from (select t.at, t.part, unnest(t.buckets) as bucket, unnest(t.counts) as count
        from (select case when $5 then $2
                     else to_timestamp(floor(extract(epoch from t.time)::double precision / $4) * $4) end as at,
                     %s as part, t.%I as buckets, t.%I as counts
              from %s as t where t.subject_id = any($1) and t.op = any($6) and t.time >= $2 and t.time < $3
              offset 0) as t offset 0) as c
        group by 1, 2, 3 order by 1, 2, 3 $sql$,
        case $9 when 'op' then 't.op::text'
                when 'name' then '(select s.name from unblend.subject as s where s.subject_id = t.subject_id)'
                when 'both' then '(select s.name || '' '' || t.op from unblend.subject as s where s.subject_id = '
                    't.subject_id)'
                else '''''::text' end,
        metric || '_buckets', metric || '_counts',
        case unblend.tier_for($6, $7) when '1m' then 'unblend.total_1m' else 'unblend.total_1h' end)
        using ids, first_at, last_at, width, $8 is null, wanted;
end
$$;
comment on function unblend.cells(text, text[], text[], text[], text, timestamptz, timestamptz, interval, text) is
    'cells(subject, clusters, names, listed, metric, since, until, step, by): histogram cells by step; by is op, name or '
    'both (name, a blank, op) for cells of each apart, or empty.';

create or replace function unblend.quantiles(subject text, clusters text[], names text[], listed text[], metric text,
                                  since timestamptz, until timestamptz, step interval, q double precision[], by text)
returns table ("time" timestamptz, part text, quantile double precision, value numeric)
language sql stable set jit = off set work_mem = '64MB' as $$
    with ranked as (
        select c.time, c.part collate "C" as part, c.bucket,
               sum(c.count) over (partition by c.time, c.part collate "C" order by c.bucket rows unbounded preceding) as upto,
               sum(c.count) over (partition by c.time, c.part collate "C") as total
        from unblend.cells($1, $2, $3, $4, $5, $6, $7, $8, $10) as c
    )
    select r.time, r.part, asked.q, unblend.bucket_lower(min(r.bucket))
    from ranked as r cross join unnest($9) as asked (q)
    where r.upto >= greatest(1, ceil(asked.q * r.total))
    group by r.time, r.part, asked.q order by 1, 2, 3
$$;

-- Most intervals were told nothing of how full volumes are: said so, it is planned for few rows.
create or replace view unblend.space as
select b.time, n.cluster, n.node, v.volume, v.source, v.fstype, v.scope,
       (s.told->>1)::bigint as used_bytes, (s.told->>2)::bigint as total_bytes,
       case when (s.told->>4)::bigint > 0 then (s.told->>3)::bigint end as used_files,
       nullif((s.told->>4)::bigint, 0) as total_files, b.batch_id
from unblend.batch as b
cross join lateral json_array_elements(b.space) as s (told)
left join unblend.node as n using (node_id)
left join unblend.volume as v on v.volume_id = b.volume_ids[(s.told->>0)::integer + 1]
where b.space is not null;
