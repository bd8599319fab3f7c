-- SPDX-License-Identifier: GPL-2.0-or-later
-- Exposed I/O: for how long the ranks of jobs did nothing but wait while their processes did I/O.

-- Beside job_ids; null for a job that nobody watched, and as a whole where that is so of all.
alter table unblend.batch add column job_watched_ns bigint[], add column job_exposed_ns bigint[];
alter table unblend.batch_1m add column job_watched_ns bigint[], add column job_exposed_ns bigint[];
alter table unblend.batch_1h add column job_watched_ns bigint[], add column job_exposed_ns bigint[];

create or replace view unblend.intervals as
select b.time, n.cluster, n.node, h.role, h.kernel, h.boot_id, s.stream, b.seq, b.start_ns, b.duration_ns,
       b.interval_ms, b.records, b.lost as lost_ops, b.killed as killed_ops, b.in_flight as in_flight_ops,
       b.unattributed as unattributed_ops, b.overflow as overflow_ops,
       h.hooks, h.bypasses as bypass, b.received, b.batch_id, b.job_ids, b.job_end_ns, b.job_exit, b.volume_ids,
       b.shed_ms, b.io_some_ns, b.io_full_ns, b.job_watched_ns, b.job_exposed_ns
from unblend.batch as b
left join unblend.node as n using (node_id)
left join unblend.stream as s using (stream_id)
left join unblend.host as h using (host_id);
comment on view unblend.intervals is
    'One row an interval of a node: what was measured, and what could not be seen. Counts are operations. '
    'job_ids and volume_ids are those that the node knew then; job_end_ns and job_exit stand beside job_ids. '
    'shed_ms: for how long processes, all but metadata, and everything was left out to save cost. io_some_ns and '
    'io_full_ns: for how long at least one task, and all tasks that had something to do, waited for I/O, as the '
    'kernel tells it of the whole node (/proc/pressure/io); null where it does not. '
    'job_watched_ns and job_exposed_ns stand beside job_ids: for how long ranks'' main threads were watched, and did '
    'nothing but wait for operations; null where nobody watched.';

create or replace view unblend.intervals_1m as
select b.time, n.cluster, n.node, h.role, h.kernel, h.boot_id, s.stream, b.seq, b.start_ns, b.duration_ns,
       b.interval_ms, b.records, b.lost as lost_ops, b.killed as killed_ops, b.in_flight as in_flight_ops,
       b.unattributed as unattributed_ops, b.overflow as overflow_ops,
       h.hooks, h.bypasses as bypass, b.received, b.batch_id, b.job_ids, b.job_end_ns, b.job_exit, b.volume_ids,
       b.shed_ms, b.io_some_ns, b.io_full_ns, b.job_watched_ns, b.job_exposed_ns
from unblend.batch_1m as b
left join unblend.node as n using (node_id)
left join unblend.stream as s using (stream_id)
left join unblend.host as h using (host_id);

create or replace view unblend.intervals_1h as
select b.time, n.cluster, n.node, h.role, h.kernel, h.boot_id, s.stream, b.seq, b.start_ns, b.duration_ns,
       b.interval_ms, b.records, b.lost as lost_ops, b.killed as killed_ops, b.in_flight as in_flight_ops,
       b.unattributed as unattributed_ops, b.overflow as overflow_ops,
       h.hooks, h.bypasses as bypass, b.received, b.batch_id, b.job_ids, b.job_end_ns, b.job_exit, b.volume_ids,
       b.shed_ms, b.io_some_ns, b.io_full_ns, b.job_watched_ns, b.job_exposed_ns
from unblend.batch_1h as b
left join unblend.node as n using (node_id)
left join unblend.stream as s using (stream_id)
left join unblend.host as h using (host_id);

create function unblend.stalls(clusters text[], jobs text[], since timestamptz, until timestamptz, step interval,
                               by text)
returns table ("time" timestamptz, seconds double precision, part text, watched_ns double precision,
               exposed_ns double precision)
language plpgsql stable security definer set search_path = pg_catalog set jit = off set work_mem = '64MB' as $$
#variable_conflict use_column
declare
    width constant double precision := coalesce(unblend.step_for($3, $4, $5), 1e9);
    last_at constant timestamptz := least($4, now() - interval '1 minute');
    first_at constant timestamptz := case when $5 is null then $3
        else to_timestamp(floor(extract(epoch from $3)::double precision / width) * width) end;
    span constant double precision := extract(epoch from last_at - first_at);
    job_ids constant bigint[] := array(
        select j.job_id from unblend.job as j join unblend.node as n using (node_id)
        where n.cluster = any($1) and j.job = any($2));
    node_ids constant integer[] := array(select distinct j.node_id from unblend.job as j where j.job_id = any(job_ids));
begin
    return query execute format($sql$
        select b.at, b.width, b.part, b.watched, b.exposed
        from (select case when $5 then $2
                     else to_timestamp(floor(extract(epoch from i.time)::double precision / $4) * $4) end as at,
                     %s as part, sum(u.watched::double precision) as watched, sum(u.exposed::double precision) as exposed
              from %s as i
              cross join lateral unnest(i.job_ids, i.job_watched_ns, i.job_exposed_ns) as u (job_id, watched, exposed)
              left join unblend.node as n using (node_id)
              where i.node_id = any($7) and i.time >= $2 and i.time < $3 and i.job_watched_ns is not null
                and u.job_id = any($1) and u.watched > 0
              group by 1, 2) as s
        cross join lateral (select s.*, case when $5 then $6 else
            least($4, extract(epoch from $3 - s.at)::double precision) end as width) as b
        where b.width >= least($4, 600) or $5
        order by 1, 3 $sql$,
        case $6 when 'node' then 'n.node' else '''''::text' end,
        case unblend.tier_for($3, $4) when '1m' then 'unblend.batch_1m' else 'unblend.batch_1h' end)
        using job_ids, first_at, last_at, width, $5 is null, span, node_ids;
end
$$;
comment on function unblend.stalls(text[], text[], timestamptz, timestamptz, interval, text) is
    'stalls(clusters, jobs, since, until, step, by): for how long the ranks of jobs were watched, all together, and did '
    'nothing but wait for I/O, out of intervals_1m or intervals_1h, a row a step, and node if by is node. Steps in which '
    'nobody watched are missing.';
