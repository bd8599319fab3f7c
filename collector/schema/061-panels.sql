-- SPDX-License-Identifier: GPL-2.0-or-later
-- What panels draw, in steps of time. Steps are never shorter than what a tier's rows stand for, and neither the step
-- that is not over yet nor the last minute, which agents and rollups still fill, is shown as a fall. Lists of names are
-- exact; null, or a null among them, is all.

create function unblend.step_for(since timestamptz, until timestamptz, step interval) returns double precision
language sql stable parallel safe as $$
    select greatest(1, ceil(extract(epoch from $3)::double precision / unit)) * unit
    from (select case unblend.tier_for($1, $2) when '1m' then 60 else 3600 end::double precision as unit offset 0) as u
$$;
comment on function unblend.step_for(timestamptz, timestamptz, interval) is
    'How many seconds a step takes over a span: the one that is asked for, rounded up to whole minutes or hours, of which '
    'the span''s tier consists.';

create function unblend.subject_ids(subject text, clusters text[], names text[]) returns bigint[]
language sql stable parallel safe security definer set search_path = pg_catalog as $$
    select coalesce(array_agg(s.subject_id), '{}') from unblend.subject as s
    where s.subject = $1 and s.cluster = any($2)
      and ($3 is null or s.name = any($3) or array_position($3, null) is not null)
$$;
comment on function unblend.subject_ids(text, text[], text[]) is 'Subjects by their names; null among these is all.';

create function unblend.demand(subject text, clusters text[], names text[], since timestamptz, until timestamptz,
                               step interval)
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
    rows_of text;
begin
    rows_of := case tier when '1m' then 'unblend.demand_1m' else 'unblend.demand_1h' end;
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
comment on function unblend.demand(text, text[], text[], timestamptz, timestamptz, interval) is
    'demand(subject, clusters, names, since, until, step): sums of demand_by_minute or demand_by_hour, a row a step and '
    'name; seconds is what the step covers. Without a step (null) one row a name.';

create function unblend.operations(subject text, clusters text[], names text[], listed text[], since timestamptz,
                                   until timestamptz, step interval)
returns table ("time" timestamptz, seconds double precision, cluster text, name text, op text, class text, ops numeric,
               bytes numeric, errors numeric, latency_sum_ns numeric, sequential numeric, consecutive numeric,
               random numeric)
language plpgsql stable security definer set search_path = pg_catalog set jit = off set work_mem = '64MB' as $$
#variable_conflict use_column
declare
    ids constant bigint[] := unblend.subject_ids($1, $2, $3);
    wanted constant unblend.operation[] := coalesce($4::unblend.operation[], enum_range(null::unblend.operation));
    width constant double precision := coalesce(unblend.step_for($5, $6, $7), 1e9);
    last_at constant timestamptz := least($6, now() - interval '1 minute');
    first_at constant timestamptz := case when $7 is null then $5
        else to_timestamp(floor(extract(epoch from $5)::double precision / width) * width) end;
    span constant double precision := extract(epoch from last_at - first_at);
begin
    return query execute format($sql$
        select b.at, b.width, s.cluster, s.name, b.op::text, unblend.operation_class(b.op), b.ops, b.bytes, b.errors,
               b.latency, b.sequential, b.consecutive, b.random
        from (select case when $5 then $2
                     else to_timestamp(floor(extract(epoch from t.time)::double precision / $4) * $4) end as at,
                     t.subject_id, t.op, sum(t.ops) as ops, sum(t.bytes) as bytes, sum(t.errors) as errors,
                     sum(t.latency_sum_ns) as latency, sum(t.sequential) as sequential,
                     sum(t.consecutive) as consecutive, sum(t.random) as random
              from %s as t where t.subject_id = any($1) and t.op = any($7) and t.time >= $2 and t.time < $3
              group by 1, 2, 3) as t
        cross join lateral (select t.*, case when $5 then $6 else
            least($4, extract(epoch from $3 - t.at)::double precision) end as width) as b
        join unblend.subject as s on s.subject_id = b.subject_id
        where b.width >= least($4, 600) or $5
        order by 1, 4, b.op $sql$,
        case unblend.tier_for($5, $6) when '1m' then 'unblend.total_1m' else 'unblend.total_1h' end)
        using ids, first_at, last_at, width, $7 is null, span, wanted;
