-- SPDX-License-Identifier: GPL-2.0-or-later
-- What writing processes receive from the network stands in the place of a read's hits, which panels leave out, too.

create or replace function unblend.series(clusters text[], nodes text[], jobs text[], since timestamptz, until timestamptz,
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
                           max(s.oldest_ns) as oldest_ns, sum(s.cache_hit_bytes) filter (where s.op = 'read') as hit,
                           sum(s.cache_miss_bytes) filter (where s.op = 'read') as miss
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

comment on view unblend.samples is
    'One row an interval of a series (job x volume x operation): operations, bytes really transferred, failed '
    'operations, summed latency in ns; size and latency are histograms, read by histogram_cells(), '
    'histogram_merge() and histogram_quantile(); size of open and create is the file''s. sequential, consecutive '
    'and random count transfers that start beyond, at and before the end of the one before on the same open '
    'file; in_flight operations were running at the interval''s end, the oldest for oldest_ns, all together for '
    'in_flight_ns. cache_hit_* and cache_miss_* are of reads for which it is known whether the page cache served them, and both 0 where it is '
    'not; of writes, cache_miss_bytes are those of bytes that had just come from the network, cache_hit_bytes what their '
    'processes received from it meanwhile, and cache_hit_ops the bytes that these read in the seconds in which they '
    'wrote; read_faults, write_faults and minor_faults are of mmap_fault; error_codes has errors by the name of '
    'their errno.';
