-- SPDX-License-Identifier: GPL-2.0-or-later
-- Demand in windows from 100 ms on, out of the flows of jobs: what averages hide.

-- Runs are added up as they are read, into one array over the span: no row a slot.
create function unblend.windows(clusters text[], jobs text[], metric text, since timestamptz, until timestamptz,
                                width_ms integer)
returns table ("time" timestamptz, value bigint)
language plpgsql stable security definer set search_path = pg_catalog set jit = off set work_mem = '64MB' as $$
#variable_conflict use_column
declare
    slots constant bigint := greatest(1, $6 / 100);
    first constant bigint := floor(extract(epoch from $4) * 10 / greatest(1, $6 / 100))::bigint;
    size constant integer := least(1000000, floor(extract(epoch from $5) * 10 / greatest(1, $6 / 100))::bigint - first);
    sums bigint[] := array_fill(0::bigint, array[greatest(size, 1)]);
    ids constant bigint[] := array(select j.job_id from unblend.job as j join unblend.node as n using (node_id)
                                   where n.cluster = any($1) and j.job = any($2));
    flow record;
    runs bytea;
    slot bigint;
    stop bigint;
    upto bigint;
    number bigint;
    worth bigint;
    shift integer;
    octet integer;
    is_times boolean;
begin
    if $3 is null or $3 not in ('bytes', 'read_bytes', 'write_bytes', 'data_ops', 'metadata_ops') then
        raise exception 'windows of %: there are bytes, read_bytes, write_bytes, data_ops and metadata_ops',
            coalesce($3, 'null');
    end if;
    for flow in select f.first_slot, array[
                    case when $3 in ('bytes', 'read_bytes') then f.read_bytes end,
                    case when $3 in ('bytes', 'write_bytes') then f.write_bytes end,
                    case when $3 = 'data_ops' then f.read_ops end, case when $3 = 'data_ops' then f.write_ops end,
                    case when $3 = 'metadata_ops' then f.metadata_ops end] as demands
                from unblend.flow as f
                where f.time >= $4 - interval '1 minute' and f.time < $5 and f.job_id = any(ids) loop
        foreach runs in array flow.demands loop
            continue when runs is null;
            slot := flow.first_slot;
            number := 0;
            shift := 0;
            is_times := false;
            for i in 0 .. length(runs) - 1 loop
                octet := get_byte(runs, i);
                number := number | ((octet & 127)::bigint << shift);
                if octet >= 128 then
                    shift := shift + 7;
                    continue;
                end if;
                if not is_times then
                    worth := number;
                else
                    stop := slot + number;
                    while worth > 0 and slot < stop loop -- a window at a time
                        upto := least(stop, (slot / slots + 1) * slots);
                        if slot / slots >= first and slot / slots < first + size then
                            sums[slot / slots - first + 1] := sums[slot / slots - first + 1] + worth * (upto - slot);
                        end if;
                        slot := upto;
                    end loop;
                    slot := stop;
                end if;
                is_times := not is_times;
                number := 0;
                shift := 0;
            end loop;
        end loop;
    end loop;
    if size > 0 then
        return query select to_timestamp((first + w.i - 1) * slots / 10.0), w.value
                     from unnest(sums) with ordinality as w (value, i);
    end if;
end
$$;
comment on function unblend.windows(text[], text[], text, timestamptz, timestamptz, integer) is
    'windows(clusters, jobs, metric, since, until, width_ms): what jobs asked for, all nodes and volumes together, window '
    'by window, the empty ones too; at most a million of them. metric: bytes, read_bytes, write_bytes, data_ops or '
    'metadata_ops. Windows are whole multiples of 100 ms, aligned to the wall clock.';

-- The flow's latencies, likewise without the views' joins.
create function unblend.burst_quantiles(clusters text[], jobs text[], since timestamptz, until timestamptz,
                                        q double precision[])
returns table (class text, bursts boolean, quantile double precision, value numeric, count numeric)
language sql stable security definer set search_path = pg_catalog set jit = off set work_mem = '64MB' as $$
    with chosen as (
        select f.data_burst, f.data_steady, f.metadata_burst, f.metadata_steady
        from unblend.flow as f
        where f.time >= $3 and f.time < $4 and f.job_id = any(array(
            select j.job_id from unblend.job as j join unblend.node as n using (node_id)
            where n.cluster = any($1) and j.job = any($2)))
    ),
    part as (
        select 'data' as class, true as bursts, data_burst as histogram from chosen
        union all select 'data', false, data_steady from chosen
        union all select 'metadata', true, metadata_burst from chosen
        union all select 'metadata', false, metadata_steady from chosen
    ),
    cell as (
        select h.class, h.bursts, c.bucket, sum(c.count * h.times) as count
        from (select class, bursts, histogram, count(*) as times from part where length(histogram) > 0
              group by 1, 2, 3) as h, unblend.histogram_cells(h.histogram) as c
        group by 1, 2, 3
    ),
    ranked as (
        select class, bursts, bucket, sum(count) over (partition by class, bursts order by bucket) as upto,
               sum(count) over (partition by class, bursts) as total from cell
    )
    select r.class, r.bursts, asked.q, unblend.bucket_lower(min(r.bucket)), max(r.total)
    from ranked as r cross join unnest($5) as asked (q)
    where r.upto >= greatest(1, ceil(asked.q::numeric * r.total))
    group by 1, 2, 3 order by 1, 2, 3
$$;
comment on function unblend.burst_quantiles(text[], text[], timestamptz, timestamptz, double precision[]) is
    'burst_quantiles(clusters, jobs, since, until, q): latencies of operations that ended in bursts, and of the others; '
    'class is data or metadata, count how many they were. Octaves: a value is its octave''s lower bound.';
