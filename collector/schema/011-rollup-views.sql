-- SPDX-License-Identifier: GPL-2.0-or-later
-- The read contract of the rollups, and what reads their histograms.

create view unblend.tiers as
select tier, nullif(since, '-infinity') as since from unblend.tier;
comment on view unblend.tiers is
    'raw, 1m and 1h: from when on each has all rows; null when nothing was dropped yet.';

create view unblend.kept_spans as select since, until, made_at from unblend.kept;
comment on view unblend.kept_spans is 'Spans of time whose raw rows are not dropped.';

create view unblend.intervals_1m as
select b.time, n.cluster, n.node, h.role, h.kernel, h.boot_id, s.stream, b.seq, b.start_ns, b.duration_ns,
       b.interval_ms, b.records, b.lost as lost_ops, b.killed as killed_ops, b.in_flight as in_flight_ops,
       b.unattributed as unattributed_ops, b.overflow as overflow_ops,
       h.hooks, h.bypasses as bypass, b.received, b.batch_id, b.job_ids, b.job_end_ns, b.job_exit, b.volume_ids,
       b.shed_ms
from unblend.batch_1m as b
left join unblend.node as n using (node_id)
left join unblend.stream as s using (stream_id)
left join unblend.host as h using (host_id);
comment on view unblend.intervals_1m is
    'As intervals, by the minute: stream and seq are of the last batch in it, duration_ns is what was watched of it. '
    'Batches that came late make rows of their own: sum them up.';

create view unblend.intervals_1h as
select b.time, n.cluster, n.node, h.role, h.kernel, h.boot_id, s.stream, b.seq, b.start_ns, b.duration_ns,
       b.interval_ms, b.records, b.lost as lost_ops, b.killed as killed_ops, b.in_flight as in_flight_ops,
       b.unattributed as unattributed_ops, b.overflow as overflow_ops,
       h.hooks, h.bypasses as bypass, b.received, b.batch_id, b.job_ids, b.job_end_ns, b.job_exit, b.volume_ids,
       b.shed_ms
from unblend.batch_1h as b
left join unblend.node as n using (node_id)
left join unblend.stream as s using (stream_id)
left join unblend.host as h using (host_id);
comment on view unblend.intervals_1h is 'As intervals_1m, by the hour.';

create view unblend.samples_1m as
select s.time, n.cluster, n.node, j.job, j.kind, j."user", v.volume, v.fstype, v.scope, s.op::text as op,
       unblend.operation_class(s.op) as class, s.ops, s.bytes, s.errors, s.latency_sum_ns, s.size, s.latency,
       s.batch_id, s.position, s.job_id, s.volume_id,
       s.sequential, s.consecutive, s.random, s.in_flight, s.oldest_ns,
       s.cache_hit_ops, s.cache_hit_bytes, s.cache_miss_ops, s.cache_miss_bytes,
       s.read_faults, s.write_faults, s.minor_faults, s.error_codes, s.in_flight_ns
from unblend.sample_1m as s
left join unblend.node as n using (node_id)
left join unblend.job as j using (job_id)
left join unblend.volume as v using (volume_id);
comment on view unblend.samples_1m is
    'As samples, by the minute; in_flight, oldest_ns and in_flight_ns are of the end of the last interval in it. '
    'Batches that came late make rows of their own: sum them up.';

create view unblend.samples_1h as
select s.time, n.cluster, n.node, j.job, j.kind, j."user", v.volume, v.fstype, v.scope, s.op::text as op,
       unblend.operation_class(s.op) as class, s.ops, s.bytes, s.errors, s.latency_sum_ns, s.size, s.latency,
       s.batch_id, s.position, s.job_id, s.volume_id,
       s.sequential, s.consecutive, s.random, s.in_flight, s.oldest_ns,
       s.cache_hit_ops, s.cache_hit_bytes, s.cache_miss_ops, s.cache_miss_bytes,
       s.read_faults, s.write_faults, s.minor_faults, s.error_codes, s.in_flight_ns
from unblend.sample_1h as s
left join unblend.node as n using (node_id)
left join unblend.job as j using (job_id)
left join unblend.volume as v using (volume_id);
comment on view unblend.samples_1h is 'As samples_1m, by the hour.';

create view unblend.subjects as select subject_id, subject, cluster, name from unblend.subject;
comment on view unblend.subjects is
    'What totals and demand are about: cluster (name is empty), node, job or volume. A job or volume is its name, '
    'whatever the node.';

create view unblend.totals_1m as
select t.time, s.subject, s.cluster, s.name, t.op::text as op, unblend.operation_class(t.op) as class, t.ops, t.bytes,
       t.errors, t.latency_sum_ns, t.sequential, t.consecutive, t.random, t.size_buckets, t.size_counts,
       t.latency_buckets, t.latency_counts, t.subject_id
