-- SPDX-License-Identifier: GPL-2.0-or-later
-- What jobs did in which trees of volumes: the first folders below the root. Agents send them when told to (--trees).

-- As in a batch: unblend-batch(5). volume and job are places in volume_ids and job_ids, from 0.
alter table unblend.batch add column trees json;

create or replace view unblend.storage_lists as
select b.time, b.batch_id, b.storage, b.space, b.trees
from unblend.batch as b
where b.storage is not null or b.space is not null or b.trees is not null;
comment on view unblend.storage_lists is
    'What the storage side told of one interval, as it came, how full volumes were: [[volume, used_bytes, '
    'total_bytes, used_files, total_files], ...], and trees; volume and job are places in volume_ids and job_ids of '
    'intervals, from 0.';

create view unblend.trees as
select b.time, n.cluster, n.node, j.job, j.kind, j."user", v.volume, v.fstype, v.scope, t.told->>'tree' as tree,
       coalesce((t.told->>'opens')::bigint, 0) as opens, coalesce((t.told->>'reads')::bigint, 0) as reads,
       coalesce((t.told->>'writes')::bigint, 0) as writes, coalesce((t.told->>'metadata')::bigint, 0) as metadata,
       coalesce((t.told->>'read_bytes')::bigint, 0) as read_bytes,
       coalesce((t.told->>'write_bytes')::bigint, 0) as write_bytes,
       coalesce((t.told->>'wait_ns')::bigint, 0) as wait_ns, t.told->>'files' as files, b.batch_id
from unblend.batch as b
cross join lateral json_array_elements(b.trees) as t (told)
left join unblend.node as n using (node_id)
left join unblend.job as j on j.job_id = b.job_ids[(t.told->>'job')::integer + 1]
left join unblend.volume as v on v.volume_id = b.volume_ids[(t.told->>'volume')::integer + 1];
comment on view unblend.trees is
    'One row an interval of a job in a tree of a volume, the first folders below its root (/ is the root itself), where '
    'agents send them: opens and creates, reads, writes, metadata operations (opens among them), bytes, the time inside '
    'all of them in ns, and the files that were opened, as in flows. What is in no tree that could be told is what samples '
    'have more.';
