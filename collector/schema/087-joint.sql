-- SPDX-License-Identifier: GPL-2.0-or-later
-- Transfers by size, by how large their file is and by whether they jump, all together.

alter table unblend.sample add column joint bytea; -- null: not known
alter table unblend.sample_1m add column joint bytea; -- null: not known
alter table unblend.sample_1h add column joint bytea; -- null: not known

create or replace view unblend.samples as
select s.time, n.cluster, n.node, j.job, j.kind, j."user", v.volume, v.fstype, v.scope, s.op::text as op,
       unblend.operation_class(s.op) as class, s.ops, s.bytes, s.errors, s.latency_sum_ns, s.size, s.latency,
       s.batch_id, s.position, s.job_id, s.volume_id,
       s.sequential, s.consecutive, s.random, s.in_flight, s.oldest_ns,
       s.cache_hit_ops, s.cache_hit_bytes, s.cache_miss_ops, s.cache_miss_bytes,
       s.read_faults, s.write_faults, s.minor_faults, s.error_codes, s.in_flight_ns,
       case s.op when 'read' then s.read_faults end as small_file_reads,
       case s.op when 'read' then s.write_faults end as medium_file_reads,
       case s.op when 'read' then s.minor_faults end as large_file_reads, s.joint
from unblend.sample as s
left join unblend.node as n using (node_id)
left join unblend.job as j using (job_id)
left join unblend.volume as v using (volume_id);

create or replace view unblend.samples_1m as
select s.time, n.cluster, n.node, j.job, j.kind, j."user", v.volume, v.fstype, v.scope, s.op::text as op,
       unblend.operation_class(s.op) as class, s.ops, s.bytes, s.errors, s.latency_sum_ns, s.size, s.latency,
       s.batch_id, s.position, s.job_id, s.volume_id,
       s.sequential, s.consecutive, s.random, s.in_flight, s.oldest_ns,
       s.cache_hit_ops, s.cache_hit_bytes, s.cache_miss_ops, s.cache_miss_bytes,
       s.read_faults, s.write_faults, s.minor_faults, s.error_codes, s.in_flight_ns,
       case s.op when 'read' then s.read_faults end as small_file_reads,
       case s.op when 'read' then s.write_faults end as medium_file_reads,
       case s.op when 'read' then s.minor_faults end as large_file_reads, s.joint
from unblend.sample_1m as s
left join unblend.node as n using (node_id)
left join unblend.job as j using (job_id)
left join unblend.volume as v using (volume_id);

create or replace view unblend.samples_1h as
select s.time, n.cluster, n.node, j.job, j.kind, j."user", v.volume, v.fstype, v.scope, s.op::text as op,
       unblend.operation_class(s.op) as class, s.ops, s.bytes, s.errors, s.latency_sum_ns, s.size, s.latency,
       s.batch_id, s.position, s.job_id, s.volume_id,
       s.sequential, s.consecutive, s.random, s.in_flight, s.oldest_ns,
       s.cache_hit_ops, s.cache_hit_bytes, s.cache_miss_ops, s.cache_miss_bytes,
       s.read_faults, s.write_faults, s.minor_faults, s.error_codes, s.in_flight_ns,
       case s.op when 'read' then s.read_faults end as small_file_reads,
       case s.op when 'read' then s.write_faults end as medium_file_reads,
       case s.op when 'read' then s.minor_faults end as large_file_reads, s.joint
from unblend.sample_1h as s
left join unblend.node as n using (node_id)
left join unblend.job as j using (job_id)
left join unblend.volume as v using (volume_id);

-- Places in it are those of lib/joint.h: 496 sizes of each kind of files, of all their transfers and then of those that jump.
create function unblend.joint_cells(joint bytea) returns table (files text, jumped boolean, bucket integer, count bigint)
language sql immutable strict parallel safe rows 12 as $$
    select (array['small', 'medium', 'large'])[cell.bucket / 496 % 4], cell.bucket / (4 * 496) = 1, cell.bucket % 496, cell.count
    from unblend.histogram_cells(joint) as cell
$$;
comment on function unblend.joint_cells(bytea) is
    'Transfers by how large their file is (null: not known), whether they are those that jumped or all of that kind, and '
    'the bucket of their size. All of files whose size is not known are the rest of the column size.';

comment on view unblend.samples is
    'One row an interval of a series (job x volume x operation): operations, bytes really transferred, failed '
    'operations, summed latency in ns; size and latency are histograms, read by histogram_cells(), '
    'histogram_merge() and histogram_quantile(); size of open and create is the file''s. sequential, consecutive '
    'and random count transfers that start beyond, at and before the end of the one before on the same open '
    'file; in_flight operations were running at the interval''s end, the oldest for oldest_ns, all together for '
    'in_flight_ns. cache_hit_* and cache_miss_* are of reads for which it is known whether the page cache served them, and both 0 where it is '
    'not; of writes, cache_miss_bytes are those of bytes that had just come from the network, cache_hit_bytes what their '
    'processes received from it meanwhile, and cache_hit_ops the bytes that these read in the seconds in which they '
    'wrote. small_file_reads, medium_file_reads and large_file_reads count reads that moved something, of files below '
    '128 KiB, below 4 MiB and larger ones; those that are in none are of files whose size is not known. read_faults, '
    'write_faults and minor_faults are of mmap_fault; error_codes has errors by the name of their errno. joint has '
    'transfers by size, kind of file and whether they jump together, read by joint_cells().';