from unblend.total_1m as t left join unblend.subject as s using (subject_id);
comment on view unblend.totals_1m is
    'Sums over all nodes by the minute, subject (cluster, node, job or volume; never mix them) and operation. Histograms '
    'are arrays of buckets and of their counts: unnest() them, or use heatmap() and quantiles().';

create view unblend.totals_1h as
select t.time, s.subject, s.cluster, s.name, t.op::text as op, unblend.operation_class(t.op) as class, t.ops, t.bytes,
       t.errors, t.latency_sum_ns, t.sequential, t.consecutive, t.random, t.size_buckets, t.size_counts,
       t.latency_buckets, t.latency_counts, t.subject_id
from unblend.total_1h as t left join unblend.subject as s using (subject_id);
comment on view unblend.totals_1h is 'As totals_1m, by the hour.';

create view unblend.demand_by_minute as
select d.time, s.subject, s.cluster, s.name, d.read_ops, d.write_ops, d.metadata_ops, d.other_ops, d.read_bytes,
       d.write_bytes, d.errors, d.data_latency_ns, d.metadata_latency_ns, d.subject_id
from unblend.demand_1m as d left join unblend.subject as s using (subject_id);
comment on view unblend.demand_by_minute is
    'One narrow row a minute and subject: operations and bytes of the file layer; other_ops are seek, fsync and '
    'mmap_fault, data_latency_ns is summed over reads and writes.';

create view unblend.demand_by_hour as
select d.time, s.subject, s.cluster, s.name, d.read_ops, d.write_ops, d.metadata_ops, d.other_ops, d.read_bytes,
       d.write_bytes, d.errors, d.data_latency_ns, d.metadata_latency_ns, d.subject_id
from unblend.demand_1h as d left join unblend.subject as s using (subject_id);
comment on view unblend.demand_by_hour is 'As demand_by_minute, by the hour.';

create function unblend.histogram_quantile(buckets smallint[], counts bigint[], q double precision) returns numeric
language sql immutable strict parallel safe as $$
    select unblend.bucket_lower(min(bucket)) from (
        select bucket, sum(count) over (order by bucket) as upto, sum(count) over () as total
        from (select cell.bucket, sum(cell.count) as count from unnest(buckets, counts) as cell(bucket, count)
              group by cell.bucket) as summed) as ranked
    where upto >= greatest(1, ceil(q::numeric * total))
$$;
comment on function unblend.histogram_quantile(smallint[], bigint[], double precision) is
    'Nearest-rank quantile of a histogram in arrays, as its bucket''s lower bound; buckets may come more than once.';

create function unblend.tier_for(since timestamptz, until timestamptz) returns text
language sql stable parallel safe as $$
    select case when $2 - $1 <= interval '36 hours' and $1 >= (select t.since from unblend.tier as t where tier = '1m')
                then '1m' else '1h' end
$$;
comment on function unblend.tier_for(timestamptz, timestamptz) is
    'Where to read a span of time from: 1m for up to 36 hours of which all minutes are there, else 1h.';

-- Buckets of one operation of one subject, whichever tier has them. A union of which one half is ruled out before it
-- runs costs that half nothing.
create function unblend.cells(subject text, cluster text, name text, op text, metric text, since timestamptz,
                              until timestamptz)
returns table ("time" timestamptz, bucket integer, count bigint)
language sql stable parallel safe rows 10000 as $$
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
$$;
comment on function unblend.cells(text, text, text, text, text, timestamptz, timestamptz) is
    'Histogram cells over time: cells(subject, cluster, name, op, metric, since, until) with subject cluster, node, job '
    'or volume, cluster and name as patterns of LIKE, and metric size or latency.';

create function unblend.heatmap(subject text, cluster text, name text, op text, metric text, since timestamptz,
                                until timestamptz, step interval)
returns table ("time" timestamptz, lower numeric, upper numeric, count bigint)
language sql stable parallel safe rows 5000 as $$
    select summed.at, unblend.bucket_lower(summed.bucket), unblend.bucket_lower(summed.bucket + 1), summed.count
    from (select to_timestamp(floor(extract(epoch from c.time) / extract(epoch from $8)) * extract(epoch from $8)) as at,
                 c.bucket, sum(c.count)::bigint as count
          from unblend.cells($1, $2, $3, $4, $5, $6, $7) as c group by 1, 2) as summed
    order by 1, 2
$$;
comment on function unblend.heatmap(text, text, text, text, text, timestamptz, timestamptz, interval) is
    'A heatmap: how many values lay in each bucket, from lower up to but not with upper, in each step of time. Arguments '
    'as for cells().';

create function unblend.quantiles(subject text, cluster text, name text, op text, metric text, since timestamptz,
                                  until timestamptz, step interval, q double precision[])
returns table ("time" timestamptz, quantile double precision, value numeric)
language sql stable parallel safe rows 1000 as $$
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
$$;
comment on function unblend.quantiles(text, text, text, text, text, timestamptz, timestamptz, interval,
                                      double precision[]) is
    'Nearest-rank quantiles over time: one row a step and quantile. Arguments as for cells().';
