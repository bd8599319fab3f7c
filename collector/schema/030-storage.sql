-- SPDX-License-Identifier: GPL-2.0-or-later
-- The storage side: devices, file systems' servers and clients, and what platforms count themselves.

-- As in a batch: unblend-batch(5). volume and job are places in volume_ids and job_ids, from 0.
alter table unblend.batch add column storage json;

create view unblend.storage_lists as
select b.time, b.batch_id, b.storage
from unblend.batch as b
where b.storage is not null;
comment on view unblend.storage_lists is
    'What the storage side told of one interval, as it came; volume and job are places in volume_ids and job_ids of '
    'intervals, from 0.';

create view unblend.storage as
select b.time, n.cluster, n.node, s.told->>'layer' as layer, v.volume, v.source, v.fstype,
       s.told->>'request' as request, s.told->>'for' as party, j.job, s.told->>'server' as server,
       (s.told->>'ops')::bigint as requests, (s.told->>'bytes')::bigint as bytes,
       (s.told->>'errors')::bigint as errors, (s.told->>'merges')::bigint as merges,
       (s.told->>'queue_sum_ns')::bigint as queue_sum_ns, (s.told->>'service_sum_ns')::bigint as service_sum_ns,
       (s.told->>'in_flight')::bigint as in_flight, b.batch_id
from unblend.batch as b
cross join lateral json_array_elements(b.storage) as s (told)
left join unblend.node as n using (node_id)
left join unblend.volume as v on v.volume_id = b.volume_ids[(s.told->>'volume')::integer + 1]
left join unblend.job as j on j.job_id = b.job_ids[(s.told->>'job')::integer + 1];
comment on view unblend.storage is
    'One row an interval of a station (layer x volume), kind of request and party: requests that ended, their bytes, '
    'those merged into others, and how long all of them together were queued and served. layer: block, fuse, nfs-client '
    'and nfs-server are seen in the kernel, mountstats, nfsd, lustre, nvidia-fs and platform are counted by others. '
    'request all has what is in flight. party: job, writeback, kernel, unknown, or server, which names who serves. '
    'What was not observed is null.';
