
SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
CREATE SCHEMA unblend;
CREATE TYPE unblend.operation AS ENUM (
    'read',
    'write',
    'open',
    'close',
    'stat',
    'seek',
    'readdir',
    'create',
    'unlink',
    'rename',
    'mkdir',
    'truncate',
    'setattr',
    'fsync',
    'mmap_fault',
    'block_read',
    'block_write',
    'block_flush',
    'block_discard'
);
CREATE FUNCTION unblend.bucket_lower(bucket integer) RETURNS numeric
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
    select case when bucket < 16 then bucket
                when bucket < 488 then (8 + (bucket & 7))::bigint << ((bucket >> 3) - 1)
                else trunc((8 + (bucket & 7)) * 2::numeric ^ ((bucket >> 3) - 1)) end
$$;
COMMENT ON FUNCTION unblend.bucket_lower(bucket integer) IS 'The smallest value (bytes or ns) of a histogram bucket; the next bucket''s is its upper, exclusive bound.';
CREATE FUNCTION unblend.burst_quantiles(clusters text[], jobs text[], since timestamp with time zone, until timestamp with time zone, q double precision[]) RETURNS TABLE(class text, bursts boolean, quantile double precision, value numeric, count numeric)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog'
    AS $_$
    with chosen as (
        select f.data_burst, f.data_steady, f.metadata_burst, f.metadata_steady
        from unblend.flow as f
        where f.time >= $3 and f.time < $4 and f.job_id = any(array(
            select j.job_id from unblend.job as j join unblend.node as n using (node_id)
            where n.cluster = any($1) and j.job = any($2)))
    ),
    part as (
        select 'data' as class, true as bursts, data_burst as histogram from chosen
        union all select 'data', false, data_steady from chosen
        union all select 'metadata', true, metadata_burst from chosen
        union all select 'metadata', false, metadata_steady from chosen
    ),
    cell as (
        select h.class, h.bursts, c.bucket, sum(c.count * h.times) as count
        from (select class, bursts, histogram, count(*) as times from part where length(histogram) > 0
              group by 1, 2, 3) as h, unblend.histogram_cells(h.histogram) as c
        group by 1, 2, 3
    ),
    ranked as (
        select class, bursts, bucket, sum(count) over (partition by class, bursts order by bucket) as upto,
               sum(count) over (partition by class, bursts) as total from cell
    )
    select r.class, r.bursts, asked.q, unblend.bucket_lower(min(r.bucket)), max(r.total)
    from ranked as r cross join unnest($5) as asked (q)
    where r.upto >= greatest(1, ceil(asked.q::numeric * r.total))
    group by 1, 2, 3 order by 1, 2, 3
$_$;
COMMENT ON FUNCTION unblend.burst_quantiles(clusters text[], jobs text[], since timestamp with time zone, until timestamp with time zone, q double precision[]) IS 'burst_quantiles(clusters, jobs, since, until, q): latencies of operations that ended in bursts, and of the others; class is data or metadata, count how many they were. Octaves: a value is its octave''s lower bound.';
CREATE FUNCTION unblend.cells(subject text, cluster text, name text, op text, metric text, since timestamp with time zone, until timestamp with time zone) RETURNS TABLE("time" timestamp with time zone, bucket integer, count bigint)
    LANGUAGE sql STABLE SECURITY DEFINER ROWS 10000 PARALLEL SAFE
    SET search_path TO 'pg_catalog'
    AS $_$
    with chosen as (
        select s.subject_id from unblend.subject as s
        where s.subject = $1 and s.cluster like $2 and s.name like $3
    )
    select t.time, c.bucket, c.count from unblend.total_1m as t, unnest(
        case $5 when 'size' then t.size_buckets when 'latency' then t.latency_buckets end,
        case $5 when 'size' then t.size_counts when 'latency' then t.latency_counts end) as c(bucket, count)
    where unblend.tier_for($6, $7) = '1m' and t.subject_id in (select subject_id from chosen)
      and t.op = $4::unblend.operation and t.time >= $6 and t.time < $7
    union all
    select t.time, c.bucket, c.count from unblend.total_1h as t, unnest(
        case $5 when 'size' then t.size_buckets when 'latency' then t.latency_buckets end,
        case $5 when 'size' then t.size_counts when 'latency' then t.latency_counts end) as c(bucket, count)
    where unblend.tier_for($6, $7) = '1h' and t.subject_id in (select subject_id from chosen)
      and t.op = $4::unblend.operation and t.time >= $6 and t.time < $7
$_$;
COMMENT ON FUNCTION unblend.cells(subject text, cluster text, name text, op text, metric text, since timestamp with time zone, until timestamp with time zone) IS 'Histogram cells over time: cells(subject, cluster, name, op, metric, since, until) with subject cluster, node, job or volume, cluster and name as patterns of LIKE, and metric size or latency.';
CREATE FUNCTION unblend.cells(subject text, clusters text[], names text[], listed text[], metric text, since timestamp with time zone, until timestamp with time zone, step interval, by text) RETURNS TABLE("time" timestamp with time zone, part text, bucket smallint, count numeric)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog'
    AS $_$
#variable_conflict use_column
declare
    ids constant bigint[] := unblend.subject_ids($1, $2, $3);
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
        select t.at, t.part, c.bucket, sum(c.count)
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
$_$;
COMMENT ON FUNCTION unblend.cells(subject text, clusters text[], names text[], listed text[], metric text, since timestamp with time zone, until timestamp with time zone, step interval, by text) IS 'cells(subject, clusters, names, listed, metric, since, until, step, by): histogram cells by step; by is op, name or both (name, a blank, op) for cells of each apart, or empty.';
CREATE FUNCTION unblend.demand(subject text, clusters text[], names text[], since timestamp with time zone, until timestamp with time zone, step interval) RETURNS TABLE("time" timestamp with time zone, seconds double precision, cluster text, name text, read_ops numeric, write_ops numeric, metadata_ops numeric, other_ops numeric, read_bytes numeric, write_bytes numeric, errors numeric, data_latency_ns numeric, metadata_latency_ns numeric)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog'
    AS $_$
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
$_$;
COMMENT ON FUNCTION unblend.demand(subject text, clusters text[], names text[], since timestamp with time zone, until timestamp with time zone, step interval) IS 'demand(subject, clusters, names, since, until, step): sums of demand_by_minute or demand_by_hour, a row a step and name; seconds is what the step covers. Without a step (null) one row a name.';
CREATE FUNCTION unblend.grant_reader(name text) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
    view_name text;
begin
    execute format('grant usage on schema unblend to %I', name);
    for view_name in select table_name from information_schema.views where table_schema = 'unblend' loop
        execute format('grant select on unblend.%I to %I', view_name, name);
    end loop;
end
$$;
COMMENT ON FUNCTION unblend.grant_reader(name text) IS 'Lets a role read the views, and nothing else.';
CREATE FUNCTION unblend.grant_writer(name text) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
    execute format('grant usage on schema unblend to %I', name);
    execute format('grant select, insert, update, delete on all tables in schema unblend to %I', name);
    execute format('revoke insert, update, delete on unblend.migration from %I', name);
    execute format('grant usage on all sequences in schema unblend to %I', name);
    execute format('alter default privileges in schema unblend grant select, insert, update, delete on tables to %I', name);
    execute format('alter default privileges in schema unblend grant usage on sequences to %I', name);
end
$$;
COMMENT ON FUNCTION unblend.grant_writer(name text) IS 'Lets a role write what collectors write.';
CREATE FUNCTION unblend.heatmap(subject text, cluster text, name text, op text, metric text, since timestamp with time zone, until timestamp with time zone, step interval) RETURNS TABLE("time" timestamp with time zone, lower numeric, upper numeric, count bigint)
    LANGUAGE sql STABLE ROWS 5000 PARALLEL SAFE
    AS $_$
    select summed.at, unblend.bucket_lower(summed.bucket), unblend.bucket_lower(summed.bucket + 1), summed.count
    from (select to_timestamp(floor(extract(epoch from c.time) / extract(epoch from $8)) * extract(epoch from $8)) as at,
                 c.bucket, sum(c.count)::bigint as count
          from unblend.cells($1, $2, $3, $4, $5, $6, $7) as c group by 1, 2) as summed
    order by 1, 2
$_$;
COMMENT ON FUNCTION unblend.heatmap(subject text, cluster text, name text, op text, metric text, since timestamp with time zone, until timestamp with time zone, step interval) IS 'A heatmap: how many values lay in each bucket, from lower up to but not with upper, in each step of time. Arguments as for cells().';
CREATE FUNCTION unblend.histogram_cells(histogram bytea) RETURNS TABLE(bucket integer, count bigint)
    LANGUAGE plpgsql IMMUTABLE STRICT ROWS 12 PARALLEL SAFE
    AS $$
declare
    value bigint := 0;
    shift integer := 0;
    octet integer;
    is_count boolean := false;
begin
    bucket := 0;
    for i in 0 .. length(histogram) - 1 loop
        octet := get_byte(histogram, i);
        value := value | ((octet & 127)::bigint << shift);
        if octet >= 128 then
            shift := shift + 7;
            continue;
        end if;
        if is_count then
            count := value;
            return next;
        else
            bucket := bucket + value;
        end if;
        is_count := not is_count;
        value := 0;
        shift := 0;
    end loop;
end
$$;
COMMENT ON FUNCTION unblend.histogram_cells(histogram bytea) IS 'The buckets of a histogram that are in use, with their counts.';
CREATE FUNCTION unblend.histogram_merge(histograms bytea[]) RETURNS TABLE(bucket integer, count bigint)
    LANGUAGE sql IMMUTABLE STRICT ROWS 50 PARALLEL SAFE
    AS $$
    -- equal histograms are decoded once
    select cell.bucket, sum(cell.count * h.times)::bigint
    from (select bytes, count(*) as times from unnest(histograms) as bytes group by bytes) as h
    cross join lateral unblend.histogram_cells(h.bytes) as cell
    group by cell.bucket
    order by cell.bucket
$$;
COMMENT ON FUNCTION unblend.histogram_merge(histograms bytea[]) IS 'The sum of many histograms: histogram_merge(array_agg(latency)).';
CREATE FUNCTION unblend.histogram_quantile(histograms bytea[], q double precision) RETURNS numeric
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
    with cell as (select * from unblend.histogram_merge(histograms)),
    ranked as (
        select bucket, sum(count) over (order by bucket) as upto, sum(count) over () as total from cell
    )
    select unblend.bucket_lower(min(bucket)) from ranked
    where upto >= greatest(1, ceil(q::numeric * total))
$$;
COMMENT ON FUNCTION unblend.histogram_quantile(histograms bytea[], q double precision) IS 'Nearest-rank quantile of many histograms, as its bucket''s lower bound: histogram_quantile(array_agg(latency), 0.99). Null when there is nothing to rank.';
CREATE FUNCTION unblend.histogram_quantile(buckets smallint[], counts bigint[], q double precision) RETURNS numeric
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
    select unblend.bucket_lower(min(bucket)) from (
        select bucket, sum(count) over (order by bucket) as upto, sum(count) over () as total
        from (select cell.bucket, sum(cell.count) as count from unnest(buckets, counts) as cell(bucket, count)
              group by cell.bucket) as summed) as ranked
    where upto >= greatest(1, ceil(q::numeric * total))
$$;
COMMENT ON FUNCTION unblend.histogram_quantile(buckets smallint[], counts bigint[], q double precision) IS 'Nearest-rank quantile of a histogram in arrays, as its bucket''s lower bound; buckets may come more than once.';
CREATE FUNCTION unblend.operation_class(op unblend.operation) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
    select case
        when op in ('read', 'write') then 'data'
        when op = 'seek' then 'seek'
        when op = 'fsync' then 'sync'
        when op = 'mmap_fault' then 'fault'
        when op in ('block_read', 'block_write', 'block_flush', 'block_discard') then 'block'
        else 'metadata' end
$$;
COMMENT ON FUNCTION unblend.operation_class(op unblend.operation) IS 'data, metadata, seek, sync, fault or block.';
CREATE FUNCTION unblend.operations(subject text, clusters text[], names text[], listed text[], since timestamp with time zone, until timestamp with time zone, step interval) RETURNS TABLE("time" timestamp with time zone, seconds double precision, cluster text, name text, op text, class text, ops numeric, bytes numeric, errors numeric, latency_sum_ns numeric, sequential numeric, consecutive numeric, random numeric)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog'
    AS $_$
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
$_$;
COMMENT ON FUNCTION unblend.operations(subject text, clusters text[], names text[], listed text[], since timestamp with time zone, until timestamp with time zone, step interval) IS 'operations(subject, clusters, names, listed, since, until, step): sums of totals_1m or totals_1h, a row a step, name and operation; listed names operations, and null is all. Without a step (null) one row a name and operation.';
CREATE FUNCTION unblend.quantiles(subject text, cluster text, name text, op text, metric text, since timestamp with time zone, until timestamp with time zone, step interval, q double precision[]) RETURNS TABLE("time" timestamp with time zone, quantile double precision, value numeric)
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $_$
    with cell as (
        select to_timestamp(floor(extract(epoch from c.time) / extract(epoch from $8)) * extract(epoch from $8)) as at,
               c.bucket, sum(c.count) as count
        from unblend.cells($1, $2, $3, $4, $5, $6, $7) as c group by 1, 2
    ),
    ranked as (
        select at, bucket, sum(count) over (partition by at order by bucket) as upto,
               sum(count) over (partition by at) as total from cell
    )
    select r.at, asked.q, unblend.bucket_lower(min(r.bucket))
    from ranked as r cross join unnest($9) as asked(q)
    where r.upto >= greatest(1, ceil(asked.q::numeric * r.total))
    group by r.at, asked.q order by 1, 2
$_$;
COMMENT ON FUNCTION unblend.quantiles(subject text, cluster text, name text, op text, metric text, since timestamp with time zone, until timestamp with time zone, step interval, q double precision[]) IS 'Nearest-rank quantiles over time: one row a step and quantile. Arguments as for cells().';
CREATE FUNCTION unblend.quantiles(subject text, clusters text[], names text[], listed text[], metric text, since timestamp with time zone, until timestamp with time zone, step interval, q double precision[], by text) RETURNS TABLE("time" timestamp with time zone, part text, quantile double precision, value numeric)
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $_$
    with ranked as (
        select c.time, c.part, c.bucket, sum(c.count) over (partition by c.time, c.part order by c.bucket) as upto,
               sum(c.count) over (partition by c.time, c.part) as total
        from unblend.cells($1, $2, $3, $4, $5, $6, $7, $8, $10) as c
    )
    select r.time, r.part, asked.q, unblend.bucket_lower(min(r.bucket))
    from ranked as r cross join unnest($9) as asked (q)
    where r.upto >= greatest(1, ceil(asked.q::numeric * r.total))
    group by r.time, r.part, asked.q order by 1, 2, 3
$_$;
COMMENT ON FUNCTION unblend.quantiles(subject text, clusters text[], names text[], listed text[], metric text, since timestamp with time zone, until timestamp with time zone, step interval, q double precision[], by text) IS 'Nearest-rank quantiles over time, a row a step, part and quantile. Arguments as for cells().';
CREATE FUNCTION unblend.series(clusters text[], nodes text[], jobs text[], since timestamp with time zone, until timestamp with time zone, step interval, by text) RETURNS TABLE("time" timestamp with time zone, seconds double precision, part text, read_ops numeric, write_ops numeric, metadata_ops numeric, read_bytes numeric, write_bytes numeric, errors numeric, latency_sum_ns numeric, in_flight numeric, oldest_ns bigint, cache_hit_bytes numeric, cache_miss_bytes numeric)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog'
    AS $_$
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
$_$;
COMMENT ON FUNCTION unblend.series(clusters text[], nodes text[], jobs text[], since timestamp with time zone, until timestamp with time zone, step interval, by text) IS 'series(clusters, nodes, jobs, since, until, step, by): sums of samples_1m or samples_1h of some nodes, or of some jobs wherever they run, a row a step and node, job, volume or op as by says. nodes or jobs may be null. in_flight is the most at the end of a step''s intervals.';
CREATE FUNCTION unblend.slot_values(first_slot bigint, runs bytea) RETURNS TABLE(slot bigint, value bigint)
    LANGUAGE plpgsql IMMUTABLE STRICT ROWS 100 PARALLEL SAFE
    AS $$
declare
    number bigint := 0;
    shift integer := 0;
    octet integer;
    is_times boolean := false;
begin
    slot := first_slot;
    for i in 0 .. length(runs) - 1 loop
        octet := get_byte(runs, i);
        number := number | ((octet & 127)::bigint << shift);
        if octet >= 128 then
            shift := shift + 7;
            continue;
        end if;
        if is_times then
            for k in 1 .. number loop
                return next;
                slot := slot + 1;
            end loop;
        else
            value := number;
        end if;
        is_times := not is_times;
        number := 0;
        shift := 0;
    end loop;
end
$$;
COMMENT ON FUNCTION unblend.slot_values(first_slot bigint, runs bytea) IS 'A flow''s demand slot by slot: slot_values(first_slot, read_bytes). A slot starts slot * 100 ms after 1970; empty when there was no such demand.';
CREATE FUNCTION unblend.step_for(since timestamp with time zone, until timestamp with time zone, step interval) RETURNS double precision
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $_$
    select greatest(1, ceil(extract(epoch from $3)::double precision / unit)) * unit
    from (select case unblend.tier_for($1, $2) when '1m' then 60 else 3600 end::double precision as unit offset 0) as u