end
$$;
comment on function unblend.operations(text, text[], text[], text[], timestamptz, timestamptz, interval) is
    'operations(subject, clusters, names, listed, since, until, step): sums of totals_1m or totals_1h, a row a step, name and '
    'operation; listed names operations, and null is all. Without a step (null) one row a name and operation.';

create function unblend.cells(subject text, clusters text[], names text[], listed text[], metric text, since timestamptz,
                              until timestamptz, step interval, by text)
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
        select t.at, t.part, c.bucket, sum(c.count::double precision)
        from (select case when $5 then $2
                     else to_timestamp(floor(extract(epoch from t.time)::double precision / $4) * $4) end as at,
                     %s as part, t.%I as buckets, t.%I as counts
              from %s as t where t.subject_id = any($1) and t.op = any($6) and t.time >= $2 and t.time < $3
              offset 0) as t
        cross join lateral unnest(t.buckets, t.counts) as c (bucket, count)
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

create function unblend.quantiles(subject text, clusters text[], names text[], listed text[], metric text,
                                  since timestamptz, until timestamptz, step interval, q double precision[], by text)
returns table ("time" timestamptz, part text, quantile double precision, value numeric)
language sql stable set jit = off set work_mem = '64MB' as $$
    with ranked as (
        select c.time, c.part, c.bucket, sum(c.count) over (partition by c.time, c.part order by c.bucket) as upto,
               sum(c.count) over (partition by c.time, c.part) as total
        from unblend.cells($1, $2, $3, $4, $5, $6, $7, $8, $10) as c
    )
    select r.time, r.part, asked.q, unblend.bucket_lower(min(r.bucket))
    from ranked as r cross join unnest($9) as asked (q)
    where r.upto >= greatest(1, ceil(asked.q * r.total))
    group by r.time, r.part, asked.q order by 1, 2, 3
$$;
comment on function unblend.quantiles(text, text[], text[], text[], text, timestamptz, timestamptz, interval,
                                      double precision[], text) is
    'Nearest-rank quantiles over time, a row a step, part and quantile. Arguments as for cells().';

create function unblend.series(clusters text[], nodes text[], jobs text[], since timestamptz, until timestamptz,
                               step interval, by text)
returns table ("time" timestamptz, seconds double precision, part text, read_ops numeric, write_ops numeric,
               metadata_ops numeric, read_bytes numeric, write_bytes numeric, errors numeric, latency_sum_ns numeric,
               in_flight numeric, oldest_ns bigint, cache_hit_bytes numeric, cache_miss_bytes numeric)
language plpgsql stable security definer set search_path = pg_catalog set jit = off set work_mem = '64MB' as $$
#variable_conflict use_column
declare
    width constant double precision := coalesce(unblend.step_for($4, $5, $6), 1e9);
    last_at constant timestamptz := least($5, now() - interval '1 minute');
    first_at constant timestamptz := case when $6 is null then $4
        else to_timestamp(floor(extract(epoch from $4)::double precision / width) * width) end;
    span constant double precision := extract(epoch from last_at - first_at);
    job_ids constant bigint[] := case when $3 is not null then array(
        select j.job_id from unblend.job as j join unblend.node as n using (node_id)
        where n.cluster = any($1) and j.job = any($3) and ($2 is null or n.node = any($2))) end;
    node_ids constant integer[] := case when $3 is null
        then array(select n.node_id from unblend.node as n where n.cluster = any($1) and n.node = any($2))
        else array(select distinct j.node_id from unblend.job as j where j.job_id = any(job_ids)) end;
