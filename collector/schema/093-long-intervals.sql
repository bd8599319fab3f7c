-- SPDX-License-Identifier: GPL-2.0-or-later
-- Windows of a span that begins inside an interval have what the interval has of them, however long agents make theirs: those
-- that began more than a minute before were left out, and what they asked for was told as nothing.

-- How long it is, some of the jobs' nodes tell: it is a fleet's setting, and all would have to be looked for one by one.
do $$
declare
    text constant text := pg_get_functiondef(
        'unblend.windows(text[], text[], text, timestamptz, timestamptz, integer)'::regprocedure);
    changed text := replace(text, '    flow record;', $new$    reach constant interval := greatest(interval '1 minute', interval '1 millisecond' * (
        select max(b.interval_ms)
        from unnest((array(select distinct j.node_id from unblend.job as j where j.job_id = any(ids)))[1:8]) as n (id)
        cross join lateral (select i.interval_ms from unblend.batch as i where i.time >= $4 - interval '1 hour'
                            and i.time < $5 and i.node_id = n.id order by i.time limit 1) as b));
    flow record;$new$);
begin
    changed := replace(changed, 'f.time >= $4 - interval ''1 minute''', 'f.time >= $4 - reach');
    if position('f.time >= $4 - reach' in changed) = 0 or position('reach constant' in changed) = 0 then
        raise exception 'windows() is not as it was';
    end if;
    execute changed;
end
$$;
