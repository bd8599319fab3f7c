-- SPDX-License-Identifier: GPL-2.0-or-later
-- Which files a job opened on a volume, as a sample by hashes that merges over time and nodes.

alter table unblend.flow add column files text; -- as in a batch: unblend-batch(5)

create or replace view unblend.flows as
select f.time, n.cluster, n.node, j.job, j.kind, j."user", v.volume, v.fstype, v.scope, f.first_slot, f.slots,
       f.read_bytes, f.write_bytes, f.read_ops, f.write_ops, f.metadata_ops, f.data_burst, f.data_steady,
       f.metadata_burst, f.metadata_steady, f.in_flight_max, f.batch_id, f.position, f.job_id, f.volume_id, f.files
from unblend.flow as f
left join unblend.node as n using (node_id)
left join unblend.job as j using (job_id)
left join unblend.volume as v using (volume_id);
comment on view unblend.flows is
    'One row an interval of a job on a volume: its demand in slots of 100 ms, read by slot_values(); latencies of '
    'reads and writes (data) and of metadata operations that ended in bursts and outside of them, as histograms; '
    'the most operations that were seen running at once; and files that were opened, a sample as text: its shift, then '
    'hash:bytes of each file; null when there was none.';

-- How many distinct files lists of that kind have together, and their bytes: those that the largest shift leaves in,
-- times 2^shift.
create function unblend.files_together(lists text[], out files double precision, out bytes double precision)
language sql immutable strict parallel safe as $$
    with list as (
        select split_part(l, ' ', 1)::integer as shift, string_to_array(l, ' ') as entries from unnest(lists) as l
    ), largest as (
        select max(shift) as shift from list
    ), file as (
        select split_part(e, ':', 1) as hash, max(split_part(e, ':', 2)::bigint) as bytes
        from list, unnest(entries[2:]) as e group by 1
    ), kept as (
        select f.bytes from file as f, largest
        where (('x' || lpad(f.hash, 16, '0'))::bit(64)::bigint & ((1::bigint << largest.shift) - 1)) = 0
    )
    select count(*) * 2.0 ^ (select shift from largest), coalesce(sum(kept.bytes), 0)::double precision * 2.0 ^ (select shift from largest)
    from kept
$$;
comment on function unblend.files_together(text[]) is
    'Distinct files, and their bytes, of files lists of unblend.flows together: an estimate, exact while all shifts are 0.';