begin
    return query execute format($sql$
        select b.at, b.width, b.part, b.read_ops, b.write_ops, b.metadata_ops, b.read_bytes, b.write_bytes, b.errors,
               b.latency, b.in_flight, b.oldest, b.hit, b.miss
        from (select s.at, %s as part, sum(s.ops) filter (where s.op = 'read') as read_ops,
                     sum(s.ops) filter (where s.op = 'write') as write_ops,
                     sum(s.ops) filter (where unblend.operation_class(s.op) = 'metadata') as metadata_ops,
                     sum(s.bytes) filter (where s.op = 'read') as read_bytes,
                     sum(s.bytes) filter (where s.op = 'write') as write_bytes, sum(s.errors) as errors,
                     sum(s.latency) as latency, sum(s.in_flight) as in_flight, max(s.oldest_ns) as oldest,
                     sum(s.hit) as hit, sum(s.miss) as miss
              from (select case when $5 then $2
                           else to_timestamp(floor(extract(epoch from s.time)::double precision / $4) * $4) end as at,
                           s.node_id, s.job_id, s.volume_id, s.op, sum(s.ops) as ops, sum(s.bytes) as bytes,
                           sum(s.errors) as errors, sum(s.latency_sum_ns) as latency, max(s.in_flight) as in_flight,
                           max(s.oldest_ns) as oldest_ns, sum(s.cache_hit_bytes) as hit, sum(s.cache_miss_bytes) as miss
                    from %s as s
                    where s.node_id = any($7) and s.time >= $2 and s.time < $3 and ($8 is null or s.job_id = any($8))
                      and s.op not in ('block_read', 'block_write', 'block_flush', 'block_discard')
                    group by 1, 2, 3, 4, 5) as s
              left join unblend.node as n using (node_id) left join unblend.job as j using (job_id)
              left join unblend.volume as v using (volume_id)
              group by 1, 2) as s
        cross join lateral (select s.*, case when $5 then $6 else
            least($4, extract(epoch from $3 - s.at)::double precision) end as width) as b
        where b.width >= least($4, 600) or $5
        order by 1, 3 $sql$,
        case $7 when 'node' then 'n.node' when 'job' then 'j.job' when 'volume' then 'v.volume' when 'op' then 's.op::text'
                else '''''::text' end,
        case unblend.tier_for($4, $5) when '1m' then 'unblend.sample_1m' else 'unblend.sample_1h' end)
        using null::integer, first_at, last_at, width, $6 is null, span, node_ids, job_ids;
end
$$;
comment on function unblend.series(text[], text[], text[], timestamptz, timestamptz, interval, text) is
    'series(clusters, nodes, jobs, since, until, step, by): sums of samples_1m or samples_1h of some nodes, or of some jobs '
    'wherever they run, a row a step and node, job, volume or op as by says. nodes or jobs may be null. in_flight is the '
    'most at the end of a step''s intervals.';

-- A node's minutes and hours, without reading those of all.
create index batch_1m_node on unblend.batch_1m (node_id, time);
create index batch_1h_node on unblend.batch_1h (node_id, time);

create function unblend.coverage(clusters text[], nodes text[], since timestamptz, until timestamptz, step interval)
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
    last_at constant timestamptz := least($4, now() - interval '1 minute');
    first_at constant timestamptz := case when $5 is null then $3
        else to_timestamp(floor(extract(epoch from $3)::double precision / width) * width) end;
    span constant double precision := extract(epoch from last_at - first_at);
    ids constant integer[] := array(select n.node_id from unblend.node as n
                                    where n.cluster = any($1) and ($2 is null or n.node = any($2)));
begin
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
comment on function unblend.coverage(text[], text[], timestamptz, timestamptz, interval) is
    'coverage(clusters, nodes, since, until, step): what was watched of nodes, out of intervals_1m or intervals_1h: how many '
    'nodes, for how long all together, what could not be seen, and for how long less was watched to save cost. nodes null is '
    'all.';