$_$;
COMMENT ON FUNCTION unblend.step_for(since timestamp with time zone, until timestamp with time zone, step interval) IS 'How many seconds a step takes over a span: the one that is asked for, rounded up to whole minutes or hours, of which the span''s tier consists.';
CREATE FUNCTION unblend.subject_ids(subject text, clusters text[], names text[]) RETURNS bigint[]
    LANGUAGE sql STABLE SECURITY DEFINER PARALLEL SAFE
    SET search_path TO 'pg_catalog'
    AS $_$
    select coalesce(array_agg(s.subject_id), '{}') from unblend.subject as s
    where s.subject = $1 and s.cluster = any($2)
      and ($3 is null or s.name = any($3) or array_position($3, null) is not null)
$_$;
COMMENT ON FUNCTION unblend.subject_ids(subject text, clusters text[], names text[]) IS 'Subjects by their names; null among these is all.';
CREATE FUNCTION unblend.tier_for(since timestamp with time zone, until timestamp with time zone) RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER PARALLEL SAFE
    SET search_path TO 'pg_catalog'
    AS $_$
    select case when $2 - $1 <= interval '36 hours' and $1 >= (select t.since from unblend.tier as t where tier = '1m')
                then '1m' else '1h' end
$_$;
COMMENT ON FUNCTION unblend.tier_for(since timestamp with time zone, until timestamp with time zone) IS 'Where to read a span of time from: 1m for up to 36 hours of which all minutes are there, else 1h.';
CREATE FUNCTION unblend.timestamp_of(ns bigint) RETURNS timestamp with time zone
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
    select timestamptz '1970-01-01 00:00:00Z' + (ns / 1000) * interval '1 microsecond'
