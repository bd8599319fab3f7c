-- SPDX-License-Identifier: GPL-2.0-or-later
-- Transfers by size, by how large their file is and by whether they jump, all together.

-- The same in each tier.
do $$
declare
    tier text;
begin
    foreach tier in array array['', '_1m', '_1h'] loop
        execute format($sql$
            alter table unblend.sample%1$s add column joint bytea; -- null: not known
            create or replace view unblend.samples%1$s as
            select s.time, n.cluster, n.node, j.job, j.kind, j."user", v.volume, v.fstype, v.scope, s.op::text as op,
                   unblend.operation_class(s.op) as class, s.ops, s.bytes, s.errors, s.latency_sum_ns, s.size, s.latency,
                   s.batch_id, s.position, s.job_id, s.volume_id,
                   s.sequential, s.consecutive, s.random, s.in_flight, s.oldest_ns,
                   s.cache_hit_ops, s.cache_hit_bytes, s.cache_miss_ops, s.cache_miss_bytes,
                   s.read_faults, s.write_faults, s.minor_faults, s.error_codes, s.in_flight_ns,
                   case s.op when 'read' then s.read_faults end as small_file_reads,
                   case s.op when 'read' then s.write_faults end as medium_file_reads,
                   case s.op when 'read' then s.minor_faults end as large_file_reads, s.joint
            from unblend.sample%1$s as s
            left join unblend.node as n using (node_id)
            left join unblend.job as j using (job_id)
            left join unblend.volume as v using (volume_id) $sql$, tier);
    end loop;
end
$$;

-- Places in it are those of lib/joint.h: 496 sizes of each kind of files, of all their transfers and then of those that jump.
create function unblend.joint_cells(joint bytea) returns table (files text, jumped boolean, bucket integer, count bigint)
language sql immutable strict parallel safe rows 12 as $$
    select (array['small', 'medium', 'large'])[cell.bucket / 496 % 4], cell.bucket / (4 * 496) = 1, cell.bucket % 496, cell.count
    from unblend.histogram_cells(joint) as cell
$$;
comment on function unblend.joint_cells(bytea) is
    'Transfers by how large their file is (null: not known), whether they are those that jumped or all of that kind, and '
    'the bucket of their size. All of files whose size is not known are the rest of the column size.';

comment on column unblend.samples.joint is
    'Transfers by size, kind of file and whether they jump together, read by joint_cells(); null: not known.';
