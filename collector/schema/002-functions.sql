-- SPDX-License-Identifier: GPL-2.0-or-later
-- Histograms in SQL. A histogram is a bytea of LEB128 varints: for every bucket in use the distance to the
-- bucket before it, then the count. Buckets are base-2 log-linear, eight to an octave.

create function unblend.bucket_lower(bucket integer) returns numeric
language sql immutable strict parallel safe as $$
    select case when bucket < 16 then bucket
                when bucket < 488 then (8 + (bucket & 7))::bigint << ((bucket >> 3) - 1)
                else trunc((8 + (bucket & 7)) * 2::numeric ^ ((bucket >> 3) - 1)) end
$$;
comment on function unblend.bucket_lower(integer) is
    'The smallest value (bytes or ns) of a histogram bucket; the next bucket''s is its upper, exclusive bound.';

create function unblend.histogram_cells(histogram bytea) returns table (bucket integer, count bigint)
language plpgsql immutable strict parallel safe rows 12 as $$
declare
    value bigint := 0;
    shift integer := 0;
    octet integer;
    is_count boolean := false;
begin
    bucket := 0;
    for i in 0 .. length(histogram) - 1 loop
        octet := get_byte(histogram, i);
        value := value | ((octet & 127)::bigint << shift);
        if octet >= 128 then
            shift := shift + 7;
            continue;
        end if;
        if is_count then
            count := value;
            return next;
        else
            bucket := bucket + value;
        end if;
        is_count := not is_count;
        value := 0;
        shift := 0;
    end loop;
end
$$;
comment on function unblend.histogram_cells(bytea) is
    'The buckets of a histogram that are in use, with their counts.';

create function unblend.histogram_merge(histograms bytea[]) returns table (bucket integer, count bigint)
language sql immutable strict parallel safe rows 50 as $$
    -- equal histograms are decoded once
    select cell.bucket, sum(cell.count * h.times)::bigint
    from (select bytes, count(*) as times from unnest(histograms) as bytes group by bytes) as h
    cross join lateral unblend.histogram_cells(h.bytes) as cell
    group by cell.bucket
    order by cell.bucket
$$;
comment on function unblend.histogram_merge(bytea[]) is
    'The sum of many histograms: histogram_merge(array_agg(latency)).';

create function unblend.histogram_quantile(histograms bytea[], q double precision) returns numeric
language sql immutable strict parallel safe as $$
    with cell as (select * from unblend.histogram_merge(histograms)),
    ranked as (
        select bucket, sum(count) over (order by bucket) as upto, sum(count) over () as total from cell
    )
    select unblend.bucket_lower(min(bucket)) from ranked
    where upto >= greatest(1, ceil(q::numeric * total))
$$;
comment on function unblend.histogram_quantile(bytea[], double precision) is
    'Nearest-rank quantile of many histograms, as its bucket''s lower bound: '
    'histogram_quantile(array_agg(latency), 0.99). Null when there is nothing to rank.';

create function unblend.operation_class(op unblend.operation) returns text
language sql immutable strict parallel safe as $$
    select case
        when op in ('read', 'write') then 'data'
        when op = 'seek' then 'seek'
        when op = 'fsync' then 'sync'
        when op = 'mmap_fault' then 'fault'
        when op in ('block_read', 'block_write', 'block_flush', 'block_discard') then 'block'
        else 'metadata' end
$$;
comment on function unblend.operation_class(unblend.operation) is
    'data, metadata, seek, sync, fault or block.';

create function unblend.timestamp_of(ns bigint) returns timestamptz
language sql immutable strict parallel safe as $$
    select timestamptz '1970-01-01 00:00:00Z' + (ns / 1000) * interval '1 microsecond'
$$;
comment on function unblend.timestamp_of(bigint) is 'Nanoseconds since 1970 as a time, cut to microseconds.';
