-- SPDX-License-Identifier: GPL-2.0-or-later
-- Errors by errno, what the page cache did for reads, page faults by kind.

alter table unblend.sample
    add column cache_hit_ops    bigint not null default 0,
    add column cache_hit_bytes  bigint not null default 0,
    add column cache_miss_ops   bigint not null default 0,
    add column cache_miss_bytes bigint not null default 0,
    add column read_faults      bigint not null default 0,
    add column write_faults     bigint not null default 0,
    add column minor_faults     bigint not null default 0,
    add column error_codes      json; -- null: none is known

create or replace view unblend.samples as
select s.time, n.cluster, n.node, j.job, j.kind, j."user", v.volume, v.fstype, v.scope, s.op::text as op,
       unblend.operation_class(s.op) as class, s.ops, s.bytes, s.errors, s.latency_sum_ns, s.size, s.latency,
       s.batch_id, s.position, s.job_id, s.volume_id,
       s.sequential, s.consecutive, s.random, s.in_flight, s.oldest_ns,
       s.cache_hit_ops, s.cache_hit_bytes, s.cache_miss_ops, s.cache_miss_bytes,
       s.read_faults, s.write_faults, s.minor_faults, s.error_codes
from unblend.sample as s
left join unblend.node as n using (node_id)
left join unblend.job as j using (job_id)
left join unblend.volume as v using (volume_id);
comment on view unblend.samples is
    'One row an interval of a series (job x volume x operation): operations, bytes really transferred, failed '
    'operations, summed latency in ns; size and latency are histograms, read by histogram_cells(), '
    'histogram_merge() and histogram_quantile(); size of open and create is the file''s. sequential, consecutive '
    'and random count transfers that start beyond, at and before the end of the one before on the same open '
    'file; in_flight operations were running at the interval''s end, the oldest for oldest_ns. cache_hit_* and '
    'cache_miss_* are of reads for which it is known whether the page cache served them, and both 0 where it is '
    'not; read_faults, write_faults and minor_faults are of mmap_fault; error_codes has errors by the name of '
    'their errno.';
