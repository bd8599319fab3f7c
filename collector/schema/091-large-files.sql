-- SPDX-License-Identifier: GPL-2.0-or-later
-- Large files are in samples of files sooner than others, of which a plus behind the shift tells: unblend-batch(5).

-- Lists without it are of older agents, and what they stand beside is looked at as if it had none either.
create or replace function unblend.files_together(lists text[], out files double precision, out bytes double precision)
language sql immutable strict parallel safe as $$
    with list as (
        select rtrim(split_part(l, ' ', 1), '+')::integer as shift, string_to_array(l, ' ') as entries,
               split_part(l, ' ', 1) ~ '^[1-9]\d*$' as plain
        from unnest(lists) as l
    ), largest as (
        select max(shift) as shift, bool_or(plain) as plain from list
    ), file as (
        select split_part(e, ':', 1) as hash, max(split_part(e, ':', 2)::bigint) as bytes
        from list, unnest(entries[2:]) as e group by 1
    ), likely as (
        select f.hash, f.bytes, case when l.plain or f.bytes < 1048576 then l.shift
               else greatest(0, l.shift - least(20, length(ltrim((f.bytes >> 20)::bit(64)::text, '0')))) end as shift
        from file as f, largest as l
    ), kept as (
        select bytes, 2.0::double precision ^ shift as weight
        from likely
        where (('x' || lpad(hash, 16, '0'))::bit(64)::bigint & ((1::bigint << shift) - 1)) = 0
    )
    select coalesce(sum(weight), 0), coalesce(sum(bytes * weight), 0) from kept
$$;
