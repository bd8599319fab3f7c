-- SPDX-License-Identifier: GPL-2.0-or-later
-- How full volumes are, as agents ask once a minute.

-- [[volume, used_bytes, total_bytes, used_files, total_files], ...]: volume is a place in volume_ids, from 0; no
-- total_files means that nobody can tell.
alter table unblend.batch add column space json;

create or replace view unblend.storage_lists as
select b.time, b.batch_id, b.storage, b.space
from unblend.batch as b
where b.storage is not null or b.space is not null;
comment on view unblend.storage_lists is
    'What the storage side told of one interval, as it came, and how full volumes were: [[volume, used_bytes, '
    'total_bytes, used_files, total_files], ...]; volume and job are places in volume_ids and job_ids of intervals, from 0.';

create view unblend.space as
select b.time, n.cluster, n.node, v.volume, v.source, v.fstype, v.scope,
       (s.told->>1)::bigint as used_bytes, (s.told->>2)::bigint as total_bytes,
       case when (s.told->>4)::bigint > 0 then (s.told->>3)::bigint end as used_files,
       nullif((s.told->>4)::bigint, 0) as total_files, b.batch_id
from unblend.batch as b
cross join lateral json_array_elements(b.space) as s (told)
left join unblend.node as n using (node_id)
left join unblend.volume as v on v.volume_id = b.volume_ids[(s.told->>0)::integer + 1];
comment on view unblend.space is
    'How full a volume was, as a node that mounts it asked in that interval. total is what may be used: without what is '
    'kept for root. Files are null where the file system does not count them.';
