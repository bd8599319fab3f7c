-- SPDX-License-Identifier: GPL-2.0-or-later
-- Demand by slots of 100 ms, and latencies in bursts and outside of them.

alter table unblend.sample
    add column in_flight_ns bigint not null default 0;

-- One row an interval of a job on a volume. Slots are run-length lists: a bytea of LEB128 varints, for each run the
-- value and how often it comes; empty when all are 0. first_slot * 100 ms after 1970 is when the first one starts.
create table unblend.flow (
    time            timestamptz not null,
    batch_id        bigint not null,
    job_id          bigint not null,
    volume_id       bigint not null,
    node_id         integer not null,
    position        integer not null, -- in its batch
    first_slot      bigint not null,
    slots           integer not null,
    read_bytes      bytea not null,
    write_bytes     bytea not null,
    read_ops        bytea not null,
    write_ops       bytea not null,
    metadata_ops    bytea not null,
    data_burst      bytea not null, -- histograms, as in sample
    data_steady     bytea not null,
    metadata_burst  bytea not null,
    metadata_steady bytea not null,
    in_flight_max   json not null -- the most operations seen at once: {"all": 3, "read": 2}
) partition by range (time);
create index flow_time on unblend.flow using brin (time) with (pages_per_range = 32);
create table unblend.flow_default partition of unblend.flow default;

create function unblend.slot_values(first_slot bigint, runs bytea) returns table (slot bigint, value bigint)
language plpgsql immutable strict parallel safe rows 100 as $$
declare
    number bigint := 0;
    shift integer := 0;
    octet integer;
    is_times boolean := false;
begin
    slot := first_slot;
    for i in 0 .. length(runs) - 1 loop
        octet := get_byte(runs, i);
        number := number | ((octet & 127)::bigint << shift);
        if octet >= 128 then
            shift := shift + 7;
            continue;
        end if;
        if is_times then
            for k in 1 .. number loop
                return next;
                slot := slot + 1;
            end loop;
        else
            value := number;
        end if;
        is_times := not is_times;
        number := 0;
        shift := 0;
    end loop;
end
$$;
comment on function unblend.slot_values(bigint, bytea) is
    'A flow''s demand slot by slot: slot_values(first_slot, read_bytes). A slot starts slot * 100 ms after 1970; '
    'empty when there was no such demand.';

create or replace view unblend.samples as
select s.time, n.cluster, n.node, j.job, j.kind, j."user", v.volume, v.fstype, v.scope, s.op::text as op,
       unblend.operation_class(s.op) as class, s.ops, s.bytes, s.errors, s.latency_sum_ns, s.size, s.latency,
       s.batch_id, s.position, s.job_id, s.volume_id,
       s.sequential, s.consecutive, s.random, s.in_flight, s.oldest_ns,
       s.cache_hit_ops, s.cache_hit_bytes, s.cache_miss_ops, s.cache_miss_bytes,
       s.read_faults, s.write_faults, s.minor_faults, s.error_codes, s.in_flight_ns
from unblend.sample as s
left join unblend.node as n using (node_id)
left join unblend.job as j using (job_id)
left join unblend.volume as v using (volume_id);
comment on view unblend.samples is
    'One row an interval of a series (job x volume x operation): operations, bytes really transferred, failed '
    'operations, summed latency in ns; size and latency are histograms, read by histogram_cells(), '
    'histogram_merge() and histogram_quantile(); size of open and create is the file''s. sequential, consecutive '
    'and random count transfers that start beyond, at and before the end of the one before on the same open '
    'file; in_flight operations were running at the interval''s end, the oldest for oldest_ns, all together for '
    'in_flight_ns. cache_hit_* and cache_miss_* are of reads for which it is known whether the page cache served them, and both 0 where it is '
    'not; read_faults, write_faults and minor_faults are of mmap_fault; error_codes has errors by the name of '
    'their errno.';

create view unblend.flows as
select f.time, n.cluster, n.node, j.job, j.kind, j."user", v.volume, v.fstype, v.scope, f.first_slot, f.slots,
       f.read_bytes, f.write_bytes, f.read_ops, f.write_ops, f.metadata_ops, f.data_burst, f.data_steady,
       f.metadata_burst, f.metadata_steady, f.in_flight_max, f.batch_id, f.position, f.job_id, f.volume_id
from unblend.flow as f
left join unblend.node as n using (node_id)
left join unblend.job as j using (job_id)
left join unblend.volume as v using (volume_id);
comment on view unblend.flows is
    'One row an interval of a job on a volume: its demand in slots of 100 ms, read by slot_values(); latencies of '
    'reads and writes (data) and of metadata operations that ended in bursts and outside of them, as histograms; and '
    'the most operations that were seen running at once.';
