-- SPDX-License-Identifier: GPL-2.0-or-later
-- The read contract: dashboards and the analyzer read these views.

create view unblend.nodes as
select n.cluster, n.node, h.role, h.kernel, h.boot_id, n.first_seen, s.last_batch as last_seen
from unblend.node as n
left join lateral (select max(last_batch) as last_batch from unblend.stream where node_id = n.node_id) as s
    on true
left join lateral (select role, kernel, boot_id from unblend.host where node_id = n.node_id
                   order by host_id desc limit 1) as h on true;
comment on view unblend.nodes is 'Every node that has sent a batch; what it last said about itself.';

create view unblend.jobs as
select j.job_id, n.cluster, n.node, j.job, j.kind, j."user", j.command, j.labels, j.start_ns, j.end_ns,
       unblend.timestamp_of(j.start_ns) as started, unblend.timestamp_of(j.end_ns) as ended, j.exit
from unblend.job as j left join unblend.node as n using (node_id);
comment on view unblend.jobs is
    'One row an attempt of a job on a node; started, ended and exit are null where not known.';

create view unblend.volumes as
select v.volume_id, n.cluster, n.node, v.volume, v.source, v.fstype, v.scope, v.mounts
from unblend.volume as v left join unblend.node as n using (node_id);
comment on view unblend.volumes is 'Volumes as each node mounts them; scope is shared or local.';

-- Left joins on keys, here and below: a query pays only for the tables whose columns it names.
create view unblend.intervals as
select b.time, n.cluster, n.node, h.role, h.kernel, h.boot_id, s.stream, b.seq, b.start_ns, b.duration_ns,
       b.interval_ms, b.records, b.lost as lost_ops, b.killed as killed_ops, b.in_flight as in_flight_ops,
       b.unattributed as unattributed_ops, b.overflow as overflow_ops,
       h.hooks, h.bypasses as bypass, b.received, b.batch_id, b.job_ids, b.job_end_ns, b.job_exit, b.volume_ids
from unblend.batch as b
left join unblend.node as n using (node_id)
left join unblend.stream as s using (stream_id)
left join unblend.host as h using (host_id);
comment on view unblend.intervals is
    'One row an interval of a node: what was measured, and what could not be seen. Counts are operations. '
    'job_ids and volume_ids are those that the node knew then; job_end_ns and job_exit stand beside job_ids.';

create view unblend.samples as
select s.time, n.cluster, n.node, j.job, j.kind, j."user", v.volume, v.fstype, v.scope, s.op::text as op,
       unblend.operation_class(s.op) as class, s.ops, s.bytes, s.errors, s.latency_sum_ns, s.size, s.latency,
       s.batch_id, s.position, s.job_id, s.volume_id
from unblend.sample as s
left join unblend.node as n using (node_id)
left join unblend.job as j using (job_id)
left join unblend.volume as v using (volume_id);
comment on view unblend.samples is
    'One row an interval of a series (job x volume x operation): operations, bytes really transferred, failed '
    'operations, summed latency in ns; size and latency are histograms, read by histogram_cells(), '
    'histogram_merge() and histogram_quantile().';
