-- SPDX-License-Identifier: GPL-2.0-or-later
-- The volume below an overlay.

alter table unblend.volume add column lower text; -- null: not an overlay, or not known

create or replace view unblend.volumes as
select v.volume_id, n.cluster, n.node, v.volume, v.source, v.fstype, v.scope, v.mounts, v.lower
from unblend.volume as v left join unblend.node as n using (node_id);
comment on view unblend.volumes is
    'Volumes as each node mounts them; scope is shared or local; lower is the volume that an overlay''s files are on.';