$$;
COMMENT ON FUNCTION unblend.timestamp_of(ns bigint) IS 'Nanoseconds since 1970 as a time, cut to microseconds.';
CREATE FUNCTION unblend.windows(clusters text[], jobs text[], metric text, since timestamp with time zone, until timestamp with time zone, width_ms integer) RETURNS TABLE("time" timestamp with time zone, value bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'pg_catalog'
    AS $_$
#variable_conflict use_column
declare
    slots constant bigint := greatest(1, $6 / 100);
    first constant bigint := floor(extract(epoch from $4) * 10 / greatest(1, $6 / 100))::bigint;
    size constant integer := least(1000000, floor(extract(epoch from $5) * 10 / greatest(1, $6 / 100))::bigint - first);
    sums bigint[] := array_fill(0::bigint, array[greatest(size, 1)]);
    ids constant bigint[] := array(select j.job_id from unblend.job as j join unblend.node as n using (node_id)
                                   where n.cluster = any($1) and j.job = any($2));
    flow record;
    runs bytea;
    slot bigint;
    stop bigint;
    upto bigint;
    number bigint;
    worth bigint;
    shift integer;
    octet integer;
    is_times boolean;
begin
    if $3 is null or $3 not in ('bytes', 'read_bytes', 'write_bytes', 'data_ops', 'metadata_ops') then
        raise exception 'windows of %: there are bytes, read_bytes, write_bytes, data_ops and metadata_ops',
            coalesce($3, 'null');
    end if;
    for flow in select f.first_slot, array[
                    case when $3 in ('bytes', 'read_bytes') then f.read_bytes end,
                    case when $3 in ('bytes', 'write_bytes') then f.write_bytes end,
                    case when $3 = 'data_ops' then f.read_ops end, case when $3 = 'data_ops' then f.write_ops end,
                    case when $3 = 'metadata_ops' then f.metadata_ops end] as demands
                from unblend.flow as f
                where f.time >= $4 - interval '1 minute' and f.time < $5 and f.job_id = any(ids) loop
        foreach runs in array flow.demands loop
            continue when runs is null;
            slot := flow.first_slot;
            number := 0;
            shift := 0;
            is_times := false;
            for i in 0 .. length(runs) - 1 loop
                octet := get_byte(runs, i);
                number := number | ((octet & 127)::bigint << shift);
                if octet >= 128 then
                    shift := shift + 7;
                    continue;
                end if;
                if not is_times then
                    worth := number;
                else
                    stop := slot + number;
                    while worth > 0 and slot < stop loop -- a window at a time
                        upto := least(stop, (slot / slots + 1) * slots);
                        if slot / slots >= first and slot / slots < first + size then
                            sums[slot / slots - first + 1] := sums[slot / slots - first + 1] + worth * (upto - slot);
                        end if;
                        slot := upto;
                    end loop;
                    slot := stop;
                end if;
                is_times := not is_times;
                number := 0;
                shift := 0;
            end loop;
        end loop;
    end loop;
    if size > 0 then
        return query select to_timestamp((first + w.i - 1) * slots / 10.0), w.value
                     from unnest(sums) with ordinality as w (value, i);
    end if;
end
$_$;
COMMENT ON FUNCTION unblend.windows(clusters text[], jobs text[], metric text, since timestamp with time zone, until timestamp with time zone, width_ms integer) IS 'windows(clusters, jobs, metric, since, until, width_ms): what jobs asked for, all nodes and volumes together, window by window, the empty ones too; at most a million of them. metric: bytes, read_bytes, write_bytes, data_ops or metadata_ops. Windows are whole multiples of 100 ms, aligned to the wall clock.';
CREATE SEQUENCE unblend.batch_id
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
SET default_tablespace = '';
CREATE TABLE unblend.batch (
    "time" timestamp with time zone NOT NULL,
    batch_id bigint DEFAULT nextval('unblend.batch_id'::regclass) NOT NULL,
    node_id integer NOT NULL,
    stream_id bigint NOT NULL,
    seq bigint NOT NULL,
    host_id bigint NOT NULL,
    start_ns bigint NOT NULL,
    duration_ns bigint NOT NULL,
    interval_ms bigint NOT NULL,
    lost bigint NOT NULL,
    killed bigint NOT NULL,
    in_flight bigint NOT NULL,
    unattributed bigint NOT NULL,
    overflow bigint NOT NULL,
    records integer NOT NULL,
    job_ids bigint[] NOT NULL,
    job_end_ns bigint[],
    job_exit integer[],
    volume_ids bigint[] NOT NULL,
    received timestamp with time zone DEFAULT now() NOT NULL,
    shed_ms bigint[] DEFAULT '{0,0,0}'::bigint[] NOT NULL,
    storage json
)
PARTITION BY RANGE ("time");
CREATE TABLE unblend.batch_1h (
    "time" timestamp with time zone NOT NULL,
    batch_id bigint DEFAULT nextval('unblend.batch_id'::regclass) NOT NULL,
    node_id integer NOT NULL,
    stream_id bigint NOT NULL,
    seq bigint NOT NULL,
    host_id bigint NOT NULL,
    start_ns bigint NOT NULL,
    duration_ns bigint NOT NULL,
    interval_ms bigint NOT NULL,
    lost bigint NOT NULL,
    killed bigint NOT NULL,
    in_flight bigint NOT NULL,
    unattributed bigint NOT NULL,
    overflow bigint NOT NULL,
    records integer NOT NULL,
    job_ids bigint[] NOT NULL,
    job_end_ns bigint[],
    job_exit integer[],
    volume_ids bigint[] NOT NULL,
    received timestamp with time zone DEFAULT now() NOT NULL,
    shed_ms bigint[] DEFAULT '{0,0,0}'::bigint[] NOT NULL
)
PARTITION BY RANGE ("time");
SET default_table_access_method = heap;
CREATE TABLE unblend.batch_1h_default (
    "time" timestamp with time zone NOT NULL,
    batch_id bigint DEFAULT nextval('unblend.batch_id'::regclass) NOT NULL,
    node_id integer NOT NULL,
    stream_id bigint NOT NULL,
    seq bigint NOT NULL,
    host_id bigint NOT NULL,
    start_ns bigint NOT NULL,
    duration_ns bigint NOT NULL,
    interval_ms bigint NOT NULL,
    lost bigint NOT NULL,
    killed bigint NOT NULL,
    in_flight bigint NOT NULL,
    unattributed bigint NOT NULL,
    overflow bigint NOT NULL,
    records integer NOT NULL,
    job_ids bigint[] NOT NULL,
    job_end_ns bigint[],
    job_exit integer[],
    volume_ids bigint[] NOT NULL,
    received timestamp with time zone DEFAULT now() NOT NULL,
    shed_ms bigint[] DEFAULT '{0,0,0}'::bigint[] NOT NULL
);
CREATE TABLE unblend.batch_1m (
    "time" timestamp with time zone NOT NULL,
    batch_id bigint DEFAULT nextval('unblend.batch_id'::regclass) NOT NULL,
    node_id integer NOT NULL,
    stream_id bigint NOT NULL,
    seq bigint NOT NULL,
    host_id bigint NOT NULL,
    start_ns bigint NOT NULL,
    duration_ns bigint NOT NULL,
    interval_ms bigint NOT NULL,
    lost bigint NOT NULL,
    killed bigint NOT NULL,
    in_flight bigint NOT NULL,
    unattributed bigint NOT NULL,
    overflow bigint NOT NULL,
    records integer NOT NULL,
    job_ids bigint[] NOT NULL,
    job_end_ns bigint[],
    job_exit integer[],
    volume_ids bigint[] NOT NULL,
    received timestamp with time zone DEFAULT now() NOT NULL,
    shed_ms bigint[] DEFAULT '{0,0,0}'::bigint[] NOT NULL
)
PARTITION BY RANGE ("time");
CREATE TABLE unblend.batch_1m_default (
    "time" timestamp with time zone NOT NULL,
    batch_id bigint DEFAULT nextval('unblend.batch_id'::regclass) NOT NULL,
    node_id integer NOT NULL,
    stream_id bigint NOT NULL,
    seq bigint NOT NULL,
    host_id bigint NOT NULL,
    start_ns bigint NOT NULL,
    duration_ns bigint NOT NULL,
    interval_ms bigint NOT NULL,
    lost bigint NOT NULL,
    killed bigint NOT NULL,
    in_flight bigint NOT NULL,
    unattributed bigint NOT NULL,
    overflow bigint NOT NULL,
    records integer NOT NULL,
    job_ids bigint[] NOT NULL,
    job_end_ns bigint[],
    job_exit integer[],
    volume_ids bigint[] NOT NULL,
    received timestamp with time zone DEFAULT now() NOT NULL,
    shed_ms bigint[] DEFAULT '{0,0,0}'::bigint[] NOT NULL
);
CREATE TABLE unblend.batch_2026112118 (
    "time" timestamp with time zone NOT NULL,
    batch_id bigint DEFAULT nextval('unblend.batch_id'::regclass) NOT NULL,
    node_id integer NOT NULL,
    stream_id bigint NOT NULL,
    seq bigint NOT NULL,
    host_id bigint NOT NULL,
    start_ns bigint NOT NULL,
    duration_ns bigint NOT NULL,
    interval_ms bigint NOT NULL,
    lost bigint NOT NULL,
    killed bigint NOT NULL,
    in_flight bigint NOT NULL,
    unattributed bigint NOT NULL,
    overflow bigint NOT NULL,
    records integer NOT NULL,
    job_ids bigint[] NOT NULL,
    job_end_ns bigint[],
    job_exit integer[],
    volume_ids bigint[] NOT NULL,
    received timestamp with time zone DEFAULT now() NOT NULL,
    shed_ms bigint[] DEFAULT '{0,0,0}'::bigint[] NOT NULL,
    storage json
);
CREATE TABLE unblend.batch_2026112200 (
    "time" timestamp with time zone NOT NULL,
    batch_id bigint DEFAULT nextval('unblend.batch_id'::regclass) NOT NULL,
    node_id integer NOT NULL,
    stream_id bigint NOT NULL,
    seq bigint NOT NULL,
    host_id bigint NOT NULL,
    start_ns bigint NOT NULL,
    duration_ns bigint NOT NULL,
    interval_ms bigint NOT NULL,
    lost bigint NOT NULL,
    killed bigint NOT NULL,
    in_flight bigint NOT NULL,
    unattributed bigint NOT NULL,
    overflow bigint NOT NULL,
    records integer NOT NULL,
    job_ids bigint[] NOT NULL,
    job_end_ns bigint[],
    job_exit integer[],
    volume_ids bigint[] NOT NULL,
    received timestamp with time zone DEFAULT now() NOT NULL,
    shed_ms bigint[] DEFAULT '{0,0,0}'::bigint[] NOT NULL,
    storage json
);
CREATE TABLE unblend.batch_2026112206 (
    "time" timestamp with time zone NOT NULL,
    batch_id bigint DEFAULT nextval('unblend.batch_id'::regclass) NOT NULL,
    node_id integer NOT NULL,
    stream_id bigint NOT NULL,
    seq bigint NOT NULL,
    host_id bigint NOT NULL,
    start_ns bigint NOT NULL,
    duration_ns bigint NOT NULL,
    interval_ms bigint NOT NULL,
    lost bigint NOT NULL,
    killed bigint NOT NULL,
    in_flight bigint NOT NULL,
    unattributed bigint NOT NULL,
    overflow bigint NOT NULL,
    records integer NOT NULL,
    job_ids bigint[] NOT NULL,
    job_end_ns bigint[],
    job_exit integer[],
    volume_ids bigint[] NOT NULL,
    received timestamp with time zone DEFAULT now() NOT NULL,
    shed_ms bigint[] DEFAULT '{0,0,0}'::bigint[] NOT NULL,
    storage json
);
CREATE TABLE unblend.batch_2026112212 (
    "time" timestamp with time zone NOT NULL,
    batch_id bigint DEFAULT nextval('unblend.batch_id'::regclass) NOT NULL,
    node_id integer NOT NULL,
    stream_id bigint NOT NULL,
    seq bigint NOT NULL,
    host_id bigint NOT NULL,
    start_ns bigint NOT NULL,
    duration_ns bigint NOT NULL,
    interval_ms bigint NOT NULL,
    lost bigint NOT NULL,
    killed bigint NOT NULL,
    in_flight bigint NOT NULL,
    unattributed bigint NOT NULL,
    overflow bigint NOT NULL,
    records integer NOT NULL,
    job_ids bigint[] NOT NULL,
    job_end_ns bigint[],
    job_exit integer[],
    volume_ids bigint[] NOT NULL,
    received timestamp with time zone DEFAULT now() NOT NULL,
    shed_ms bigint[] DEFAULT '{0,0,0}'::bigint[] NOT NULL,
    storage json
);
CREATE TABLE unblend.batch_2026112218 (
    "time" timestamp with time zone NOT NULL,
    batch_id bigint DEFAULT nextval('unblend.batch_id'::regclass) NOT NULL,
    node_id integer NOT NULL,
    stream_id bigint NOT NULL,
    seq bigint NOT NULL,
    host_id bigint NOT NULL,
    start_ns bigint NOT NULL,
    duration_ns bigint NOT NULL,
    interval_ms bigint NOT NULL,
    lost bigint NOT NULL,
    killed bigint NOT NULL,
    in_flight bigint NOT NULL,
    unattributed bigint NOT NULL,
    overflow bigint NOT NULL,
    records integer NOT NULL,
    job_ids bigint[] NOT NULL,
    job_end_ns bigint[],
    job_exit integer[],
    volume_ids bigint[] NOT NULL,
    received timestamp with time zone DEFAULT now() NOT NULL,
    shed_ms bigint[] DEFAULT '{0,0,0}'::bigint[] NOT NULL,
    storage json
);
CREATE TABLE unblend.batch_2026112300 (
    "time" timestamp with time zone NOT NULL,
    batch_id bigint DEFAULT nextval('unblend.batch_id'::regclass) NOT NULL,
    node_id integer NOT NULL,
    stream_id bigint NOT NULL,
    seq bigint NOT NULL,
    host_id bigint NOT NULL,
    start_ns bigint NOT NULL,
    duration_ns bigint NOT NULL,
    interval_ms bigint NOT NULL,
    lost bigint NOT NULL,
    killed bigint NOT NULL,
    in_flight bigint NOT NULL,
    unattributed bigint NOT NULL,
    overflow bigint NOT NULL,
    records integer NOT NULL,
    job_ids bigint[] NOT NULL,
    job_end_ns bigint[],
    job_exit integer[],
    volume_ids bigint[] NOT NULL,
    received timestamp with time zone DEFAULT now() NOT NULL,
    shed_ms bigint[] DEFAULT '{0,0,0}'::bigint[] NOT NULL,
    storage json
);
CREATE TABLE unblend.batch_2026112306 (
    "time" timestamp with time zone NOT NULL,
    batch_id bigint DEFAULT nextval('unblend.batch_id'::regclass) NOT NULL,
    node_id integer NOT NULL,
    stream_id bigint NOT NULL,
    seq bigint NOT NULL,
    host_id bigint NOT NULL,
    start_ns bigint NOT NULL,
    duration_ns bigint NOT NULL,
    interval_ms bigint NOT NULL,
    lost bigint NOT NULL,
    killed bigint NOT NULL,
    in_flight bigint NOT NULL,
    unattributed bigint NOT NULL,
    overflow bigint NOT NULL,
    records integer NOT NULL,
    job_ids bigint[] NOT NULL,
    job_end_ns bigint[],
    job_exit integer[],
    volume_ids bigint[] NOT NULL,
    received timestamp with time zone DEFAULT now() NOT NULL,
    shed_ms bigint[] DEFAULT '{0,0,0}'::bigint[] NOT NULL,
    storage json
);
CREATE TABLE unblend.batch_default (
    "time" timestamp with time zone NOT NULL,
    batch_id bigint DEFAULT nextval('unblend.batch_id'::regclass) NOT NULL,
    node_id integer NOT NULL,
    stream_id bigint NOT NULL,
    seq bigint NOT NULL,
    host_id bigint NOT NULL,
    start_ns bigint NOT NULL,
    duration_ns bigint NOT NULL,
    interval_ms bigint NOT NULL,
    lost bigint NOT NULL,
    killed bigint NOT NULL,
    in_flight bigint NOT NULL,
    unattributed bigint NOT NULL,
    overflow bigint NOT NULL,
    records integer NOT NULL,
    job_ids bigint[] NOT NULL,
    job_end_ns bigint[],
    job_exit integer[],
    volume_ids bigint[] NOT NULL,
    received timestamp with time zone DEFAULT now() NOT NULL,
    shed_ms bigint[] DEFAULT '{0,0,0}'::bigint[] NOT NULL,
    storage json
);
CREATE TABLE unblend.demand_1h (
    "time" timestamp with time zone NOT NULL,
    subject_id bigint NOT NULL,
    read_ops bigint NOT NULL,
    write_ops bigint NOT NULL,
    metadata_ops bigint NOT NULL,
    other_ops bigint NOT NULL,
    read_bytes bigint NOT NULL,
    write_bytes bigint NOT NULL,
    errors bigint NOT NULL,
    data_latency_ns bigint NOT NULL,
    metadata_latency_ns bigint NOT NULL
)
PARTITION BY RANGE ("time");
CREATE TABLE unblend.demand_1h_default (
    "time" timestamp with time zone NOT NULL,
    subject_id bigint NOT NULL,
    read_ops bigint NOT NULL,
    write_ops bigint NOT NULL,
    metadata_ops bigint NOT NULL,
    other_ops bigint NOT NULL,
    read_bytes bigint NOT NULL,
    write_bytes bigint NOT NULL,
    errors bigint NOT NULL,
    data_latency_ns bigint NOT NULL,
    metadata_latency_ns bigint NOT NULL
);
CREATE TABLE unblend.demand_1m (
    "time" timestamp with time zone NOT NULL,
    subject_id bigint NOT NULL,
    read_ops bigint NOT NULL,
    write_ops bigint NOT NULL,
    metadata_ops bigint NOT NULL,
    other_ops bigint NOT NULL,
    read_bytes bigint NOT NULL,
    write_bytes bigint NOT NULL,
    errors bigint NOT NULL,
    data_latency_ns bigint NOT NULL,
    metadata_latency_ns bigint NOT NULL
)
PARTITION BY RANGE ("time");
CREATE TABLE unblend.demand_1m_default (
    "time" timestamp with time zone NOT NULL,
    subject_id bigint NOT NULL,
    read_ops bigint NOT NULL,
    write_ops bigint NOT NULL,
    metadata_ops bigint NOT NULL,
    other_ops bigint NOT NULL,
    read_bytes bigint NOT NULL,
    write_bytes bigint NOT NULL,
    errors bigint NOT NULL,
    data_latency_ns bigint NOT NULL,
    metadata_latency_ns bigint NOT NULL
);
CREATE TABLE unblend.subject (
    subject_id bigint NOT NULL,
    subject text NOT NULL,
    cluster text NOT NULL,
    name text NOT NULL,
    CONSTRAINT subject_subject_check CHECK ((subject = ANY (ARRAY['cluster'::text, 'node'::text, 'job'::text, 'volume'::text])))
);
CREATE VIEW unblend.demand_by_hour AS
 SELECT d."time",
    s.subject,
    s.cluster,
    s.name,
    d.read_ops,
    d.write_ops,
    d.metadata_ops,
    d.other_ops,
    d.read_bytes,
    d.write_bytes,
    d.errors,
    d.data_latency_ns,
    d.metadata_latency_ns,
    d.subject_id
   FROM (unblend.demand_1h d
     LEFT JOIN unblend.subject s USING (subject_id));
COMMENT ON VIEW unblend.demand_by_hour IS 'As demand_by_minute, by the hour.';
CREATE VIEW unblend.demand_by_minute AS
 SELECT d."time",
    s.subject,
    s.cluster,
    s.name,
    d.read_ops,
    d.write_ops,
    d.metadata_ops,
    d.other_ops,
    d.read_bytes,
    d.write_bytes,
    d.errors,
    d.data_latency_ns,
    d.metadata_latency_ns,
    d.subject_id
   FROM (unblend.demand_1m d
     LEFT JOIN unblend.subject s USING (subject_id));
COMMENT ON VIEW unblend.demand_by_minute IS 'One narrow row a minute and subject: operations and bytes of the file layer; other_ops are seek, fsync and mmap_fault, data_latency_ns is summed over reads and writes.';
CREATE TABLE unblend.dropped (
    node_id integer NOT NULL,
    stream_id bigint NOT NULL,
    first_seq bigint NOT NULL,
    last_seq bigint NOT NULL,
    ops bigint,
    start_ns bigint,
    end_ns bigint,
    why text NOT NULL,
    told_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE TABLE unblend.node (
    node_id integer NOT NULL,
    cluster text NOT NULL,
    node text NOT NULL,
    first_seen timestamp with time zone DEFAULT now() NOT NULL
);
CREATE TABLE unblend.stream (
    stream_id bigint NOT NULL,
    node_id integer NOT NULL,
    stream text NOT NULL,
    next_seq bigint DEFAULT 0 NOT NULL,
    first_batch timestamp with time zone DEFAULT now() NOT NULL,
    last_batch timestamp with time zone DEFAULT now() NOT NULL
)
WITH (fillfactor='50');
CREATE VIEW unblend.drops AS
 SELECT n.cluster,
    n.node,
    s.stream,
    d.first_seq,
    d.last_seq,
    ((d.last_seq - d.first_seq) + 1) AS batches,
    d.ops,
    d.start_ns,
    d.end_ns,
    unblend.timestamp_of(d.start_ns) AS started,
    unblend.timestamp_of(d.end_ns) AS ended,
    d.why,
    d.told_at
   FROM ((unblend.dropped d
     LEFT JOIN unblend.node n USING (node_id))
     LEFT JOIN unblend.stream s USING (stream_id));
COMMENT ON VIEW unblend.drops IS 'Batches that nodes made and that will never arrive: why is quota (the spool was full), refused, damaged or gone; ops are the operations in them, null where nobody can tell.';
CREATE TABLE unblend.enrolment (
    enrolment_id bigint NOT NULL,
    join_id integer NOT NULL,
    cluster text NOT NULL,
    node text NOT NULL,
    address text NOT NULL,
    enrolled_at timestamp with time zone DEFAULT now() NOT NULL
);
ALTER TABLE unblend.enrolment ALTER COLUMN enrolment_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME unblend.enrolment_enrolment_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE unblend.flow (
    "time" timestamp with time zone NOT NULL,
    batch_id bigint NOT NULL,
    job_id bigint NOT NULL,
    volume_id bigint NOT NULL,
    node_id integer NOT NULL,
    "position" integer NOT NULL,
    first_slot bigint NOT NULL,
    slots integer NOT NULL,
    read_bytes bytea NOT NULL,
    write_bytes bytea NOT NULL,
    read_ops bytea NOT NULL,
    write_ops bytea NOT NULL,
    metadata_ops bytea NOT NULL,
    data_burst bytea NOT NULL,
    data_steady bytea NOT NULL,
    metadata_burst bytea NOT NULL,
    metadata_steady bytea NOT NULL,
    in_flight_max json NOT NULL
)
PARTITION BY RANGE ("time");
CREATE TABLE unblend.flow_2026112118 (
    "time" timestamp with time zone NOT NULL,
    batch_id bigint NOT NULL,
    job_id bigint NOT NULL,
    volume_id bigint NOT NULL,
    node_id integer NOT NULL,
    "position" integer NOT NULL,
    first_slot bigint NOT NULL,
    slots integer NOT NULL,
    read_bytes bytea NOT NULL,
    write_bytes bytea NOT NULL,
    read_ops bytea NOT NULL,
    write_ops bytea NOT NULL,
    metadata_ops bytea NOT NULL,
    data_burst bytea NOT NULL,
    data_steady bytea NOT NULL,
    metadata_burst bytea NOT NULL,
    metadata_steady bytea NOT NULL,
    in_flight_max json NOT NULL
);
CREATE TABLE unblend.flow_2026112200 (
    "time" timestamp with time zone NOT NULL,
    batch_id bigint NOT NULL,
    job_id bigint NOT NULL,
    volume_id bigint NOT NULL,
    node_id integer NOT NULL,
    "position" integer NOT NULL,
    first_slot bigint NOT NULL,
    slots integer NOT NULL,
    read_bytes bytea NOT NULL,
    write_bytes bytea NOT NULL,
    read_ops bytea NOT NULL,
    write_ops bytea NOT NULL,
    metadata_ops bytea NOT NULL,
    data_burst bytea NOT NULL,
    data_steady bytea NOT NULL,
    metadata_burst bytea NOT NULL,
    metadata_steady bytea NOT NULL,
    in_flight_max json NOT NULL
);
CREATE TABLE unblend.flow_2026112206 (
    "time" timestamp with time zone NOT NULL,
    batch_id bigint NOT NULL,
    job_id bigint NOT NULL,
    volume_id bigint NOT NULL,
    node_id integer NOT NULL,
    "position" integer NOT NULL,
    first_slot bigint NOT NULL,
    slots integer NOT NULL,
    read_bytes bytea NOT NULL,
    write_bytes bytea NOT NULL,
    read_ops bytea NOT NULL,
    write_ops bytea NOT NULL,
    metadata_ops bytea NOT NULL,
    data_burst bytea NOT NULL,
    data_steady bytea NOT NULL,
    metadata_burst bytea NOT NULL,
    metadata_steady bytea NOT NULL,
    in_flight_max json NOT NULL
);
CREATE TABLE unblend.flow_2026112212 (
    "time" timestamp with time zone NOT NULL,
    batch_id bigint NOT NULL,
    job_id bigint NOT NULL,
    volume_id bigint NOT NULL,
    node_id integer NOT NULL,
    "position" integer NOT NULL,
    first_slot bigint NOT NULL,
    slots integer NOT NULL,
    read_bytes bytea NOT NULL,
    write_bytes bytea NOT NULL,
    read_ops bytea NOT NULL,
    write_ops bytea NOT NULL,
    metadata_ops bytea NOT NULL,
    data_burst bytea NOT NULL,
    data_steady bytea NOT NULL,
    metadata_burst bytea NOT NULL,
    metadata_steady bytea NOT NULL,
    in_flight_max json NOT NULL
);
CREATE TABLE unblend.flow_default (
    "time" timestamp with time zone NOT NULL,
    batch_id bigint NOT NULL,
    job_id bigint NOT NULL,
    volume_id bigint NOT NULL,
    node_id integer NOT NULL,
    "position" integer NOT NULL,
    first_slot bigint NOT NULL,
    slots integer NOT NULL,
    read_bytes bytea NOT NULL,
    write_bytes bytea NOT NULL,
    read_ops bytea NOT NULL,
    write_ops bytea NOT NULL,
    metadata_ops bytea NOT NULL,
    data_burst bytea NOT NULL,
    data_steady bytea NOT NULL,
    metadata_burst bytea NOT NULL,
    metadata_steady bytea NOT NULL,
    in_flight_max json NOT NULL
);
CREATE TABLE unblend.job (
    job_id bigint NOT NULL,
    node_id integer NOT NULL,
    digest bytea NOT NULL,
    job text NOT NULL,
    kind text NOT NULL,
    "user" text,
    command text NOT NULL,
    labels json NOT NULL,
    start_ns bigint,
    end_ns bigint,
    exit integer
);
CREATE TABLE unblend.volume (
    volume_id bigint NOT NULL,
    node_id integer NOT NULL,
    digest bytea NOT NULL,
    volume text NOT NULL,
    source text NOT NULL,
    fstype text NOT NULL,
    scope text NOT NULL,
    mounts json NOT NULL,
    lower text
);
CREATE VIEW unblend.flows AS
 SELECT f."time",
    n.cluster,
    n.node,
    j.job,
    j.kind,
    j."user",
    v.volume,
    v.fstype,
    v.scope,
    f.first_slot,
    f.slots,
    f.read_bytes,
    f.write_bytes,
    f.read_ops,
    f.write_ops,
    f.metadata_ops,
    f.data_burst,
    f.data_steady,
    f.metadata_burst,
    f.metadata_steady,
    f.in_flight_max,
    f.batch_id,
    f."position",
    f.job_id,
    f.volume_id
   FROM (((unblend.flow f
     LEFT JOIN unblend.node n USING (node_id))
     LEFT JOIN unblend.job j USING (job_id))
     LEFT JOIN unblend.volume v USING (volume_id));
COMMENT ON VIEW unblend.flows IS 'One row an interval of a job on a volume: its demand in slots of 100 ms, read by slot_values(); latencies of reads and writes (data) and of metadata operations that ended in bursts and outside of them, as histograms; and the most operations that were seen running at once.';
CREATE TABLE unblend.gap (
    stream_id bigint NOT NULL,
    first_seq bigint NOT NULL,
    last_seq bigint NOT NULL
);
CREATE TABLE unblend.host (
    host_id bigint NOT NULL,
    node_id integer NOT NULL,
    digest bytea NOT NULL,
    role text NOT NULL,
    kernel text NOT NULL,
    boot_id text NOT NULL,
    hooks json NOT NULL,
    bypasses json NOT NULL
);
ALTER TABLE unblend.host ALTER COLUMN host_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME unblend.host_host_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE VIEW unblend.intervals AS
 SELECT b."time",
    n.cluster,
    n.node,
    h.role,
    h.kernel,
    h.boot_id,
    s.stream,
    b.seq,
    b.start_ns,
    b.duration_ns,
    b.interval_ms,
    b.records,
    b.lost AS lost_ops,
    b.killed AS killed_ops,
    b.in_flight AS in_flight_ops,
    b.unattributed AS unattributed_ops,
    b.overflow AS overflow_ops,
    h.hooks,
    h.bypasses AS bypass,
    b.received,
    b.batch_id,
    b.job_ids,
    b.job_end_ns,
    b.job_exit,
    b.volume_ids,
    b.shed_ms
   FROM (((unblend.batch b
     LEFT JOIN unblend.node n USING (node_id))
     LEFT JOIN unblend.stream s USING (stream_id))
     LEFT JOIN unblend.host h USING (host_id));
COMMENT ON VIEW unblend.intervals IS 'One row an interval of a node: what was measured, and what could not be seen. Counts are operations. job_ids and volume_ids are those that the node knew then; job_end_ns and job_exit stand beside job_ids. shed_ms: for how long processes, all but metadata, and everything was left out to save cost.';
CREATE VIEW unblend.intervals_1h AS
 SELECT b."time",
    n.cluster,
    n.node,
    h.role,
    h.kernel,
    h.boot_id,
    s.stream,
    b.seq,
    b.start_ns,
    b.duration_ns,
    b.interval_ms,
    b.records,
    b.lost AS lost_ops,
    b.killed AS killed_ops,
    b.in_flight AS in_flight_ops,
    b.unattributed AS unattributed_ops,
    b.overflow AS overflow_ops,
    h.hooks,
    h.bypasses AS bypass,
    b.received,
    b.batch_id,
    b.job_ids,
    b.job_end_ns,
    b.job_exit,
    b.volume_ids,
    b.shed_ms
   FROM (((unblend.batch_1h b
     LEFT JOIN unblend.node n USING (node_id))
     LEFT JOIN unblend.stream s USING (stream_id))
     LEFT JOIN unblend.host h USING (host_id));
COMMENT ON VIEW unblend.intervals_1h IS 'As intervals_1m, by the hour.';
CREATE VIEW unblend.intervals_1m AS
 SELECT b."time",
    n.cluster,
    n.node,
    h.role,
    h.kernel,
    h.boot_id,
    s.stream,
    b.seq,
    b.start_ns,
    b.duration_ns,
    b.interval_ms,
    b.records,
    b.lost AS lost_ops,
    b.killed AS killed_ops,
    b.in_flight AS in_flight_ops,
    b.unattributed AS unattributed_ops,
    b.overflow AS overflow_ops,
    h.hooks,
    h.bypasses AS bypass,
    b.received,
    b.batch_id,
    b.job_ids,
    b.job_end_ns,
    b.job_exit,
    b.volume_ids,
    b.shed_ms
   FROM (((unblend.batch_1m b
     LEFT JOIN unblend.node n USING (node_id))
     LEFT JOIN unblend.stream s USING (stream_id))
     LEFT JOIN unblend.host h USING (host_id));
COMMENT ON VIEW unblend.intervals_1m IS 'As intervals, by the minute: stream and seq are of the last batch in it, duration_ns is what was watched of it. Batches that came late make rows of their own: sum them up.';
ALTER TABLE unblend.job ALTER COLUMN job_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME unblend.job_job_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE VIEW unblend.jobs AS
 SELECT j.job_id,
    n.cluster,
    n.node,
    j.job,
    j.kind,
    j."user",
    j.command,
    j.labels,
    j.start_ns,
    j.end_ns,
    unblend.timestamp_of(j.start_ns) AS started,
    unblend.timestamp_of(j.end_ns) AS ended,
    j.exit
   FROM (unblend.job j
     LEFT JOIN unblend.node n USING (node_id));
COMMENT ON VIEW unblend.jobs IS 'One row an attempt of a job on a node; started, ended and exit are null where not known.';
CREATE TABLE unblend.join_token (
    join_id integer NOT NULL,
    lookup bytea NOT NULL,
    sha256 bytea NOT NULL,
    glob text NOT NULL,
    cluster text NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    uses_left integer NOT NULL,
    reborn_s bigint,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT join_token_sha256_check CHECK ((length(sha256) = 32)),
    CONSTRAINT join_token_uses_left_check CHECK ((uses_left >= 0))
);
ALTER TABLE unblend.join_token ALTER COLUMN join_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME unblend.join_token_join_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE unblend.kept (
    since timestamp with time zone NOT NULL,
    until timestamp with time zone NOT NULL,
    made_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT kept_check CHECK ((since < until))
);
CREATE VIEW unblend.kept_spans AS
 SELECT kept.since,
    kept.until,
    kept.made_at
   FROM unblend.kept;
COMMENT ON VIEW unblend.kept_spans IS 'Spans of time whose raw rows are not dropped.';
CREATE TABLE unblend.ledger (
    stream_id bigint NOT NULL,
    seq bigint NOT NULL,
    sha256 bytea NOT NULL
);
CREATE TABLE unblend.migration (
    version integer NOT NULL,
    name text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE VIEW unblend.nodes AS
 SELECT n.cluster,
    n.node,
    h.role,
    h.kernel,
    h.boot_id,
    n.first_seen,
    s.last_batch AS last_seen
   FROM ((unblend.node n
     LEFT JOIN LATERAL ( SELECT max(stream.last_batch) AS last_batch
           FROM unblend.stream
          WHERE (stream.node_id = n.node_id)) s ON (true))
     LEFT JOIN LATERAL ( SELECT host.role,
            host.kernel,
            host.boot_id
           FROM unblend.host
          WHERE (host.node_id = n.node_id)
          ORDER BY host.host_id DESC
         LIMIT 1) h ON (true));
COMMENT ON VIEW unblend.nodes IS 'Every node that has sent a batch; what it last said about itself.';
CREATE VIEW unblend.node_gaps AS
 SELECT interval_of.cluster,
    interval_of.node,
    unblend.timestamp_of(interval_of.ended_ns) AS since,
    unblend.timestamp_of(interval_of.start_ns) AS until
   FROM ( SELECT intervals.cluster,
            intervals.node,
            intervals.start_ns,
            intervals.interval_ms,
            max((intervals.start_ns + intervals.duration_ns)) OVER (PARTITION BY intervals.cluster, intervals.node ORDER BY intervals.start_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS ended_ns
           FROM unblend.intervals) interval_of
  WHERE ((interval_of.start_ns - interval_of.ended_ns) > (interval_of.interval_ms * 1500000))
UNION ALL
 SELECT nodes.cluster,
    nodes.node,
    nodes.last_seen AS since,
    NULL::timestamp with time zone AS until
   FROM unblend.nodes
  WHERE (nodes.last_seen < (now() - '00:02:00'::interval));
COMMENT ON VIEW unblend.node_gaps IS 'Spans of raw intervals between which more than half an interval is missing, and until null for nodes that have been silent for two minutes.';
ALTER TABLE unblend.node ALTER COLUMN node_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME unblend.node_node_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE unblend.outbox (
    outbox_id bigint NOT NULL,
    body bytea NOT NULL,
    refused text,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);
ALTER TABLE unblend.outbox ALTER COLUMN outbox_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME unblend.outbox_outbox_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE unblend.pending_1h (
    node_id integer NOT NULL,
    batch_id bigint NOT NULL,
    "time" timestamp with time zone NOT NULL,
    received timestamp with time zone DEFAULT now() NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02');
CREATE TABLE unblend.pending_1m (
    node_id integer NOT NULL,
    batch_id bigint NOT NULL,
    "time" timestamp with time zone NOT NULL,
    received timestamp with time zone DEFAULT now() NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_analyze_scale_factor='0.02');
CREATE TABLE unblend.profile_share (
    subject text NOT NULL,
    cluster text NOT NULL,
    name text NOT NULL,
    "time" timestamp with time zone NOT NULL,
    until timestamp with time zone NOT NULL,
    kind text NOT NULL,
    profile text NOT NULL,
    share_ops double precision,
    share_bytes double precision,
    confidence double precision,
    ops double precision NOT NULL,
    bytes double precision NOT NULL,
    effective double precision,
    CONSTRAINT profile_share_check CHECK (("time" < until)),
    CONSTRAINT profile_share_subject_check CHECK ((subject = ANY (ARRAY['cluster'::text, 'job'::text])))
);
CREATE VIEW unblend.profiles AS
 SELECT p."time",
    p.until,
    p.subject,
    p.cluster,
    p.name,
    p.kind,
    p.profile,
    p.share_ops,
    p.share_bytes,
    p.confidence,
    (p.share_ops * p.ops) AS ops,
    (p.share_bytes * p.bytes) AS bytes,
    (EXTRACT(epoch FROM (p.until - p."time")))::double precision AS seconds,
    p.effective,
    ((1)::double precision - ((1)::double precision / NULLIF(p.effective, (0)::double precision))) AS blend_index
   FROM unblend.profile_share p;
COMMENT ON VIEW unblend.profiles IS 'What spans of time were made of, as reports found: a row for each profile of a cluster (name is empty) or job. Patterns'' shares add to 1; ops and bytes are those that the share stands for. effective is how many workloads a cluster''s volumes met at a time, and blend_index 1 - 1 / effective. What could not be told is null.';
CREATE TABLE unblend.sample (
    "time" timestamp with time zone NOT NULL,
    batch_id bigint NOT NULL,
    job_id bigint NOT NULL,
    volume_id bigint NOT NULL,
    node_id integer NOT NULL,
    "position" integer NOT NULL,
    op unblend.operation NOT NULL,
    ops bigint NOT NULL,
    bytes bigint NOT NULL,
    errors bigint NOT NULL,
    latency_sum_ns bigint NOT NULL,
    size bytea NOT NULL,
    latency bytea NOT NULL,
    sequential bigint DEFAULT 0 NOT NULL,
    consecutive bigint DEFAULT 0 NOT NULL,
    random bigint DEFAULT 0 NOT NULL,
    in_flight bigint DEFAULT 0 NOT NULL,
    oldest_ns bigint DEFAULT 0 NOT NULL,
    cache_hit_ops bigint DEFAULT 0 NOT NULL,
    cache_hit_bytes bigint DEFAULT 0 NOT NULL,
    cache_miss_ops bigint DEFAULT 0 NOT NULL,
    cache_miss_bytes bigint DEFAULT 0 NOT NULL,
    read_faults bigint DEFAULT 0 NOT NULL,
    write_faults bigint DEFAULT 0 NOT NULL,
    minor_faults bigint DEFAULT 0 NOT NULL,
    error_codes json,
    in_flight_ns bigint DEFAULT 0 NOT NULL
)
PARTITION BY RANGE ("time");
CREATE TABLE unblend.sample_1h (
    "time" timestamp with time zone NOT NULL,
    batch_id bigint NOT NULL,
    job_id bigint NOT NULL,
    volume_id bigint NOT NULL,
    node_id integer NOT NULL,
    "position" integer NOT NULL,
    op unblend.operation NOT NULL,
    ops bigint NOT NULL,
    bytes bigint NOT NULL,
    errors bigint NOT NULL,
    latency_sum_ns bigint NOT NULL,
    size bytea NOT NULL,
    latency bytea NOT NULL,
    sequential bigint DEFAULT 0 NOT NULL,
    consecutive bigint DEFAULT 0 NOT NULL,
    random bigint DEFAULT 0 NOT NULL,
    in_flight bigint DEFAULT 0 NOT NULL,
    oldest_ns bigint DEFAULT 0 NOT NULL,
    cache_hit_ops bigint DEFAULT 0 NOT NULL,
    cache_hit_bytes bigint DEFAULT 0 NOT NULL,
    cache_miss_ops bigint DEFAULT 0 NOT NULL,
    cache_miss_bytes bigint DEFAULT 0 NOT NULL,
    read_faults bigint DEFAULT 0 NOT NULL,
    write_faults bigint DEFAULT 0 NOT NULL,
    minor_faults bigint DEFAULT 0 NOT NULL,
    error_codes json,
    in_flight_ns bigint DEFAULT 0 NOT NULL
)
PARTITION BY RANGE ("time");
CREATE TABLE unblend.sample_1h_default (
    "time" timestamp with time zone NOT NULL,
    batch_id bigint NOT NULL,
    job_id bigint NOT NULL,
    volume_id bigint NOT NULL,
    node_id integer NOT NULL,
    "position" integer NOT NULL,
    op unblend.operation NOT NULL,
    ops bigint NOT NULL,
    bytes bigint NOT NULL,
    errors bigint NOT NULL,
    latency_sum_ns bigint NOT NULL,
    size bytea NOT NULL,
    latency bytea NOT NULL,
    sequential bigint DEFAULT 0 NOT NULL,
    consecutive bigint DEFAULT 0 NOT NULL,
    random bigint DEFAULT 0 NOT NULL,
    in_flight bigint DEFAULT 0 NOT NULL,
    oldest_ns bigint DEFAULT 0 NOT NULL,
    cache_hit_ops bigint DEFAULT 0 NOT NULL,
    cache_hit_bytes bigint DEFAULT 0 NOT NULL,
    cache_miss_ops bigint DEFAULT 0 NOT NULL,
    cache_miss_bytes bigint DEFAULT 0 NOT NULL,
    read_faults bigint DEFAULT 0 NOT NULL,
    write_faults bigint DEFAULT 0 NOT NULL,
    minor_faults bigint DEFAULT 0 NOT NULL,
    error_codes json,
    in_flight_ns bigint DEFAULT 0 NOT NULL
);
CREATE TABLE unblend.sample_1m (
    "time" timestamp with time zone NOT NULL,
    batch_id bigint NOT NULL,
    job_id bigint NOT NULL,
    volume_id bigint NOT NULL,
    node_id integer NOT NULL,
    "position" integer NOT NULL,
    op unblend.operation NOT NULL,
    ops bigint NOT NULL,
    bytes bigint NOT NULL,
    errors bigint NOT NULL,
    latency_sum_ns bigint NOT NULL,
    size bytea NOT NULL,
    latency bytea NOT NULL,
    sequential bigint DEFAULT 0 NOT NULL,
    consecutive bigint DEFAULT 0 NOT NULL,
    random bigint DEFAULT 0 NOT NULL,
    in_flight bigint DEFAULT 0 NOT NULL,
    oldest_ns bigint DEFAULT 0 NOT NULL,
    cache_hit_ops bigint DEFAULT 0 NOT NULL,
    cache_hit_bytes bigint DEFAULT 0 NOT NULL,
    cache_miss_ops bigint DEFAULT 0 NOT NULL,
    cache_miss_bytes bigint DEFAULT 0 NOT NULL,
    read_faults bigint DEFAULT 0 NOT NULL,
    write_faults bigint DEFAULT 0 NOT NULL,
    minor_faults bigint DEFAULT 0 NOT NULL,
    error_codes json,
    in_flight_ns bigint DEFAULT 0 NOT NULL
)
PARTITION BY RANGE ("time");
CREATE TABLE unblend.sample_1m_default (
    "time" timestamp with time zone NOT NULL,
    batch_id bigint NOT NULL,
    job_id bigint NOT NULL,
    volume_id bigint NOT NULL,
    node_id integer NOT NULL,
    "position" integer NOT NULL,
    op unblend.operation NOT NULL,
    ops bigint NOT NULL,
    bytes bigint NOT NULL,
    errors bigint NOT NULL,
    latency_sum_ns bigint NOT NULL,
    size bytea NOT NULL,
    latency bytea NOT NULL,
    sequential bigint DEFAULT 0 NOT NULL,
    consecutive bigint DEFAULT 0 NOT NULL,
    random bigint DEFAULT 0 NOT NULL,
    in_flight bigint DEFAULT 0 NOT NULL,
    oldest_ns bigint DEFAULT 0 NOT NULL,
    cache_hit_ops bigint DEFAULT 0 NOT NULL,
    cache_hit_bytes bigint DEFAULT 0 NOT NULL,
    cache_miss_ops bigint DEFAULT 0 NOT NULL,
    cache_miss_bytes bigint DEFAULT 0 NOT NULL,
    read_faults bigint DEFAULT 0 NOT NULL,
    write_faults bigint DEFAULT 0 NOT NULL,
    minor_faults bigint DEFAULT 0 NOT NULL,
    error_codes json,
    in_flight_ns bigint DEFAULT 0 NOT NULL
);
CREATE TABLE unblend.sample_2026112118 (
    "time" timestamp with time zone NOT NULL,
    batch_id bigint NOT NULL,
    job_id bigint NOT NULL,
    volume_id bigint NOT NULL,
    node_id integer NOT NULL,
    "position" integer NOT NULL,
    op unblend.operation NOT NULL,
    ops bigint NOT NULL,
    bytes bigint NOT NULL,
    errors bigint NOT NULL,
    latency_sum_ns bigint NOT NULL,
    size bytea NOT NULL,
    latency bytea NOT NULL,
    sequential bigint DEFAULT 0 NOT NULL,
    consecutive bigint DEFAULT 0 NOT NULL,
    random bigint DEFAULT 0 NOT NULL,
    in_flight bigint DEFAULT 0 NOT NULL,
    oldest_ns bigint DEFAULT 0 NOT NULL,
    cache_hit_ops bigint DEFAULT 0 NOT NULL,
    cache_hit_bytes bigint DEFAULT 0 NOT NULL,
    cache_miss_ops bigint DEFAULT 0 NOT NULL,
    cache_miss_bytes bigint DEFAULT 0 NOT NULL,
    read_faults bigint DEFAULT 0 NOT NULL,
    write_faults bigint DEFAULT 0 NOT NULL,
    minor_faults bigint DEFAULT 0 NOT NULL,
    error_codes json,
    in_flight_ns bigint DEFAULT 0 NOT NULL
);
CREATE TABLE unblend.sample_2026112200 (
    "time" timestamp with time zone NOT NULL,
    batch_id bigint NOT NULL,
    job_id bigint NOT NULL,
    volume_id bigint NOT NULL,
    node_id integer NOT NULL,
    "position" integer NOT NULL,
    op unblend.operation NOT NULL,
    ops bigint NOT NULL,
    bytes bigint NOT NULL,
    errors bigint NOT NULL,
    latency_sum_ns bigint NOT NULL,
    size bytea NOT NULL,
    latency bytea NOT NULL,
    sequential bigint DEFAULT 0 NOT NULL,
    consecutive bigint DEFAULT 0 NOT NULL,
    random bigint DEFAULT 0 NOT NULL,
    in_flight bigint DEFAULT 0 NOT NULL,
    oldest_ns bigint DEFAULT 0 NOT NULL,
    cache_hit_ops bigint DEFAULT 0 NOT NULL,
    cache_hit_bytes bigint DEFAULT 0 NOT NULL,
    cache_miss_ops bigint DEFAULT 0 NOT NULL,
    cache_miss_bytes bigint DEFAULT 0 NOT NULL,
    read_faults bigint DEFAULT 0 NOT NULL,
    write_faults bigint DEFAULT 0 NOT NULL,
    minor_faults bigint DEFAULT 0 NOT NULL,
    error_codes json,
    in_flight_ns bigint DEFAULT 0 NOT NULL
);
CREATE TABLE unblend.sample_2026112206 (
    "time" timestamp with time zone NOT NULL,
    batch_id bigint NOT NULL,
    job_id bigint NOT NULL,
    volume_id bigint NOT NULL,
    node_id integer NOT NULL,
    "position" integer NOT NULL,
    op unblend.operation NOT NULL,
    ops bigint NOT NULL,
    bytes bigint NOT NULL,
    errors bigint NOT NULL,
    latency_sum_ns bigint NOT NULL,
    size bytea NOT NULL,
    latency bytea NOT NULL,
    sequential bigint DEFAULT 0 NOT NULL,
    consecutive bigint DEFAULT 0 NOT NULL,
    random bigint DEFAULT 0 NOT NULL,
    in_flight bigint DEFAULT 0 NOT NULL,
    oldest_ns bigint DEFAULT 0 NOT NULL,
    cache_hit_ops bigint DEFAULT 0 NOT NULL,
    cache_hit_bytes bigint DEFAULT 0 NOT NULL,
    cache_miss_ops bigint DEFAULT 0 NOT NULL,
    cache_miss_bytes bigint DEFAULT 0 NOT NULL,
    read_faults bigint DEFAULT 0 NOT NULL,
    write_faults bigint DEFAULT 0 NOT NULL,
    minor_faults bigint DEFAULT 0 NOT NULL,
    error_codes json,
    in_flight_ns bigint DEFAULT 0 NOT NULL
);
CREATE TABLE unblend.sample_2026112212 (
    "time" timestamp with time zone NOT NULL,
    batch_id bigint NOT NULL,
    job_id bigint NOT NULL,
    volume_id bigint NOT NULL,
    node_id integer NOT NULL,
    "position" integer NOT NULL,
    op unblend.operation NOT NULL,
    ops bigint NOT NULL,
    bytes bigint NOT NULL,
    errors bigint NOT NULL,
    latency_sum_ns bigint NOT NULL,
    size bytea NOT NULL,
    latency bytea NOT NULL,
    sequential bigint DEFAULT 0 NOT NULL,
    consecutive bigint DEFAULT 0 NOT NULL,
    random bigint DEFAULT 0 NOT NULL,
    in_flight bigint DEFAULT 0 NOT NULL,
    oldest_ns bigint DEFAULT 0 NOT NULL,
    cache_hit_ops bigint DEFAULT 0 NOT NULL,
    cache_hit_bytes bigint DEFAULT 0 NOT NULL,
    cache_miss_ops bigint DEFAULT 0 NOT NULL,
    cache_miss_bytes bigint DEFAULT 0 NOT NULL,
    read_faults bigint DEFAULT 0 NOT NULL,
    write_faults bigint DEFAULT 0 NOT NULL,
    minor_faults bigint DEFAULT 0 NOT NULL,
    error_codes json,
    in_flight_ns bigint DEFAULT 0 NOT NULL
);
CREATE TABLE unblend.sample_2026112218 (
    "time" timestamp with time zone NOT NULL,
    batch_id bigint NOT NULL,
    job_id bigint NOT NULL,
    volume_id bigint NOT NULL,
    node_id integer NOT NULL,
    "position" integer NOT NULL,
    op unblend.operation NOT NULL,
    ops bigint NOT NULL,
    bytes bigint NOT NULL,
    errors bigint NOT NULL,
    latency_sum_ns bigint NOT NULL,
    size bytea NOT NULL,
    latency bytea NOT NULL,
    sequential bigint DEFAULT 0 NOT NULL,
    consecutive bigint DEFAULT 0 NOT NULL,
    random bigint DEFAULT 0 NOT NULL,
    in_flight bigint DEFAULT 0 NOT NULL,
    oldest_ns bigint DEFAULT 0 NOT NULL,
    cache_hit_ops bigint DEFAULT 0 NOT NULL,
    cache_hit_bytes bigint DEFAULT 0 NOT NULL,
    cache_miss_ops bigint DEFAULT 0 NOT NULL,
    cache_miss_bytes bigint DEFAULT 0 NOT NULL,
    read_faults bigint DEFAULT 0 NOT NULL,
    write_faults bigint DEFAULT 0 NOT NULL,
    minor_faults bigint DEFAULT 0 NOT NULL,
    error_codes json,
    in_flight_ns bigint DEFAULT 0 NOT NULL
);
CREATE TABLE unblend.sample_2026112300 (
    "time" timestamp with time zone NOT NULL,
    batch_id bigint NOT NULL,
    job_id bigint NOT NULL,
    volume_id bigint NOT NULL,
    node_id integer NOT NULL,
    "position" integer NOT NULL,
    op unblend.operation NOT NULL,
    ops bigint NOT NULL,
    bytes bigint NOT NULL,
    errors bigint NOT NULL,
    latency_sum_ns bigint NOT NULL,
    size bytea NOT NULL,
    latency bytea NOT NULL,
    sequential bigint DEFAULT 0 NOT NULL,
    consecutive bigint DEFAULT 0 NOT NULL,
    random bigint DEFAULT 0 NOT NULL,
    in_flight bigint DEFAULT 0 NOT NULL,
    oldest_ns bigint DEFAULT 0 NOT NULL,
    cache_hit_ops bigint DEFAULT 0 NOT NULL,
    cache_hit_bytes bigint DEFAULT 0 NOT NULL,
    cache_miss_ops bigint DEFAULT 0 NOT NULL,
    cache_miss_bytes bigint DEFAULT 0 NOT NULL,
    read_faults bigint DEFAULT 0 NOT NULL,
    write_faults bigint DEFAULT 0 NOT NULL,
    minor_faults bigint DEFAULT 0 NOT NULL,
    error_codes json,
    in_flight_ns bigint DEFAULT 0 NOT NULL
);
CREATE TABLE unblend.sample_2026112306 (
    "time" timestamp with time zone NOT NULL,
    batch_id bigint NOT NULL,
    job_id bigint NOT NULL,
    volume_id bigint NOT NULL,
    node_id integer NOT NULL,
    "position" integer NOT NULL,
    op unblend.operation NOT NULL,
    ops bigint NOT NULL,
    bytes bigint NOT NULL,
    errors bigint NOT NULL,
    latency_sum_ns bigint NOT NULL,
    size bytea NOT NULL,
    latency bytea NOT NULL,
    sequential bigint DEFAULT 0 NOT NULL,
    consecutive bigint DEFAULT 0 NOT NULL,
    random bigint DEFAULT 0 NOT NULL,
    in_flight bigint DEFAULT 0 NOT NULL,
    oldest_ns bigint DEFAULT 0 NOT NULL,
    cache_hit_ops bigint DEFAULT 0 NOT NULL,
    cache_hit_bytes bigint DEFAULT 0 NOT NULL,
    cache_miss_ops bigint DEFAULT 0 NOT NULL,
    cache_miss_bytes bigint DEFAULT 0 NOT NULL,
    read_faults bigint DEFAULT 0 NOT NULL,
    write_faults bigint DEFAULT 0 NOT NULL,
    minor_faults bigint DEFAULT 0 NOT NULL,
    error_codes json,
    in_flight_ns bigint DEFAULT 0 NOT NULL
);
CREATE TABLE unblend.sample_default (
    "time" timestamp with time zone NOT NULL,
    batch_id bigint NOT NULL,
    job_id bigint NOT NULL,
    volume_id bigint NOT NULL,
    node_id integer NOT NULL,
    "position" integer NOT NULL,
    op unblend.operation NOT NULL,
    ops bigint NOT NULL,
    bytes bigint NOT NULL,
    errors bigint NOT NULL,
    latency_sum_ns bigint NOT NULL,
    size bytea NOT NULL,
    latency bytea NOT NULL,
    sequential bigint DEFAULT 0 NOT NULL,
    consecutive bigint DEFAULT 0 NOT NULL,
    random bigint DEFAULT 0 NOT NULL,
    in_flight bigint DEFAULT 0 NOT NULL,
    oldest_ns bigint DEFAULT 0 NOT NULL,
    cache_hit_ops bigint DEFAULT 0 NOT NULL,
    cache_hit_bytes bigint DEFAULT 0 NOT NULL,
    cache_miss_ops bigint DEFAULT 0 NOT NULL,
    cache_miss_bytes bigint DEFAULT 0 NOT NULL,
    read_faults bigint DEFAULT 0 NOT NULL,
    write_faults bigint DEFAULT 0 NOT NULL,
    minor_faults bigint DEFAULT 0 NOT NULL,
    error_codes json,
    in_flight_ns bigint DEFAULT 0 NOT NULL
);
CREATE VIEW unblend.samples AS
 SELECT s."time",
    n.cluster,
    n.node,
    j.job,
    j.kind,
    j."user",
    v.volume,
    v.fstype,
    v.scope,
    (s.op)::text AS op,
    unblend.operation_class(s.op) AS class,
    s.ops,
    s.bytes,
    s.errors,
    s.latency_sum_ns,
    s.size,
    s.latency,
    s.batch_id,
    s."position",
    s.job_id,
    s.volume_id,
    s.sequential,
    s.consecutive,
    s.random,
    s.in_flight,
    s.oldest_ns,
    s.cache_hit_ops,
    s.cache_hit_bytes,
    s.cache_miss_ops,
    s.cache_miss_bytes,
    s.read_faults,
    s.write_faults,
    s.minor_faults,
    s.error_codes,
    s.in_flight_ns
   FROM (((unblend.sample s
     LEFT JOIN unblend.node n USING (node_id))
     LEFT JOIN unblend.job j USING (job_id))
     LEFT JOIN unblend.volume v USING (volume_id));
COMMENT ON VIEW unblend.samples IS 'One row an interval of a series (job x volume x operation): operations, bytes really transferred, failed operations, summed latency in ns; size and latency are histograms, read by histogram_cells(), histogram_merge() and histogram_quantile(); size of open and create is the file''s. sequential, consecutive and random count transfers that start beyond, at and before the end of the one before on the same open file; in_flight operations were running at the interval''s end, the oldest for oldest_ns, all together for in_flight_ns. cache_hit_* and cache_miss_* are of reads for which it is known whether the page cache served them, and both 0 where it is not; read_faults, write_faults and minor_faults are of mmap_fault; error_codes has errors by the name of their errno.';
CREATE VIEW unblend.samples_1h AS
 SELECT s."time",
    n.cluster,
    n.node,
    j.job,
    j.kind,
    j."user",
    v.volume,
    v.fstype,
    v.scope,
    (s.op)::text AS op,
    unblend.operation_class(s.op) AS class,
    s.ops,
    s.bytes,
    s.errors,
    s.latency_sum_ns,
    s.size,
    s.latency,
    s.batch_id,
    s."position",
    s.job_id,
    s.volume_id,
    s.sequential,
    s.consecutive,
    s.random,
    s.in_flight,
    s.oldest_ns,
    s.cache_hit_ops,
    s.cache_hit_bytes,
    s.cache_miss_ops,
    s.cache_miss_bytes,
    s.read_faults,
    s.write_faults,
    s.minor_faults,
    s.error_codes,
    s.in_flight_ns
   FROM (((unblend.sample_1h s
     LEFT JOIN unblend.node n USING (node_id))
     LEFT JOIN unblend.job j USING (job_id))
     LEFT JOIN unblend.volume v USING (volume_id));
COMMENT ON VIEW unblend.samples_1h IS 'As samples_1m, by the hour.';
CREATE VIEW unblend.samples_1m AS
 SELECT s."time",
    n.cluster,
    n.node,
    j.job,
    j.kind,
    j."user",
    v.volume,
    v.fstype,
    v.scope,
    (s.op)::text AS op,
    unblend.operation_class(s.op) AS class,
    s.ops,
    s.bytes,
    s.errors,
    s.latency_sum_ns,
    s.size,
    s.latency,
    s.batch_id,
    s."position",
    s.job_id,
    s.volume_id,
    s.sequential,
    s.consecutive,
    s.random,
    s.in_flight,
    s.oldest_ns,
    s.cache_hit_ops,
    s.cache_hit_bytes,
    s.cache_miss_ops,
    s.cache_miss_bytes,
    s.read_faults,
    s.write_faults,
    s.minor_faults,
    s.error_codes,
    s.in_flight_ns
   FROM (((unblend.sample_1m s
     LEFT JOIN unblend.node n USING (node_id))
     LEFT JOIN unblend.job j USING (job_id))
     LEFT JOIN unblend.volume v USING (volume_id));
COMMENT ON VIEW unblend.samples_1m IS 'As samples, by the minute; in_flight, oldest_ns and in_flight_ns are of the end of the last interval in it. Batches that came late make rows of their own: sum them up.';
CREATE TABLE unblend.site (
    site text NOT NULL,
    lookup bytea,
    sha256 bytea,
    public_key bytea,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT site_public_key_check CHECK ((length(public_key) = 32)),
    CONSTRAINT site_sha256_check CHECK ((length(sha256) = 32)),
    CONSTRAINT site_site_check CHECK (((site <> ''::text) AND (site !~ '/'::text)))
);
CREATE VIEW unblend.storage AS
 SELECT b."time",
    n.cluster,
    n.node,
    (s.told ->> 'layer'::text) AS layer,
    v.volume,
    v.source,
    v.fstype,
    (s.told ->> 'request'::text) AS request,
    (s.told ->> 'for'::text) AS party,
    j.job,
    (s.told ->> 'server'::text) AS server,
    ((s.told ->> 'ops'::text))::bigint AS requests,
    ((s.told ->> 'bytes'::text))::bigint AS bytes,
    ((s.told ->> 'errors'::text))::bigint AS errors,
    ((s.told ->> 'merges'::text))::bigint AS merges,
    ((s.told ->> 'queue_sum_ns'::text))::bigint AS queue_sum_ns,
    ((s.told ->> 'service_sum_ns'::text))::bigint AS service_sum_ns,
    ((s.told ->> 'in_flight'::text))::bigint AS in_flight,
    b.batch_id
   FROM ((((unblend.batch b
     CROSS JOIN LATERAL json_array_elements(b.storage) s(told))
     LEFT JOIN unblend.node n USING (node_id))
     LEFT JOIN unblend.volume v ON ((v.volume_id = b.volume_ids[(((s.told ->> 'volume'::text))::integer + 1)])))
     LEFT JOIN unblend.job j ON ((j.job_id = b.job_ids[(((s.told ->> 'job'::text))::integer + 1)])));
COMMENT ON VIEW unblend.storage IS 'One row an interval of a station (layer x volume), kind of request and party: requests that ended, their bytes, those merged into others, and how long all of them together were queued and served. layer: block, fuse, nfs-client and nfs-server are seen in the kernel, mountstats, nfsd, lustre, nvidia-fs and platform are counted by others. request all has what is in flight. party: job, writeback, kernel, unknown, or server, which names who serves. What was not observed is null.';
CREATE VIEW unblend.storage_lists AS
 SELECT b."time",
    b.batch_id,
    b.storage
   FROM unblend.batch b
  WHERE (b.storage IS NOT NULL);
COMMENT ON VIEW unblend.storage_lists IS 'What the storage side told of one interval, as it came; volume and job are places in volume_ids and job_ids of intervals, from 0.';
ALTER TABLE unblend.stream ALTER COLUMN stream_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME unblend.stream_stream_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
ALTER TABLE unblend.subject ALTER COLUMN subject_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME unblend.subject_subject_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE VIEW unblend.subjects AS
 SELECT subject.subject_id,
    subject.subject,
    subject.cluster,
    subject.name
   FROM unblend.subject;
COMMENT ON VIEW unblend.subjects IS 'What totals and demand are about: cluster (name is empty), node, job or volume. A job or volume is its name, whatever the node.';
CREATE TABLE unblend.tier (
    tier text NOT NULL,
    since timestamp with time zone NOT NULL
);
CREATE VIEW unblend.tiers AS
 SELECT tier.tier,
    NULLIF(tier.since, '-infinity'::timestamp with time zone) AS since
   FROM unblend.tier;
COMMENT ON VIEW unblend.tiers IS 'raw, 1m and 1h: from when on each has all rows; null when nothing was dropped yet.';
CREATE TABLE unblend.token (
    node text NOT NULL,
    cluster text NOT NULL,
    lookup bytea NOT NULL,
    sha256 bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    join_id integer,
    CONSTRAINT token_sha256_check CHECK ((length(sha256) = 32))
);
CREATE TABLE unblend.total_1h (
    "time" timestamp with time zone NOT NULL,
    subject_id bigint NOT NULL,
    op unblend.operation NOT NULL,
    ops bigint NOT NULL,
    bytes bigint NOT NULL,
    errors bigint NOT NULL,
    latency_sum_ns bigint NOT NULL,
    sequential bigint NOT NULL,
    consecutive bigint NOT NULL,
    random bigint NOT NULL,
    size_buckets smallint[] NOT NULL,
    size_counts bigint[] NOT NULL,
    latency_buckets smallint[] NOT NULL,
    latency_counts bigint[] NOT NULL
)
PARTITION BY RANGE ("time");
CREATE TABLE unblend.total_1h_default (
    "time" timestamp with time zone NOT NULL,
    subject_id bigint NOT NULL,
    op unblend.operation NOT NULL,
    ops bigint NOT NULL,
    bytes bigint NOT NULL,
    errors bigint NOT NULL,
    latency_sum_ns bigint NOT NULL,
    sequential bigint NOT NULL,
    consecutive bigint NOT NULL,
    random bigint NOT NULL,
    size_buckets smallint[] NOT NULL,
    size_counts bigint[] NOT NULL,
    latency_buckets smallint[] NOT NULL,
    latency_counts bigint[] NOT NULL
);
CREATE TABLE unblend.total_1m (
    "time" timestamp with time zone NOT NULL,
    subject_id bigint NOT NULL,
    op unblend.operation NOT NULL,
    ops bigint NOT NULL,
    bytes bigint NOT NULL,
    errors bigint NOT NULL,
    latency_sum_ns bigint NOT NULL,
    sequential bigint NOT NULL,
    consecutive bigint NOT NULL,
    random bigint NOT NULL,
    size_buckets smallint[] NOT NULL,
    size_counts bigint[] NOT NULL,
    latency_buckets smallint[] NOT NULL,
    latency_counts bigint[] NOT NULL
)
PARTITION BY RANGE ("time");
CREATE TABLE unblend.total_1m_default (
    "time" timestamp with time zone NOT NULL,
    subject_id bigint NOT NULL,
    op unblend.operation NOT NULL,
    ops bigint NOT NULL,
    bytes bigint NOT NULL,
    errors bigint NOT NULL,
    latency_sum_ns bigint NOT NULL,
    sequential bigint NOT NULL,
    consecutive bigint NOT NULL,
    random bigint NOT NULL,
    size_buckets smallint[] NOT NULL,
    size_counts bigint[] NOT NULL,
    latency_buckets smallint[] NOT NULL,
    latency_counts bigint[] NOT NULL
);
CREATE VIEW unblend.totals_1h AS
 SELECT t."time",
    s.subject,
    s.cluster,
    s.name,
    (t.op)::text AS op,
    unblend.operation_class(t.op) AS class,
    t.ops,
    t.bytes,
    t.errors,
    t.latency_sum_ns,
    t.sequential,
    t.consecutive,
    t.random,
    t.size_buckets,
    t.size_counts,
    t.latency_buckets,
    t.latency_counts,
    t.subject_id
   FROM (unblend.total_1h t
     LEFT JOIN unblend.subject s USING (subject_id));
COMMENT ON VIEW unblend.totals_1h IS 'As totals_1m, by the hour.';
CREATE VIEW unblend.totals_1m AS
 SELECT t."time",
    s.subject,
    s.cluster,
    s.name,
    (t.op)::text AS op,
    unblend.operation_class(t.op) AS class,
    t.ops,
    t.bytes,
    t.errors,
    t.latency_sum_ns,
    t.sequential,
    t.consecutive,
    t.random,
    t.size_buckets,
    t.size_counts,
    t.latency_buckets,
    t.latency_counts,
    t.subject_id
   FROM (unblend.total_1m t
     LEFT JOIN unblend.subject s USING (subject_id));
COMMENT ON VIEW unblend.totals_1m IS 'Sums over all nodes by the minute, subject (cluster, node, job or volume; never mix them) and operation. Histograms are arrays of buckets and of their counts: unnest() them, or use heatmap() and quantiles().';
ALTER TABLE unblend.volume ALTER COLUMN volume_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME unblend.volume_volume_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE VIEW unblend.volumes AS
 SELECT v.volume_id,
    n.cluster,
    n.node,
    v.volume,
    v.source,
    v.fstype,
    v.scope,
    v.mounts,
    v.lower
   FROM (unblend.volume v
     LEFT JOIN unblend.node n USING (node_id));
COMMENT ON VIEW unblend.volumes IS 'Volumes as each node mounts them; scope is shared or local; lower is the volume that an overlay''s files are on.';
ALTER TABLE ONLY unblend.batch_1h ATTACH PARTITION unblend.batch_1h_default DEFAULT;
ALTER TABLE ONLY unblend.batch_1m ATTACH PARTITION unblend.batch_1m_default DEFAULT;
ALTER TABLE ONLY unblend.batch ATTACH PARTITION unblend.batch_2026112118 FOR VALUES FROM ('2026-11-21 18:00:00+00') TO ('2026-11-22 00:00:00+00');
ALTER TABLE ONLY unblend.batch ATTACH PARTITION unblend.batch_2026112200 FOR VALUES FROM ('2026-11-22 00:00:00+00') TO ('2026-11-22 06:00:00+00');
ALTER TABLE ONLY unblend.batch ATTACH PARTITION unblend.batch_2026112206 FOR VALUES FROM ('2026-11-22 06:00:00+00') TO ('2026-11-22 12:00:00+00');
ALTER TABLE ONLY unblend.batch ATTACH PARTITION unblend.batch_2026112212 FOR VALUES FROM ('2026-11-22 12:00:00+00') TO ('2026-11-22 18:00:00+00');
ALTER TABLE ONLY unblend.batch ATTACH PARTITION unblend.batch_2026112218 FOR VALUES FROM ('2026-11-22 18:00:00+00') TO ('2026-11-23 00:00:00+00');
ALTER TABLE ONLY unblend.batch ATTACH PARTITION unblend.batch_2026112300 FOR VALUES FROM ('2026-11-23 00:00:00+00') TO ('2026-11-23 06:00:00+00');
ALTER TABLE ONLY unblend.batch ATTACH PARTITION unblend.batch_2026112306 FOR VALUES FROM ('2026-11-23 06:00:00+00') TO ('2026-11-23 12:00:00+00');
ALTER TABLE ONLY unblend.batch ATTACH PARTITION unblend.batch_default DEFAULT;
ALTER TABLE ONLY unblend.demand_1h ATTACH PARTITION unblend.demand_1h_default DEFAULT;
ALTER TABLE ONLY unblend.demand_1m ATTACH PARTITION unblend.demand_1m_default DEFAULT;
ALTER TABLE ONLY unblend.flow ATTACH PARTITION unblend.flow_2026112118 FOR VALUES FROM ('2026-11-21 18:00:00+00') TO ('2026-11-22 00:00:00+00');
ALTER TABLE ONLY unblend.flow ATTACH PARTITION unblend.flow_2026112200 FOR VALUES FROM ('2026-11-22 00:00:00+00') TO ('2026-11-22 06:00:00+00');
ALTER TABLE ONLY unblend.flow ATTACH PARTITION unblend.flow_2026112206 FOR VALUES FROM ('2026-11-22 06:00:00+00') TO ('2026-11-22 12:00:00+00');
ALTER TABLE ONLY unblend.flow ATTACH PARTITION unblend.flow_2026112212 FOR VALUES FROM ('2026-11-22 12:00:00+00') TO ('2026-11-22 18:00:00+00');
ALTER TABLE ONLY unblend.flow ATTACH PARTITION unblend.flow_default DEFAULT;
ALTER TABLE ONLY unblend.sample_1h ATTACH PARTITION unblend.sample_1h_default DEFAULT;
ALTER TABLE ONLY unblend.sample_1m ATTACH PARTITION unblend.sample_1m_default DEFAULT;
ALTER TABLE ONLY unblend.sample ATTACH PARTITION unblend.sample_2026112118 FOR VALUES FROM ('2026-11-21 18:00:00+00') TO ('2026-11-22 00:00:00+00');
ALTER TABLE ONLY unblend.sample ATTACH PARTITION unblend.sample_2026112200 FOR VALUES FROM ('2026-11-22 00:00:00+00') TO ('2026-11-22 06:00:00+00');
ALTER TABLE ONLY unblend.sample ATTACH PARTITION unblend.sample_2026112206 FOR VALUES FROM ('2026-11-22 06:00:00+00') TO ('2026-11-22 12:00:00+00');
ALTER TABLE ONLY unblend.sample ATTACH PARTITION unblend.sample_2026112212 FOR VALUES FROM ('2026-11-22 12:00:00+00') TO ('2026-11-22 18:00:00+00');
ALTER TABLE ONLY unblend.sample ATTACH PARTITION unblend.sample_2026112218 FOR VALUES FROM ('2026-11-22 18:00:00+00') TO ('2026-11-23 00:00:00+00');
ALTER TABLE ONLY unblend.sample ATTACH PARTITION unblend.sample_2026112300 FOR VALUES FROM ('2026-11-23 00:00:00+00') TO ('2026-11-23 06:00:00+00');
ALTER TABLE ONLY unblend.sample ATTACH PARTITION unblend.sample_2026112306 FOR VALUES FROM ('2026-11-23 06:00:00+00') TO ('2026-11-23 12:00:00+00');
ALTER TABLE ONLY unblend.sample ATTACH PARTITION unblend.sample_default DEFAULT;
ALTER TABLE ONLY unblend.total_1h ATTACH PARTITION unblend.total_1h_default DEFAULT;
ALTER TABLE ONLY unblend.total_1m ATTACH PARTITION unblend.total_1m_default DEFAULT;
COPY unblend.batch_1h_default ("time", batch_id, node_id, stream_id, seq, host_id, start_ns, duration_ns, interval_ms, lost, killed, in_flight, unattributed, overflow, records, job_ids, job_end_ns, job_exit, volume_ids, received, shed_ms) FROM stdin;
\.
COPY unblend.batch_1m_default ("time", batch_id, node_id, stream_id, seq, host_id, start_ns, duration_ns, interval_ms, lost, killed, in_flight, unattributed, overflow, records, job_ids, job_end_ns, job_exit, volume_ids, received, shed_ms) FROM stdin;
\.
COPY unblend.batch_2026112118 ("time", batch_id, node_id, stream_id, seq, host_id, start_ns, duration_ns, interval_ms, lost, killed, in_flight, unattributed, overflow, records, job_ids, job_end_ns, job_exit, volume_ids, received, shed_ms, storage) FROM stdin;
\.
COPY unblend.batch_2026112200 ("time", batch_id, node_id, stream_id, seq, host_id, start_ns, duration_ns, interval_ms, lost, killed, in_flight, unattributed, overflow, records, job_ids, job_end_ns, job_exit, volume_ids, received, shed_ms, storage) FROM stdin;
2026-11-22 03:27:08.794708+00	1	1	1	1	1	1795318028794708086	109945500	1000	0	0	0	0	0	23	{1}	{1795318028904152411}	{0}	{1,2,3,4}	2026-11-22 03:27:41.114504+00	{0,0,0}	[{"layer":"block","volume":2,"request":"all","for":"unknown","in_flight":0,"depth":"1 1 1 1 1 1 1"},{"layer":"block","volume":3,"request":"read","for":"job","job":0,"ops":3,"bytes":3072,"errors":0,"merges":0,"queue_sum_ns":0,"service_sum_ns":94618,"size":"64:3","queue_ns":"0:3","service_ns":"102 1 1"},{"layer":"block","volume":3,"request":"all","for":"unknown","in_flight":0,"depth":"1:2 1:2 1"},{"layer":"block","volume":2,"request":"read","for":"job","job":0,"ops":7,"bytes":28672,"errors":0,"merges":0,"queue_sum_ns":4398,"service_sum_ns":1229189,"size":"80:7","queue_ns":"45:3 4 5 2 17","service_ns":"121 1:4 1 1"},{"layer":"block","volume":3,"request":"write","for":"job","job":0,"ops":2,"bytes":2097152,"errors":0,"merges":0,"queue_sum_ns":0,"service_sum_ns":1314569,"size":"140 6","queue_ns":"0:2","service_ns":"136 3"}]
\.
COPY unblend.batch_2026112206 ("time", batch_id, node_id, stream_id, seq, host_id, start_ns, duration_ns, interval_ms, lost, killed, in_flight, unattributed, overflow, records, job_ids, job_end_ns, job_exit, volume_ids, received, shed_ms, storage) FROM stdin;
\.
COPY unblend.batch_2026112212 ("time", batch_id, node_id, stream_id, seq, host_id, start_ns, duration_ns, interval_ms, lost, killed, in_flight, unattributed, overflow, records, job_ids, job_end_ns, job_exit, volume_ids, received, shed_ms, storage) FROM stdin;
\.
COPY unblend.batch_2026112218 ("time", batch_id, node_id, stream_id, seq, host_id, start_ns, duration_ns, interval_ms, lost, killed, in_flight, unattributed, overflow, records, job_ids, job_end_ns, job_exit, volume_ids, received, shed_ms, storage) FROM stdin;
\.
COPY unblend.batch_2026112300 ("time", batch_id, node_id, stream_id, seq, host_id, start_ns, duration_ns, interval_ms, lost, killed, in_flight, unattributed, overflow, records, job_ids, job_end_ns, job_exit, volume_ids, received, shed_ms, storage) FROM stdin;
\.
COPY unblend.batch_2026112306 ("time", batch_id, node_id, stream_id, seq, host_id, start_ns, duration_ns, interval_ms, lost, killed, in_flight, unattributed, overflow, records, job_ids, job_end_ns, job_exit, volume_ids, received, shed_ms, storage) FROM stdin;
\.
COPY unblend.batch_default ("time", batch_id, node_id, stream_id, seq, host_id, start_ns, duration_ns, interval_ms, lost, killed, in_flight, unattributed, overflow, records, job_ids, job_end_ns, job_exit, volume_ids, received, shed_ms, storage) FROM stdin;
\.
COPY unblend.demand_1h_default ("time", subject_id, read_ops, write_ops, metadata_ops, other_ops, read_bytes, write_bytes, errors, data_latency_ns, metadata_latency_ns) FROM stdin;
\.
COPY unblend.demand_1m_default ("time", subject_id, read_ops, write_ops, metadata_ops, other_ops, read_bytes, write_bytes, errors, data_latency_ns, metadata_latency_ns) FROM stdin;
\.
COPY unblend.dropped (node_id, stream_id, first_seq, last_seq, ops, start_ns, end_ns, why, told_at) FROM stdin;
\.
COPY unblend.enrolment (enrolment_id, join_id, cluster, node, address, enrolled_at) FROM stdin;
\.
COPY unblend.flow_2026112118 ("time", batch_id, job_id, volume_id, node_id, "position", first_slot, slots, read_bytes, write_bytes, read_ops, write_ops, metadata_ops, data_burst, data_steady, metadata_burst, metadata_steady, in_flight_max) FROM stdin;
\.
COPY unblend.flow_2026112200 ("time", batch_id, job_id, volume_id, node_id, "position", first_slot, slots, read_bytes, write_bytes, read_ops, write_ops, metadata_ops, data_burst, data_steady, metadata_burst, metadata_steady, in_flight_max) FROM stdin;
2026-11-22 03:27:08.794708+00	1	1	1	1	0	17953180288	1	\\xa3a83701	\\xf099870101	\\x6201	\\x3001	\\x880201	\\x	\\x282808020821080d080c081b08060802080108020805100108010801	\\x	\\x286108460823080b0803081908110803100110011801	{}
2026-11-22 03:27:08.794708+00	1	1	2	1	1	17953180288	1	\\xaee60101	\\x	\\x1001	\\x	\\x5a01	\\x	\\x280408010804080408023801	\\x	\\x28090811080a080e08170809080408011003	{}
\.
COPY unblend.flow_2026112206 ("time", batch_id, job_id, volume_id, node_id, "position", first_slot, slots, read_bytes, write_bytes, read_ops, write_ops, metadata_ops, data_burst, data_steady, metadata_burst, metadata_steady, in_flight_max) FROM stdin;
\.
COPY unblend.flow_2026112212 ("time", batch_id, job_id, volume_id, node_id, "position", first_slot, slots, read_bytes, write_bytes, read_ops, write_ops, metadata_ops, data_burst, data_steady, metadata_burst, metadata_steady, in_flight_max) FROM stdin;
\.
COPY unblend.flow_default ("time", batch_id, job_id, volume_id, node_id, "position", first_slot, slots, read_bytes, write_bytes, read_ops, write_ops, metadata_ops, data_burst, data_steady, metadata_burst, metadata_steady, in_flight_max) FROM stdin;
\.
COPY unblend.gap (stream_id, first_seq, last_seq) FROM stdin;
1	0	0
\.
COPY unblend.host (host_id, node_id, digest, role, kernel, boot_id, hooks, bypasses) FROM stdin;
1	1	\\xd35dab6d4f1ebaac5f50551afd7ea244	client	6.12.0	11111111-2222-3333-4444-555555555555	[{"hook":"tp_btf/sys_enter","state":"attached","why":"cheapest for the calls that count; self-test: 88 calls exact, 0 wrong, 0 not in this kernel; tracepoint: in reserve: dearer for the calls that count; fentry: the kernel may preempt programs there, and then skips calls of others: whether it does could not be read (debugfs, sched/preempt); kprobe: in reserve: the dearest"},{"hook":"tp_btf/sys_exit","state":"attached","why":null},{"hook":"tp_btf/sched_process_fork","state":"attached","why":null},{"hook":"tp_btf/sched_process_exec","state":"attached","why":null},{"hook":"tp_btf/sched_process_exit","state":"attached","why":null},{"hook":"tp_btf/block_io_start","state":"attached","why":null},{"hook":"tp_btf/block_rq_insert","state":"attached","why":null},{"hook":"tp_btf/block_rq_issue","state":"attached","why":null},{"hook":"tp_btf/block_rq_complete","state":"attached","why":null},{"hook":"tp_btf/block_bio_backmerge","state":"attached","why":null},{"hook":"tp_btf/block_bio_frontmerge","state":"attached","why":null},{"hook":"tp_btf/page_fault_user","state":"attached","why":null},{"hook":"tp_btf/page_fault_kernel","state":"attached","why":null},{"hook":"tp_btf/mm_filemap_map_pages","state":"attached","why":null},{"hook":"tp_btf/mm_filemap_fault","state":"attached","why":null},{"hook":"tp_btf/mm_filemap_add_to_page_cache","state":"attached","why":null},{"hook":"io_uring_submit","state":"attached","why":null},{"hook":"tp_btf/io_uring_req_failed","state":"attached","why":null},{"hook":"tp_btf/io_uring_complete","state":"attached","why":null},{"hook":"tp_btf/io_uring_cqe_overflow","state":"attached","why":null},{"hook":"aio_complete_rw","state":"unavailable","why":"no kprobes here: the time of a request lasts until its completion is fetched"},{"hook":"tp_btf/fuse_request_send","state":"attached","why":null},{"hook":"tp_btf/fuse_request_end","state":"attached","why":null},{"hook":"tp_btf/sched_process_exec","state":"attached","why":null},{"hook":"tp_btf/cgroup_mkdir","state":"attached","why":null},{"hook":"tp_btf/cgroup_rmdir","state":"attached","why":null},{"hook":"tp_btf/cgroup_attach_task","state":"attached","why":null},{"hook":"iter/task_file","state":"attached","why":null},{"hook":"mmap_fault","state":"attached","why":null},{"hook":"libaio","state":"attached","why":null},{"hook":"32-bit calls","state":"attached","why":null}]	[]
\.
COPY unblend.job (job_id, node_id, digest, job, kind, "user", command, labels, start_ns, end_ns, exit) FROM stdin;
1	1	\\x14fc371ddacdbbdbb4e7de3ea24d6a8a	train	command	ann	python3	{}	1795318028794792791	1795318028904152411	0
\.
COPY unblend.join_token (join_id, lookup, sha256, glob, cluster, expires_at, uses_left, reborn_s, created_at) FROM stdin;
\.
COPY unblend.kept (since, until, made_at) FROM stdin;
\.
COPY unblend.ledger (stream_id, seq, sha256) FROM stdin;
1	1	\\xfc43f64290f31e242ce66fc972640a973d331d280eb5bb679d31fcd2dd434958
\.
COPY unblend.migration (version, name, applied_at) FROM stdin;
1	001-tables	2026-11-22 03:27:40.623134+00
2	002-functions	2026-11-22 03:27:40.623134+00
3	003-views	2026-11-22 03:27:40.623134+00
4	004-order	2026-11-22 03:27:40.623134+00
5	005-detail	2026-11-22 03:27:40.623134+00
6	006-flows	2026-11-22 03:27:40.623134+00
7	007-shed	2026-11-22 03:27:40.623134+00
8	008-dropped	2026-11-22 03:27:40.623134+00
9	010-rollups	2026-11-22 03:27:40.623134+00
10	011-rollup-views	2026-11-22 03:27:40.623134+00
11	012-readers	2026-11-22 03:27:40.623134+00
12	020-trust	2026-11-22 03:27:40.623134+00
13	021-forward	2026-11-22 03:27:40.623134+00
14	022-gaps	2026-11-22 03:27:40.623134+00
15	030-storage	2026-11-22 03:27:40.623134+00
16	040-lower	2026-11-22 03:27:40.623134+00
17	060-profiles	2026-11-22 03:27:40.623134+00
18	061-panels	2026-11-22 03:27:40.623134+00
19	062-windows	2026-11-22 03:27:40.623134+00
\.
COPY unblend.node (node_id, cluster, node, first_seen) FROM stdin;
1	default	node1	2026-11-22 03:27:41.114504+00
\.
COPY unblend.outbox (outbox_id, body, refused, created_at) FROM stdin;
\.
COPY unblend.pending_1h (node_id, batch_id, "time", received) FROM stdin;
\.
COPY unblend.pending_1m (node_id, batch_id, "time", received) FROM stdin;
1	1	2026-11-22 03:27:08.794708+00	2026-11-22 03:27:41.114504+00
\.
COPY unblend.profile_share (subject, cluster, name, "time", until, kind, profile, share_ops, share_bytes, confidence, ops, bytes, effective) FROM stdin;
\.
COPY unblend.sample_1h_default ("time", batch_id, job_id, volume_id, node_id, "position", op, ops, bytes, errors, latency_sum_ns, size, latency, sequential, consecutive, random, in_flight, oldest_ns, cache_hit_ops, cache_hit_bytes, cache_miss_ops, cache_miss_bytes, read_faults, write_faults, minor_faults, error_codes, in_flight_ns) FROM stdin;
\.
COPY unblend.sample_1m_default ("time", batch_id, job_id, volume_id, node_id, "position", op, ops, bytes, errors, latency_sum_ns, size, latency, sequential, consecutive, random, in_flight, oldest_ns, cache_hit_ops, cache_hit_bytes, cache_miss_ops, cache_miss_bytes, read_faults, write_faults, minor_faults, error_codes, in_flight_ns) FROM stdin;
\.
COPY unblend.sample_2026112118 ("time", batch_id, job_id, volume_id, node_id, "position", op, ops, bytes, errors, latency_sum_ns, size, latency, sequential, consecutive, random, in_flight, oldest_ns, cache_hit_ops, cache_hit_bytes, cache_miss_ops, cache_miss_bytes, read_faults, write_faults, minor_faults, error_codes, in_flight_ns) FROM stdin;
\.
COPY unblend.sample_2026112200 ("time", batch_id, job_id, volume_id, node_id, "position", op, ops, bytes, errors, latency_sum_ns, size, latency, sequential, consecutive, random, in_flight, oldest_ns, cache_hit_ops, cache_hit_bytes, cache_miss_ops, cache_miss_bytes, read_faults, write_faults, minor_faults, error_codes, in_flight_ns) FROM stdin;
2026-11-22 03:27:08.794708+00	1	1	1	1	0	read	98	906275	0	198556	\\x002a04010f01120107010501030103010204020101010301010101010102010101010101010201010103010201030102010301020103010201093003	\\x2505011401070105020205010101020107010106010a01030107010401020103030101020101010201040103010205010d010a0102010701	2	50	4	0	0	56	906275	0	0	0	0	0	\N	0
2026-11-22 03:27:08.794708+00	1	1	2	1	1	read	16	29486	0	283447	\\x00041f010701160201040c01020109010801	\\x2b03020108010301030102010201010204010101030103013501	0	9	3	0	0	12	29486	0	0	0	0	0	\N	0
2026-11-22 03:27:08.794708+00	1	1	1	1	2	write	48	2215152	0	6152935	\\x3f010101010101020101010101010102010101030102010301020103010201030102010601032f08	\\x4d020101010301020105010b0103010201020202010301010201160105010202010203010c010b010701	0	48	0	0	0	0	0	0	0	0	0	0	\N	0
2026-11-22 03:27:08.794708+00	1	1	1	1	3	open	44	0	1	36820	\\x39020601010101010102010101010101010201010103010201030102010301020103010201060103	\\x36070109010a01060104010101010402020102010a010801	0	0	0	0	0	0	0	0	0	0	0	0	{"ENOENT":1}	0
2026-11-22 03:27:08.794708+00	1	1	2	1	4	open	21	0	7	192275	\\x2601230102010901080109010b010601040108010b010901	\\x43010401010101010101020301020202010101030302040109011201	0	0	0	0	0	0	0	0	0	0	0	0	{"ENOENT":7}	0
2026-11-22 03:27:08.794708+00	1	1	1	1	5	close	84	0	0	35885	\\x	\\x2b04011d010401010205010a01020103010301010102010601050201030103030101060103010101	0	0	0	0	0	0	0	0	0	0	0	0	\N	0
2026-11-22 03:27:08.794708+00	1	1	2	1	6	close	14	0	0	22318	\\x	\\x2101070107020101010201011002030102010b010601	0	0	0	0	0	0	0	0	0	0	0	0	\N	0
2026-11-22 03:27:08.794708+00	1	1	1	1	7	stat	89	0	2	30659	\\x	\\x2b210112010301010104010b01050102010101010301010203030401010101011201	0	0	0	0	0	0	0	0	0	0	0	0	{"EINVAL":2}	0
2026-11-22 03:27:08.794708+00	1	1	2	1	8	stat	51	0	13	93593	\\x	\\x2d02020301030101010301020101020202030201010102030101020102010105010104010306010101030202040101010402	0	0	0	0	0	0	0	0	0	0	0	0	{"ENOENT":12,"EINVAL":1}	0
2026-11-22 03:27:08.794708+00	1	1	1	1	9	seek	11	0	0	1229	\\x	\\x2101010201010103010104020101	0	0	0	0	0	0	0	0	0	0	0	0	\N	0
2026-11-22 03:27:08.794708+00	1	1	2	1	10	seek	11	0	0	3657	\\x	\\x21020301030102010d01010101030101	0	0	0	0	0	0	0	0	0	0	0	0	\N	0
2026-11-22 03:27:08.794708+00	1	1	1	1	11	readdir	2	0	0	14623	\\x	\\x36012701	0	0	0	0	0	0	0	0	0	0	0	0	\N	0
2026-11-22 03:27:08.794708+00	1	1	2	1	12	readdir	4	0	0	150562	\\x	\\x3601070133010101	0	0	0	0	0	0	0	0	0	0	0	0	\N	0
2026-11-22 03:27:08.794708+00	1	1	1	1	13	create	41	0	0	445741	\\x0029	\\x5101010301040104010101090101010401010105010302010101070101010b01	0	0	0	0	0	0	0	0	0	0	0	0	\N	0
2026-11-22 03:27:08.794708+00	1	1	1	1	14	unlink	1	0	0	22672	\\x	\\x6301	0	0	0	0	0	0	0	0	0	0	0	0	\N	0
2026-11-22 03:27:08.794708+00	1	1	1	1	15	rename	1	0	0	14226	\\x	\\x5d01	0	0	0	0	0	0	0	0	0	0	0	0	\N	0
2026-11-22 03:27:08.794708+00	1	1	1	1	16	mkdir	1	0	0	3340515	\\x	\\x9c0101	0	0	0	0	0	0	0	0	0	0	0	0	\N	0
2026-11-22 03:27:08.794708+00	1	1	1	1	17	truncate	1	0	0	334625	\\x	\\x820101	0	0	0	0	0	0	0	0	0	0	0	0	\N	0
2026-11-22 03:27:08.794708+00	1	1	1	1	18	fsync	1	0	0	5316837	\\x	\\xa20101	0	0	0	0	0	0	0	0	0	0	0	0	\N	0
2026-11-22 03:27:08.794708+00	1	1	2	1	19	mmap_fault	1	28672	0	25601776	\\x6601	\\xb40101	0	0	0	0	0	0	0	0	0	0	1	179	\N	0
2026-11-22 03:27:08.794708+00	1	1	3	1	20	block_read	7	28672	0	1229189	\\x5007	\\x7901010401010101	0	0	0	0	0	0	0	0	0	0	0	0	\N	0
2026-11-22 03:27:08.794708+00	1	1	4	1	21	block_read	3	3072	0	94618	\\x4003	\\x660101010101	0	0	0	0	0	0	0	0	0	0	0	0	\N	0
2026-11-22 03:27:08.794708+00	1	1	4	1	22	block_write	2	2097152	0	1314569	\\x8c01010601	\\x8801010301	0	0	0	0	0	0	0	0	0	0	0	0	\N	0
\.
COPY unblend.sample_2026112206 ("time", batch_id, job_id, volume_id, node_id, "position", op, ops, bytes, errors, latency_sum_ns, size, latency, sequential, consecutive, random, in_flight, oldest_ns, cache_hit_ops, cache_hit_bytes, cache_miss_ops, cache_miss_bytes, read_faults, write_faults, minor_faults, error_codes, in_flight_ns) FROM stdin;
\.
COPY unblend.sample_2026112212 ("time", batch_id, job_id, volume_id, node_id, "position", op, ops, bytes, errors, latency_sum_ns, size, latency, sequential, consecutive, random, in_flight, oldest_ns, cache_hit_ops, cache_hit_bytes, cache_miss_ops, cache_miss_bytes, read_faults, write_faults, minor_faults, error_codes, in_flight_ns) FROM stdin;
\.
COPY unblend.sample_2026112218 ("time", batch_id, job_id, volume_id, node_id, "position", op, ops, bytes, errors, latency_sum_ns, size, latency, sequential, consecutive, random, in_flight, oldest_ns, cache_hit_ops, cache_hit_bytes, cache_miss_ops, cache_miss_bytes, read_faults, write_faults, minor_faults, error_codes, in_flight_ns) FROM stdin;
\.
COPY unblend.sample_2026112300 ("time", batch_id, job_id, volume_id, node_id, "position", op, ops, bytes, errors, latency_sum_ns, size, latency, sequential, consecutive, random, in_flight, oldest_ns, cache_hit_ops, cache_hit_bytes, cache_miss_ops, cache_miss_bytes, read_faults, write_faults, minor_faults, error_codes, in_flight_ns) FROM stdin;
\.
COPY unblend.sample_2026112306 ("time", batch_id, job_id, volume_id, node_id, "position", op, ops, bytes, errors, latency_sum_ns, size, latency, sequential, consecutive, random, in_flight, oldest_ns, cache_hit_ops, cache_hit_bytes, cache_miss_ops, cache_miss_bytes, read_faults, write_faults, minor_faults, error_codes, in_flight_ns) FROM stdin;
\.
COPY unblend.sample_default ("time", batch_id, job_id, volume_id, node_id, "position", op, ops, bytes, errors, latency_sum_ns, size, latency, sequential, consecutive, random, in_flight, oldest_ns, cache_hit_ops, cache_hit_bytes, cache_miss_ops, cache_miss_bytes, read_faults, write_faults, minor_faults, error_codes, in_flight_ns) FROM stdin;
\.
COPY unblend.site (site, lookup, sha256, public_key, created_at) FROM stdin;
\.
COPY unblend.stream (stream_id, node_id, stream, next_seq, first_batch, last_batch) FROM stdin;
1	1	0123456789abcdef0123456789abcdef	2	2026-11-22 03:27:41.114504+00	2026-11-22 03:27:41.114504+00
\.
COPY unblend.subject (subject_id, subject, cluster, name) FROM stdin;
\.
COPY unblend.tier (tier, since) FROM stdin;
raw	-infinity
1m	-infinity
1h	-infinity
\.
COPY unblend.token (node, cluster, lookup, sha256, created_at, join_id) FROM stdin;
node1		\\x8e3fac84cd319e14	\\x8e3fac84cd319e1488ba122d0ada83c4ad793f69df1fc791c9f330a6d7a8b8e0	2026-11-22 03:27:41.088601+00	\N
\.
COPY unblend.total_1h_default ("time", subject_id, op, ops, bytes, errors, latency_sum_ns, sequential, consecutive, random, size_buckets, size_counts, latency_buckets, latency_counts) FROM stdin;
\.
COPY unblend.total_1m_default ("time", subject_id, op, ops, bytes, errors, latency_sum_ns, sequential, consecutive, random, size_buckets, size_counts, latency_buckets, latency_counts) FROM stdin;
\.
COPY unblend.volume (volume_id, node_id, digest, volume, source, fstype, scope, mounts, lower) FROM stdin;
1	1	\\xc058b04a013fc1fcbfeab6df08005a2b	node1:ext4:/dev/loop2	/dev/loop2	ext4	local	["/mnt/data"]	\N
2	1	\\xa34eabb5820a49f97d5b7ae12f698460	node1:ext4:/dev/sda	/dev/sda	ext4	local	["/"]	\N
3	1	\\xaa0ad317a17cedb2d34af10572047eb9	node1:sda	/dev/sda	block	local	[]	\N
4	1	\\xcb2450fa840fe61b2a56e566ca629d86	node1:loop2	/dev/loop2	block	local	[]	\N
\.
SELECT pg_catalog.setval('unblend.batch_id', 1, true);
SELECT pg_catalog.setval('unblend.enrolment_enrolment_id_seq', 1, false);
SELECT pg_catalog.setval('unblend.host_host_id_seq', 1, true);
SELECT pg_catalog.setval('unblend.job_job_id_seq', 1, true);
SELECT pg_catalog.setval('unblend.join_token_join_id_seq', 1, false);
SELECT pg_catalog.setval('unblend.node_node_id_seq', 1, true);
SELECT pg_catalog.setval('unblend.outbox_outbox_id_seq', 1, false);
SELECT pg_catalog.setval('unblend.stream_stream_id_seq', 1, true);
SELECT pg_catalog.setval('unblend.subject_subject_id_seq', 1, false);
SELECT pg_catalog.setval('unblend.volume_volume_id_seq', 4, true);
ALTER TABLE ONLY unblend.dropped
    ADD CONSTRAINT dropped_pkey PRIMARY KEY (node_id, stream_id, first_seq);
ALTER TABLE ONLY unblend.enrolment
    ADD CONSTRAINT enrolment_pkey PRIMARY KEY (enrolment_id);
ALTER TABLE ONLY unblend.gap
    ADD CONSTRAINT gap_pkey PRIMARY KEY (stream_id, first_seq);
ALTER TABLE ONLY unblend.host
    ADD CONSTRAINT host_node_id_digest_key UNIQUE (node_id, digest);
ALTER TABLE ONLY unblend.host
    ADD CONSTRAINT host_pkey PRIMARY KEY (host_id);
ALTER TABLE ONLY unblend.job
    ADD CONSTRAINT job_node_id_digest_key UNIQUE (node_id, digest);
ALTER TABLE ONLY unblend.job
    ADD CONSTRAINT job_pkey PRIMARY KEY (job_id);
ALTER TABLE ONLY unblend.join_token
    ADD CONSTRAINT join_token_pkey PRIMARY KEY (join_id);
ALTER TABLE ONLY unblend.ledger
    ADD CONSTRAINT ledger_pkey PRIMARY KEY (stream_id, seq);
ALTER TABLE ONLY unblend.migration
    ADD CONSTRAINT migration_pkey PRIMARY KEY (version);
ALTER TABLE ONLY unblend.node
    ADD CONSTRAINT node_cluster_node_key UNIQUE (cluster, node);
ALTER TABLE ONLY unblend.node
    ADD CONSTRAINT node_pkey PRIMARY KEY (node_id);
ALTER TABLE ONLY unblend.outbox
    ADD CONSTRAINT outbox_pkey PRIMARY KEY (outbox_id);
ALTER TABLE ONLY unblend.profile_share
    ADD CONSTRAINT profile_share_pkey PRIMARY KEY (subject, cluster, "time", name, kind, profile);
ALTER TABLE ONLY unblend.site
    ADD CONSTRAINT site_pkey PRIMARY KEY (site);
ALTER TABLE ONLY unblend.site
    ADD CONSTRAINT site_public_key_key UNIQUE (public_key);
ALTER TABLE ONLY unblend.stream
    ADD CONSTRAINT stream_node_id_stream_key UNIQUE (node_id, stream);
ALTER TABLE ONLY unblend.stream
    ADD CONSTRAINT stream_pkey PRIMARY KEY (stream_id);
ALTER TABLE ONLY unblend.subject
    ADD CONSTRAINT subject_pkey PRIMARY KEY (subject_id);
ALTER TABLE ONLY unblend.subject
    ADD CONSTRAINT subject_subject_cluster_name_key UNIQUE (subject, cluster, name);
ALTER TABLE ONLY unblend.tier
    ADD CONSTRAINT tier_pkey PRIMARY KEY (tier);
ALTER TABLE ONLY unblend.token
    ADD CONSTRAINT token_pkey PRIMARY KEY (node, cluster);
ALTER TABLE ONLY unblend.volume
    ADD CONSTRAINT volume_node_id_digest_key UNIQUE (node_id, digest);
ALTER TABLE ONLY unblend.volume
    ADD CONSTRAINT volume_pkey PRIMARY KEY (volume_id);
CREATE INDEX batch_1h_time ON ONLY unblend.batch_1h USING btree ("time", batch_id);
CREATE INDEX batch_1h_default_time_batch_id_idx ON unblend.batch_1h_default USING btree ("time", batch_id);
CREATE INDEX batch_1m_ids ON ONLY unblend.batch_1m USING brin (batch_id) WITH (pages_per_range='32');
CREATE INDEX batch_1m_default_batch_id_idx ON unblend.batch_1m_default USING brin (batch_id) WITH (pages_per_range='32');
CREATE INDEX batch_1m_time ON ONLY unblend.batch_1m USING btree ("time", batch_id);
CREATE INDEX batch_1m_default_time_batch_id_idx ON unblend.batch_1m_default USING btree ("time", batch_id);
CREATE INDEX batch_ids ON ONLY unblend.batch USING brin (batch_id) WITH (pages_per_range='32');
CREATE INDEX batch_2026112118_batch_id_idx ON unblend.batch_2026112118 USING brin (batch_id) WITH (pages_per_range='32');
CREATE INDEX batch_time ON ONLY unblend.batch USING btree ("time", batch_id);
CREATE INDEX batch_2026112118_time_batch_id_idx ON unblend.batch_2026112118 USING btree ("time", batch_id);
CREATE INDEX batch_2026112200_batch_id_idx ON unblend.batch_2026112200 USING brin (batch_id) WITH (pages_per_range='32');
CREATE INDEX batch_2026112200_time_batch_id_idx ON unblend.batch_2026112200 USING btree ("time", batch_id);
CREATE INDEX batch_2026112206_batch_id_idx ON unblend.batch_2026112206 USING brin (batch_id) WITH (pages_per_range='32');
CREATE INDEX batch_2026112206_time_batch_id_idx ON unblend.batch_2026112206 USING btree ("time", batch_id);
CREATE INDEX batch_2026112212_batch_id_idx ON unblend.batch_2026112212 USING brin (batch_id) WITH (pages_per_range='32');
CREATE INDEX batch_2026112212_time_batch_id_idx ON unblend.batch_2026112212 USING btree ("time", batch_id);
CREATE INDEX batch_2026112218_batch_id_idx ON unblend.batch_2026112218 USING brin (batch_id) WITH (pages_per_range='32');
CREATE INDEX batch_2026112218_time_batch_id_idx ON unblend.batch_2026112218 USING btree ("time", batch_id);
CREATE INDEX batch_2026112300_batch_id_idx ON unblend.batch_2026112300 USING brin (batch_id) WITH (pages_per_range='32');
CREATE INDEX batch_2026112300_time_batch_id_idx ON unblend.batch_2026112300 USING btree ("time", batch_id);
CREATE INDEX batch_2026112306_batch_id_idx ON unblend.batch_2026112306 USING brin (batch_id) WITH (pages_per_range='32');
CREATE INDEX batch_2026112306_time_batch_id_idx ON unblend.batch_2026112306 USING btree ("time", batch_id);
CREATE INDEX batch_default_batch_id_idx ON unblend.batch_default USING brin (batch_id) WITH (pages_per_range='32');
CREATE INDEX batch_default_time_batch_id_idx ON unblend.batch_default USING btree ("time", batch_id);
CREATE INDEX demand_1h_subject ON ONLY unblend.demand_1h USING btree (subject_id, "time");
CREATE INDEX demand_1h_default_subject_id_time_idx ON unblend.demand_1h_default USING btree (subject_id, "time");
CREATE INDEX demand_1h_time ON ONLY unblend.demand_1h USING brin ("time") WITH (pages_per_range='32');
CREATE INDEX demand_1h_default_time_idx ON unblend.demand_1h_default USING brin ("time") WITH (pages_per_range='32');
CREATE INDEX demand_1m_subject ON ONLY unblend.demand_1m USING btree (subject_id, "time");
CREATE INDEX demand_1m_default_subject_id_time_idx ON unblend.demand_1m_default USING btree (subject_id, "time");
CREATE INDEX demand_1m_time ON ONLY unblend.demand_1m USING brin ("time") WITH (pages_per_range='32');
CREATE INDEX demand_1m_default_time_idx ON unblend.demand_1m_default USING brin ("time") WITH (pages_per_range='32');
CREATE INDEX flow_ids ON ONLY unblend.flow USING brin (batch_id) WITH (pages_per_range='32');
CREATE INDEX flow_2026112118_batch_id_idx ON unblend.flow_2026112118 USING brin (batch_id) WITH (pages_per_range='32');
CREATE INDEX flow_time ON ONLY unblend.flow USING brin ("time") WITH (pages_per_range='32');
CREATE INDEX flow_2026112118_time_idx ON unblend.flow_2026112118 USING brin ("time") WITH (pages_per_range='32');
CREATE INDEX flow_2026112200_batch_id_idx ON unblend.flow_2026112200 USING brin (batch_id) WITH (pages_per_range='32');
CREATE INDEX flow_2026112200_time_idx ON unblend.flow_2026112200 USING brin ("time") WITH (pages_per_range='32');
CREATE INDEX flow_2026112206_batch_id_idx ON unblend.flow_2026112206 USING brin (batch_id) WITH (pages_per_range='32');
CREATE INDEX flow_2026112206_time_idx ON unblend.flow_2026112206 USING brin ("time") WITH (pages_per_range='32');
CREATE INDEX flow_2026112212_batch_id_idx ON unblend.flow_2026112212 USING brin (batch_id) WITH (pages_per_range='32');
CREATE INDEX flow_2026112212_time_idx ON unblend.flow_2026112212 USING brin ("time") WITH (pages_per_range='32');
CREATE INDEX flow_default_batch_id_idx ON unblend.flow_default USING brin (batch_id) WITH (pages_per_range='32');
CREATE INDEX flow_default_time_idx ON unblend.flow_default USING brin ("time") WITH (pages_per_range='32');
CREATE INDEX join_token_lookup ON unblend.join_token USING btree (lookup);
CREATE INDEX outbox_waiting ON unblend.outbox USING btree (outbox_id) WHERE (refused IS NULL);
CREATE INDEX profile_share_job ON unblend.profile_share USING btree (name, "time") WHERE (subject = 'job'::text);
CREATE INDEX sample_1h_node ON ONLY unblend.sample_1h USING btree (node_id, "time");
CREATE INDEX sample_1h_default_node_id_time_idx ON unblend.sample_1h_default USING btree (node_id, "time");
CREATE INDEX sample_1h_time ON ONLY unblend.sample_1h USING brin ("time") WITH (pages_per_range='32');
CREATE INDEX sample_1h_default_time_idx ON unblend.sample_1h_default USING brin ("time") WITH (pages_per_range='32');
CREATE INDEX sample_1m_ids ON ONLY unblend.sample_1m USING brin (batch_id) WITH (pages_per_range='32');
CREATE INDEX sample_1m_default_batch_id_idx ON unblend.sample_1m_default USING brin (batch_id) WITH (pages_per_range='32');
CREATE INDEX sample_1m_node ON ONLY unblend.sample_1m USING btree (node_id, "time");
CREATE INDEX sample_1m_default_node_id_time_idx ON unblend.sample_1m_default USING btree (node_id, "time");
CREATE INDEX sample_1m_time ON ONLY unblend.sample_1m USING brin ("time") WITH (pages_per_range='32');
CREATE INDEX sample_1m_default_time_idx ON unblend.sample_1m_default USING brin ("time") WITH (pages_per_range='32');
CREATE INDEX sample_ids ON ONLY unblend.sample USING brin (batch_id) WITH (pages_per_range='32');
CREATE INDEX sample_2026112118_batch_id_idx ON unblend.sample_2026112118 USING brin (batch_id) WITH (pages_per_range='32');
CREATE INDEX sample_time ON ONLY unblend.sample USING brin ("time") WITH (pages_per_range='32');
CREATE INDEX sample_2026112118_time_idx ON unblend.sample_2026112118 USING brin ("time") WITH (pages_per_range='32');
CREATE INDEX sample_2026112200_batch_id_idx ON unblend.sample_2026112200 USING brin (batch_id) WITH (pages_per_range='32');
CREATE INDEX sample_2026112200_time_idx ON unblend.sample_2026112200 USING brin ("time") WITH (pages_per_range='32');
CREATE INDEX sample_2026112206_batch_id_idx ON unblend.sample_2026112206 USING brin (batch_id) WITH (pages_per_range='32');
CREATE INDEX sample_2026112206_time_idx ON unblend.sample_2026112206 USING brin ("time") WITH (pages_per_range='32');
CREATE INDEX sample_2026112212_batch_id_idx ON unblend.sample_2026112212 USING brin (batch_id) WITH (pages_per_range='32');
CREATE INDEX sample_2026112212_time_idx ON unblend.sample_2026112212 USING brin ("time") WITH (pages_per_range='32');
CREATE INDEX sample_2026112218_batch_id_idx ON unblend.sample_2026112218 USING brin (batch_id) WITH (pages_per_range='32');
CREATE INDEX sample_2026112218_time_idx ON unblend.sample_2026112218 USING brin ("time") WITH (pages_per_range='32');
CREATE INDEX sample_2026112300_batch_id_idx ON unblend.sample_2026112300 USING brin (batch_id) WITH (pages_per_range='32');
CREATE INDEX sample_2026112300_time_idx ON unblend.sample_2026112300 USING brin ("time") WITH (pages_per_range='32');
CREATE INDEX sample_2026112306_batch_id_idx ON unblend.sample_2026112306 USING brin (batch_id) WITH (pages_per_range='32');
CREATE INDEX sample_2026112306_time_idx ON unblend.sample_2026112306 USING brin ("time") WITH (pages_per_range='32');
CREATE INDEX sample_default_batch_id_idx ON unblend.sample_default USING brin (batch_id) WITH (pages_per_range='32');
CREATE INDEX sample_default_time_idx ON unblend.sample_default USING brin ("time") WITH (pages_per_range='32');
CREATE INDEX site_lookup ON unblend.site USING btree (lookup);
CREATE INDEX token_lookup ON unblend.token USING btree (lookup);
CREATE INDEX total_1h_subject ON ONLY unblend.total_1h USING btree (subject_id, op, "time");
CREATE INDEX total_1h_default_subject_id_op_time_idx ON unblend.total_1h_default USING btree (subject_id, op, "time");
CREATE INDEX total_1h_time ON ONLY unblend.total_1h USING brin ("time") WITH (pages_per_range='32');
CREATE INDEX total_1h_default_time_idx ON unblend.total_1h_default USING brin ("time") WITH (pages_per_range='32');
CREATE INDEX total_1m_subject ON ONLY unblend.total_1m USING btree (subject_id, op, "time");
CREATE INDEX total_1m_default_subject_id_op_time_idx ON unblend.total_1m_default USING btree (subject_id, op, "time");
CREATE INDEX total_1m_time ON ONLY unblend.total_1m USING brin ("time") WITH (pages_per_range='32');
CREATE INDEX total_1m_default_time_idx ON unblend.total_1m_default USING brin ("time") WITH (pages_per_range='32');
ALTER INDEX unblend.batch_1h_time ATTACH PARTITION unblend.batch_1h_default_time_batch_id_idx;
ALTER INDEX unblend.batch_1m_ids ATTACH PARTITION unblend.batch_1m_default_batch_id_idx;
ALTER INDEX unblend.batch_1m_time ATTACH PARTITION unblend.batch_1m_default_time_batch_id_idx;
ALTER INDEX unblend.batch_ids ATTACH PARTITION unblend.batch_2026112118_batch_id_idx;
ALTER INDEX unblend.batch_time ATTACH PARTITION unblend.batch_2026112118_time_batch_id_idx;
ALTER INDEX unblend.batch_ids ATTACH PARTITION unblend.batch_2026112200_batch_id_idx;
ALTER INDEX unblend.batch_time ATTACH PARTITION unblend.batch_2026112200_time_batch_id_idx;
ALTER INDEX unblend.batch_ids ATTACH PARTITION unblend.batch_2026112206_batch_id_idx;
ALTER INDEX unblend.batch_time ATTACH PARTITION unblend.batch_2026112206_time_batch_id_idx;
ALTER INDEX unblend.batch_ids ATTACH PARTITION unblend.batch_2026112212_batch_id_idx;
ALTER INDEX unblend.batch_time ATTACH PARTITION unblend.batch_2026112212_time_batch_id_idx;
ALTER INDEX unblend.batch_ids ATTACH PARTITION unblend.batch_2026112218_batch_id_idx;
ALTER INDEX unblend.batch_time ATTACH PARTITION unblend.batch_2026112218_time_batch_id_idx;
ALTER INDEX unblend.batch_ids ATTACH PARTITION unblend.batch_2026112300_batch_id_idx;
ALTER INDEX unblend.batch_time ATTACH PARTITION unblend.batch_2026112300_time_batch_id_idx;
ALTER INDEX unblend.batch_ids ATTACH PARTITION unblend.batch_2026112306_batch_id_idx;
ALTER INDEX unblend.batch_time ATTACH PARTITION unblend.batch_2026112306_time_batch_id_idx;
ALTER INDEX unblend.batch_ids ATTACH PARTITION unblend.batch_default_batch_id_idx;
ALTER INDEX unblend.batch_time ATTACH PARTITION unblend.batch_default_time_batch_id_idx;
ALTER INDEX unblend.demand_1h_subject ATTACH PARTITION unblend.demand_1h_default_subject_id_time_idx;
ALTER INDEX unblend.demand_1h_time ATTACH PARTITION unblend.demand_1h_default_time_idx;
ALTER INDEX unblend.demand_1m_subject ATTACH PARTITION unblend.demand_1m_default_subject_id_time_idx;
ALTER INDEX unblend.demand_1m_time ATTACH PARTITION unblend.demand_1m_default_time_idx;
ALTER INDEX unblend.flow_ids ATTACH PARTITION unblend.flow_2026112118_batch_id_idx;
ALTER INDEX unblend.flow_time ATTACH PARTITION unblend.flow_2026112118_time_idx;
ALTER INDEX unblend.flow_ids ATTACH PARTITION unblend.flow_2026112200_batch_id_idx;
ALTER INDEX unblend.flow_time ATTACH PARTITION unblend.flow_2026112200_time_idx;
ALTER INDEX unblend.flow_ids ATTACH PARTITION unblend.flow_2026112206_batch_id_idx;
ALTER INDEX unblend.flow_time ATTACH PARTITION unblend.flow_2026112206_time_idx;
ALTER INDEX unblend.flow_ids ATTACH PARTITION unblend.flow_2026112212_batch_id_idx;
ALTER INDEX unblend.flow_time ATTACH PARTITION unblend.flow_2026112212_time_idx;
ALTER INDEX unblend.flow_ids ATTACH PARTITION unblend.flow_default_batch_id_idx;
ALTER INDEX unblend.flow_time ATTACH PARTITION unblend.flow_default_time_idx;
ALTER INDEX unblend.sample_1h_node ATTACH PARTITION unblend.sample_1h_default_node_id_time_idx;
ALTER INDEX unblend.sample_1h_time ATTACH PARTITION unblend.sample_1h_default_time_idx;
ALTER INDEX unblend.sample_1m_ids ATTACH PARTITION unblend.sample_1m_default_batch_id_idx;
ALTER INDEX unblend.sample_1m_node ATTACH PARTITION unblend.sample_1m_default_node_id_time_idx;
ALTER INDEX unblend.sample_1m_time ATTACH PARTITION unblend.sample_1m_default_time_idx;
ALTER INDEX unblend.sample_ids ATTACH PARTITION unblend.sample_2026112118_batch_id_idx;
ALTER INDEX unblend.sample_time ATTACH PARTITION unblend.sample_2026112118_time_idx;
ALTER INDEX unblend.sample_ids ATTACH PARTITION unblend.sample_2026112200_batch_id_idx;
ALTER INDEX unblend.sample_time ATTACH PARTITION unblend.sample_2026112200_time_idx;
ALTER INDEX unblend.sample_ids ATTACH PARTITION unblend.sample_2026112206_batch_id_idx;
ALTER INDEX unblend.sample_time ATTACH PARTITION unblend.sample_2026112206_time_idx;
ALTER INDEX unblend.sample_ids ATTACH PARTITION unblend.sample_2026112212_batch_id_idx;
ALTER INDEX unblend.sample_time ATTACH PARTITION unblend.sample_2026112212_time_idx;
ALTER INDEX unblend.sample_ids ATTACH PARTITION unblend.sample_2026112218_batch_id_idx;
ALTER INDEX unblend.sample_time ATTACH PARTITION unblend.sample_2026112218_time_idx;
ALTER INDEX unblend.sample_ids ATTACH PARTITION unblend.sample_2026112300_batch_id_idx;
ALTER INDEX unblend.sample_time ATTACH PARTITION unblend.sample_2026112300_time_idx;
ALTER INDEX unblend.sample_ids ATTACH PARTITION unblend.sample_2026112306_batch_id_idx;
ALTER INDEX unblend.sample_time ATTACH PARTITION unblend.sample_2026112306_time_idx;
ALTER INDEX unblend.sample_ids ATTACH PARTITION unblend.sample_default_batch_id_idx;
ALTER INDEX unblend.sample_time ATTACH PARTITION unblend.sample_default_time_idx;
ALTER INDEX unblend.total_1h_subject ATTACH PARTITION unblend.total_1h_default_subject_id_op_time_idx;
ALTER INDEX unblend.total_1h_time ATTACH PARTITION unblend.total_1h_default_time_idx;
ALTER INDEX unblend.total_1m_subject ATTACH PARTITION unblend.total_1m_default_subject_id_op_time_idx;
ALTER INDEX unblend.total_1m_time ATTACH PARTITION unblend.total_1m_default_time_idx;
ALTER TABLE ONLY unblend.gap
    ADD CONSTRAINT gap_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES unblend.stream(stream_id) ON DELETE CASCADE;
ALTER TABLE ONLY unblend.host
    ADD CONSTRAINT host_node_id_fkey FOREIGN KEY (node_id) REFERENCES unblend.node(node_id);
ALTER TABLE ONLY unblend.job
    ADD CONSTRAINT job_node_id_fkey FOREIGN KEY (node_id) REFERENCES unblend.node(node_id);
ALTER TABLE ONLY unblend.ledger
    ADD CONSTRAINT ledger_stream_id_fkey FOREIGN KEY (stream_id) REFERENCES unblend.stream(stream_id) ON DELETE CASCADE;
ALTER TABLE ONLY unblend.stream
    ADD CONSTRAINT stream_node_id_fkey FOREIGN KEY (node_id) REFERENCES unblend.node(node_id);
ALTER TABLE ONLY unblend.volume
    ADD CONSTRAINT volume_node_id_fkey FOREIGN KEY (node_id) REFERENCES unblend.node(node_id);
