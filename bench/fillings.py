# SPDX-License-Identifier: GPL-2.0-or-later
"""What bench/fill puts beside counts: flows, the storage side, what agents could not see, and profiles."""

# node0007's kernel has no hook for page faults, and something there goes around the kernel; node0003's spool was full
# once.
AFTER_PREPARE = """
update unblend.host set hooks = '[{"hook": "sys_enter", "state": "attached", "why": null},
    {"hook": "mmap_fault", "state": "unavailable", "why": "the kernel lets nobody watch page faults"}]',
    bypasses = '[{"what": "spdk", "device": "0000:5e:00.0", "bytes": null, "why": "a driver in user space has the device"}]'
    where node_id = (select node_id from n where i = least(7, (select max(i) from n)));
insert into unblend.dropped (node_id, stream_id, first_seq, last_seq, ops, start_ns, end_ns, why, told_at)
    select node_id, stream_id, 1000, 1011, 70000, extract(epoch from at)::bigint * 1000000000,
        extract(epoch from at + interval '2 minutes')::bigint * 1000000000, 'quota', at + interval '37 minutes'
    from n join unblend.stream using (node_id), (select to_timestamp({until}) - interval '40 minutes' as at) as t
    where i = least(3, (select max(i) from n));
create temp table device as select node_id, max(volume_id) as device from unblend.volume where volume = '/local' group by 1;
"""

# Columns of raw batches besides those of all tiers: devices and the shared file system as mountstats has it, in
# requests. A batch's volumes are followed by the device's, so that is the last.
STORAGE_COLUMNS = ", storage, received, space, trees"
STORAGE_VALUES = """, (select json_strip_nulls(json_agg(e)) from (
        select 'block' as layer, cardinality(m.volumes) as volume, request, party as "for",
            case party when 'job' then 0 end as job, ops, ops * size as bytes, 0 as errors, ops / 20 as merges,
            ops * queue as queue_sum_ns, ops * served * case when m.node_id = (select node_id from n where i = 13) then 8 else 1 end as service_sum_ns,
            null::bigint as in_flight
        from (values ('read', 'job', 4000::bigint, 131072::bigint, 15000, 90000), ('write', 'writeback', 900, 524288, 60000, 250000))
            as d(request, party, ops, size, queue, served)
        union all select 'block', cardinality(m.volumes), 'all', 'unknown', null, null, null, null, null, null, null,
            2 + (m.batch_id % 7)
        union all select 'mountstats', 0, 'read', 'unknown', null, 2000 + (m.batch_id % 500), 262144::bigint * 2000, 0, null,
            400000000, 1600000000, null) as e),
    m.time + interval '10 s' + interval '3 s' * pg_temp.noise(m.node_id, m.batch_id, 5),
    case when extract(second from m.time) = 0 then (
        select json_agg(json_build_array(place - 1, (total * used)::bigint, total, (total * used / 300000)::bigint, total / 100000))
        from unnest(m.volumes || device) with ordinality as held (volume_id, place) join unblend.volume as v using (volume_id)
        cross join lateral (select case v.volume when '/data' then 2200000000000000 when '/scratch' then 500000000000000
            else 7000000000000 end as total, 0.7 + extract(minute from m.time) / 2000 as used) as t) end,
    (select json_agg(json_build_object('job', 0, 'volume', 0, 'tree', tree, 'opens', opens, 'reads', reads, 'metadata', 3 * opens,
        'read_bytes', reads * 131072, 'wait_ns', reads * 2000000))
     from (values ('/datasets/images', 200, 600), ('/datasets/text', 20, 150), ('/', 1, 0)) as t (tree, opens, reads))"""

# Reads come evenly; what is written, in the first three seconds of ten; metadata, every half second.
FLOWS = """
    insert into unblend.flow (time, batch_id, job_id, volume_id, node_id, position, first_slot, slots, read_bytes, write_bytes,
        read_ops, write_ops, metadata_ops, data_burst, data_steady, metadata_burst, metadata_steady, in_flight_max)
    select time, batch_id, job_id, volume_id, node_id, row_number() over (partition by batch_id), extract(epoch from time)::bigint * 10,
        100, case when rb > 0 then pg_temp.varint(rb / 100) || pg_temp.varint(100) else '' end,
        case when wb > 0 then pg_temp.varint(wb / 30) || pg_temp.varint(30) || pg_temp.varint(0) || pg_temp.varint(70) else '' end,
        case when r > 0 then pg_temp.varint(r / 100) || pg_temp.varint(100) else '' end,
        case when w > 0 then pg_temp.varint(w / 30) || pg_temp.varint(30) || pg_temp.varint(0) || pg_temp.varint(70) else '' end,
        case when m > 0 then (select string_agg(pg_temp.varint(m / 20 + i - i) || pg_temp.varint(1) || pg_temp.varint(0)
            || pg_temp.varint(4), ''::bytea) from generate_series(1, 20) as i) else '' end,
        case when w > 0 then pg_temp.varint(168) || pg_temp.varint(w) else '' end,
        case when r > 0 then pg_temp.varint(144) || pg_temp.varint(r) else '' end,
        case when m > 0 then pg_temp.varint(120) || pg_temp.varint(greatest(1, m / 4)) else '' end,
        case when m > 0 then pg_temp.varint(112) || pg_temp.varint(m) else '' end, '{"all": 12, "read": 8}'
    from (select time, batch_id, job_id, volume_id, node_id, coalesce(sum(bytes) filter (where op = 'read'), 0)::bigint as rb,
              coalesce(sum(bytes) filter (where op = 'write'), 0)::bigint as wb,
              coalesce(sum(ops) filter (where op = 'read'), 0)::bigint as r,
              coalesce(sum(ops) filter (where op = 'write'), 0)::bigint as w,
              coalesce(sum(ops) filter (where unblend.operation_class(op) = 'metadata'), 0)::bigint as m
          from piece join made using (node_id, time) group by 1, 2, 3, 4, 5) as f"""

