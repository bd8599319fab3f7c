-- SPDX-License-Identifier: GPL-2.0-or-later
-- For how long a node's tasks waited for I/O, as its kernel tells it.

alter table unblend.batch add column io_some_ns bigint, add column io_full_ns bigint; -- null: not told
alter table unblend.batch_1m add column io_some_ns bigint, add column io_full_ns bigint;
alter table unblend.batch_1h add column io_some_ns bigint, add column io_full_ns bigint;

create or replace view unblend.intervals as
select b.time, n.cluster, n.node, h.role, h.kernel, h.boot_id, s.stream, b.seq, b.start_ns, b.duration_ns,
       b.interval_ms, b.records, b.lost as lost_ops, b.killed as killed_ops, b.in_flight as in_flight_ops,
       b.unattributed as unattributed_ops, b.overflow as overflow_ops,
       h.hooks, h.bypasses as bypass, b.received, b.batch_id, b.job_ids, b.job_end_ns, b.job_exit, b.volume_ids,
       b.shed_ms, b.io_some_ns, b.io_full_ns
from unblend.batch as b
left join unblend.node as n using (node_id)
left join unblend.stream as s using (stream_id)
left join unblend.host as h using (host_id);
comment on view unblend.intervals is
    'One row an interval of a node: what was measured, and what could not be seen. Counts are operations. '
    'job_ids and volume_ids are those that the node knew then; job_end_ns and job_exit stand beside job_ids. '
    'shed_ms: for how long processes, all but metadata, and everything was left out to save cost. io_some_ns and '
    'io_full_ns: for how long at least one task, and all tasks that had something to do, waited for I/O, as the '
    'kernel tells it of the whole node (/proc/pressure/io); null where it does not.';

create or replace view unblend.intervals_1m as
select b.time, n.cluster, n.node, h.role, h.kernel, h.boot_id, s.stream, b.seq, b.start_ns, b.duration_ns,
       b.interval_ms, b.records, b.lost as lost_ops, b.killed as killed_ops, b.in_flight as in_flight_ops,
       b.unattributed as unattributed_ops, b.overflow as overflow_ops,
       h.hooks, h.bypasses as bypass, b.received, b.batch_id, b.job_ids, b.job_end_ns, b.job_exit, b.volume_ids,
       b.shed_ms, b.io_some_ns, b.io_full_ns
from unblend.batch_1m as b
left join unblend.node as n using (node_id)
left join unblend.stream as s using (stream_id)
left join unblend.host as h using (host_id);

create or replace view unblend.intervals_1h as
select b.time, n.cluster, n.node, h.role, h.kernel, h.boot_id, s.stream, b.seq, b.start_ns, b.duration_ns,
       b.interval_ms, b.records, b.lost as lost_ops, b.killed as killed_ops, b.in_flight as in_flight_ops,
       b.unattributed as unattributed_ops, b.overflow as overflow_ops,
       h.hooks, h.bypasses as bypass, b.received, b.batch_id, b.job_ids, b.job_end_ns, b.job_exit, b.volume_ids,
       b.shed_ms, b.io_some_ns, b.io_full_ns
from unblend.batch_1h as b
left join unblend.node as n using (node_id)
left join unblend.stream as s using (stream_id)
left join unblend.host as h using (host_id);
