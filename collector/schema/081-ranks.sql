-- SPDX-License-Identifier: GPL-2.0-or-later
-- Quantiles over time in half the time and less: a histogram that is alone in its step and part is ranked as it is
-- stored, and the others are told apart by a number, not by a time and a text.

create function unblend.histogram_ranks(buckets smallint[], counts bigint[], q double precision[]) returns smallint[]
language plpgsql immutable strict parallel safe as $$
declare
    ranks smallint[] := '{}';
    total double precision := 0;
    wanted double precision;
    upto double precision;
    place integer;
    share double precision;
    count bigint;
begin
    foreach count in array counts loop
        total := total + count;
    end loop;
    foreach share in array q loop
        wanted := greatest(1, ceil(share * total));
        upto := 0;
        place := 0;
        foreach count in array counts loop
            upto := upto + count;
            place := place + 1;
            exit when upto >= wanted;
        end loop;
        ranks := ranks || case when upto >= wanted then buckets[place] end;
    end loop;
    return ranks;
end
$$;
comment on function unblend.histogram_ranks(smallint[], bigint[], double precision[]) is
    'Nearest-rank quantiles of one histogram, as its buckets; null where there is nothing to rank. Buckets ascend, and '
    'may come twice.';

create function unblend.histogram_rows(subject text, clusters text[], names text[], listed text[], metric text,
                                       since timestamptz, until timestamptz, step interval, by text)
returns table (series bigint, rows bigint, "time" timestamptz, part text, buckets smallint[], counts bigint[])
language plpgsql stable security definer rows 5000
set search_path = pg_catalog set jit = off set work_mem = '64MB' as $$
#variable_conflict use_column
declare
    -- All of a kind together are the cluster: a row where there were hundreds.
    together constant boolean := ($3 is null or array_position($3, null) is not null)
        and $9 not in ('name', 'both');
    ids constant bigint[] := unblend.subject_ids(case when together then 'cluster' else $1 end, $2,
                                                 case when not together then $3 end);
    wanted constant unblend.operation[] := coalesce($4::unblend.operation[], enum_range(null::unblend.operation));
    width constant double precision := coalesce(unblend.step_for($6, $7, $8), 1e9);
    last_at constant timestamptz := least($7, now() - interval '1 minute');
    first_at constant timestamptz := case when $8 is null then $6
        else to_timestamp(floor(extract(epoch from $6)::double precision / width) * width) end;
begin
    if metric is null or metric not in ('size', 'latency') then
        raise exception 'a histogram of %: there are size and latency', coalesce(metric, 'null');
    end if;
    return query execute format($sql$
        select dense_rank() over (order by t.at, t.part collate "C"),
               count(*) over (partition by t.at, t.part collate "C"), t.at, t.part, t.buckets, t.counts
        from (select case when $5 then $2
                     else to_timestamp(floor(extract(epoch from t.time)::double precision / $4) * $4) end as at,
                     %s as part, t.%I as buckets, t.%I as counts
              from %s as t where t.subject_id = any($1) and t.op = any($6) and t.time >= $2 and t.time < $3) as t
        where t.buckets <> '{}' $sql$,
        case $9 when 'op' then 't.op::text'
                when 'name' then '(select s.name from unblend.subject as s where s.subject_id = t.subject_id)'
                when 'both' then '(select s.name || '' '' || t.op from unblend.subject as s where s.subject_id = '
                    't.subject_id)'
                else '''''::text' end,
        metric || '_buckets', metric || '_counts',
        case unblend.tier_for($6, $7) when '1m' then 'unblend.total_1m' else 'unblend.total_1h' end)
        using ids, first_at, last_at, width, $8 is null, wanted;
end
$$;
comment on function unblend.histogram_rows(text, text[], text[], text[], text, timestamptz, timestamptz, interval,
                                           text) is
    'What cells() and quantiles() are made of: histograms by step and part, as they are stored. series numbers the '
    'pairs of these, in their order; rows is how many each has. Arguments as for cells().';

create or replace function unblend.cells(subject text, clusters text[], names text[], listed text[], metric text,
                                         since timestamptz, until timestamptz, step interval, by text)
returns table ("time" timestamptz, part text, bucket smallint, count double precision)
language sql stable set jit = off set work_mem = '64MB' as $$
    select c.time, c.part collate "C", c.bucket, sum(c.count::double precision)
    from (select r.time, r.part, unnest(r.buckets) as bucket, unnest(r.counts) as count
          from unblend.histogram_rows($1, $2, $3, $4, $5, $6, $7, $8, $9) as r offset 0) as c
    group by 1, 2, 3 order by 1, 2, 3
$$;

create or replace function unblend.quantiles(subject text, clusters text[], names text[], listed text[], metric text,
                                  since timestamptz, until timestamptz, step interval, q double precision[], by text)
returns table ("time" timestamptz, part text, quantile double precision, value numeric)
language sql stable set jit = off set work_mem = '64MB' as $$
    with r as materialized (select * from unblend.histogram_rows($1, $2, $3, $4, $5, $6, $7, $8, $10)),
    ranked as (
        select r.series, r.time, r.part, unblend.histogram_ranks(r.buckets, r.counts, $9) as ranks
        from r where r.rows = 1
        union all
        select h.series, s.time, s.part, unblend.histogram_ranks(h.buckets, h.counts, $9)
        from (select c.series, array_agg(c.bucket) as buckets, array_agg(c.count) as counts
              -- A few rows cost less to put in order than to sum up; a bucket may come twice.
              from (select r.series, unnest(r.buckets) as bucket, unnest(r.counts) as count
                    from r where r.rows between 2 and 8
                    union all
                    select c.series, c.bucket, sum(c.count::double precision)::bigint
                    from (select r.series, unnest(r.buckets) as bucket, unnest(r.counts) as count
                          from r where r.rows > 8 offset 0) as c
                    group by 1, 2
                    order by 1, 2) as c
              group by 1) as h
        join (select distinct r.series, r.time, r.part from r where r.rows > 1) as s using (series)
    ),
    asked as (
        select r.series, r.time, r.part, a.q, a.bucket
        from ranked as r cross join lateral unnest($9, r.ranks) as a (q, bucket) where a.bucket is not null
    )
    select a.time, a.part, a.q, b.value
    from asked as a
    join (select d.bucket, unblend.bucket_lower(d.bucket) as value from (select distinct bucket from asked) as d) as b
        using (bucket)
    order by a.series, a.q
$$;