# As reports by the hour, and by five minutes since minutes are there, would have stored them. A span's demand is that
# of the rollups; which patterns a tenant's work is made of does not change, but for noise.
PROFILES = """
create temp table recipe (tenant text, kind text, profile text, of_ops float8, of_bytes float8, confidence float8);
insert into recipe values ('vision', 'pattern', 'cv-training', 0.93, 0.7, 0.86), ('vision', 'pattern', 'checkpoint', 0.05, 0.28, 0.8),
    ('vision', 'pattern', 'unknown', 0.02, 0.02, 0.5), ('losf', 'pattern', 'losf', 0.97, 0.95, 0.94),
    ('losf', 'pattern', 'unknown', 0.03, 0.05, 0.5), ('web', 'pattern', 'shard-streaming', 0.8, 0.6, 0.85),
    ('web', 'pattern', 'checkpoint', 0.2, 0.4, 0.77), ('etl', 'pattern', 'ingest-scan', 0.75, 0.1, 0.9),
    ('etl', 'pattern', 'preprocess', 0.25, 0.9, 0.7), ('llm', 'pattern', 'mmap-read', 0.1, 0.2, 0.6),
    ('llm', 'pattern', 'checkpoint', 0.9, 0.8, 0.78), ('llm', 'pipeline', 'nlp-mixed', 1, 1, 0.66);
create temp table tenant as select job as name, max("user") as tenant from unblend.job group by 1;
insert into unblend.profile_share (subject, cluster, name, time, until, kind, profile, share_ops, share_bytes, confidence, ops, bytes)
    select 'job', d.cluster, d.name, d.time, d.time + d.long, r.kind, r.profile,
        case when total_ops > 0 then of_ops * shake / total_ops end, case when total_bytes > 0 then of_bytes * shake / total_bytes end,
        confidence, ops, bytes
    from (select time, interval '1 hour' as long, cluster, name, read_ops + write_ops + metadata_ops + other_ops as ops,
              read_bytes + write_bytes as bytes
          from unblend.demand_by_hour where subject = 'job' and time < to_timestamp({minutes_from})
          union all
          select to_timestamp(floor(extract(epoch from time) / 300) * 300), interval '5 minutes', cluster, name,
              sum(read_ops + write_ops + metadata_ops + other_ops), sum(read_bytes + write_bytes)
          from unblend.demand_by_minute where subject = 'job' group by 1, 2, 3, 4) as d
    join tenant as t using (name)
    cross join lateral (select r.*, sum(of_ops * shake) over (partition by kind) as total_ops,
            sum(of_bytes * shake) over (partition by kind) as total_bytes
        from (select r.*, 0.8 + 0.4 * pg_temp.noise(hashtext(d.name || r.profile), extract(epoch from d.time)::bigint, 9) as shake
              from recipe as r where r.tenant = t.tenant) as r) as r
    on conflict do nothing;
insert into unblend.profile_share (subject, cluster, name, time, until, kind, profile, share_ops, share_bytes, confidence, ops, bytes,
        effective)
    select 'cluster', cluster, '', time, until, 'pattern', profile, ops / nullif(total_ops, 0), bytes / nullif(total_bytes, 0), confidence,
        total_ops, total_bytes, exp(sum(- ops / total_ops * ln(greatest(ops / total_ops, 1e-9))) over (partition by cluster, time))
    from (select cluster, time, until, profile, sum(share_ops * ops) as ops, sum(share_bytes * bytes) as bytes, min(confidence) as confidence,
              sum(sum(share_ops * ops)) over (partition by cluster, time) as total_ops,
              sum(sum(share_bytes * bytes)) over (partition by cluster, time) as total_bytes
          from unblend.profile_share where subject = 'job' and kind = 'pattern' group by 1, 2, 3, 4) as p
    where total_ops > 0
"""
