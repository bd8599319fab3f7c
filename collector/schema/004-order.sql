-- SPDX-License-Identifier: GPL-2.0-or-later
-- Where transfers start, and what is in flight at an interval's end.

alter table unblend.sample
    add column sequential  bigint not null default 0,
    add column consecutive bigint not null default 0,
    add column random      bigint not null default 0,
    add column in_flight   bigint not null default 0,
    add column oldest_ns   bigint not null default 0;

create or replace view unblend.samples as
select s.time, n.cluster, n.node, j.job, j.kind, j."user", v.volume, v.fstype, v.scope, s.op::text as op,
       unblend.operation_class(s.op) as class, s.ops, s.bytes, s.errors, s.latency_sum_ns, s.size, s.latency,
       s.batch_id, s.position, s.job_id, s.volume_id,
       s.sequential, s.consecutive, s.random, s.in_flight, s.oldest_ns
from unblend.sample as s
left join unblend.node as n using (node_id)
left join unblend.job as j using (job_id)
left join unblend.volume as v using (volume_id);
comment on view unblend.samples is
    'One row an interval of a series (job x volume x operation): operations, bytes really transferred, failed '
    'operations, summed latency in ns; size and latency are histograms, read by histogram_cells(), '
    'histogram_merge() and histogram_quantile(); size of open and create is the file''s. sequential, consecutive '
    'and random count transfers that start beyond, at and before the end of the one before on the same open '
    'file; in_flight operations were running at the interval''s end, the oldest for oldest_ns.';
