-- SPDX-License-Identifier: GPL-2.0-or-later
-- Takes what a report found. The report is that of unblend report --format json.

create function unblend.store_profiles(report json) returns bigint language plpgsql as $$
declare
    since constant timestamptz := report->'span'->>'start';
    upto constant timestamptz := report->'span'->>'end';
    clusters constant text[] := array(select distinct n->>'cluster' from json_array_elements(report->'nodes') as n);
    stored bigint;
begin
    if since is null or upto is null or since >= upto or clusters = '{}' then
        return 0; -- nothing happened
    end if;
    -- The same span, or what it was made of, told again: this replaces it.
    delete from unblend.profile_share as p where p.cluster = any(clusters) and p.time >= since and p.until <= upto;
    -- No longer than hours are kept.
    delete from unblend.profile_share as p where p.time < (select t.since from unblend.tier as t where t.tier = '1h');

    with entry as (
        select j, i, coalesce((select min(n->>'cluster') from json_array_elements(report->'nodes') as n
                               where n->>'node' in (select json_array_elements_text(j->'nodes'))), clusters[1]) as cluster
        from json_array_elements(report->'jobs') with ordinality as e (j, i)
    ),
    counted as (
        select e.i, e.cluster, e.j->>'job' as name, (e.j->'profiles')::text::json as profiles,
               coalesce(sum((o.value->>'ops')::double precision), 0) as ops,
               coalesce(sum((o.value->>'bytes')::double precision) filter (where o.key in ('read', 'write')), 0) as bytes
        from entry as e left join lateral json_each(e.j->'ops') as o on o.key not like 'block%'
        group by e.i, e.cluster, e.j->>'job', (e.j->'profiles')::text
    ),
    total as (select c.cluster, c.name, sum(c.ops) as ops, sum(c.bytes) as bytes from counted as c group by 1, 2),
    found as (
        -- Jobs of one name on several nodes are one here; their shares count by what they did.
        select c.cluster, c.name, p->>'kind' as kind, p->>'profile' as profile,
               sum((p->>'share_ops')::double precision * c.ops) as ops,
               sum((p->>'share_bytes')::double precision * c.bytes) as bytes,
               min((p->>'confidence')::double precision) as confidence
        from counted as c cross join lateral json_array_elements(c.profiles) as p group by 1, 2, 3, 4
    ),
    whole as (select sum(t.ops) as ops, sum(t.bytes) as bytes from total as t),
    row_of as (
        select 'job' as subject, f.cluster, f.name, f.kind, f.profile, f.ops / nullif(t.ops, 0) as share_ops,
               f.bytes / nullif(t.bytes, 0) as share_bytes, f.confidence, t.ops, t.bytes, null::double precision as effective
        from found as f join total as t using (cluster, name)
        union all
        select 'cluster', clusters[1], '', p->>'kind', p->>'profile', (p->>'share_ops')::double precision,
               (p->>'share_bytes')::double precision, (p->>'confidence')::double precision, coalesce(w.ops, 0),
               coalesce(w.bytes, 0), (report->'cluster'->>'effective_profiles')::double precision
        from json_array_elements(report->'cluster'->'profiles') as p, whole as w
        where cardinality(clusters) = 1 -- a blend of several clusters is nobody's
    )
    insert into unblend.profile_share (subject, cluster, name, time, until, kind, profile, share_ops, share_bytes, confidence,
                                       ops, bytes, effective)
    select r.subject, r.cluster, r.name, since, upto, r.kind, r.profile, r.share_ops, r.share_bytes, r.confidence, r.ops,
           r.bytes, r.effective
    from row_of as r;
    get diagnostics stored = row_count;
    return stored;
end
$$;
comment on function unblend.store_profiles(json) is
    'Keeps the profiles of a report in JSON, and returns how many rows that made. It replaces what was stored of spans '
    'inside the report''s.';
