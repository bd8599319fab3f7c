-- SPDX-License-Identifier: GPL-2.0-or-later
-- Where a span ends inside a minute or hour, rates stop before it: the row of that hour has all of it, and stood over the
-- minutes that the span had; and the hour that is going on has none yet, and was counted as one in which nothing was done.

-- In each function the same: its last moment is a whole unit's end, and without a step it covers the whole units in it.
do $$
declare
    of record;
    text text;
    changed text;
begin
    for of in select * from (values
        ('demand(text, text[], text[], timestamptz, timestamptz, interval)', '$4', '$5', true),
        ('operations(text, text[], text[], text[], timestamptz, timestamptz, interval)', '$5', '$6', true),
        ('series(text[], text[], text[], timestamptz, timestamptz, interval, text)', '$4', '$5', true),
        ('coverage(text[], text[], timestamptz, timestamptz, interval)', '$3', '$4', false),
        ('stalls(text[], text[], timestamptz, timestamptz, interval, text)', '$3', '$4', true)
        ) as f (signature, since, until, by_tier) loop
        text := pg_get_functiondef(('unblend.' || of.signature)::regprocedure);
        changed := replace(text, format('last_at constant timestamptz := least(%s, now() - interval ''1 minute'');', of.until),
            case when of.by_tier then format(
                'unit constant double precision := case unblend.tier_for(%s, %s) when ''1m'' then 60 else 3600 end;'
                '%s    ', of.since, of.until, chr(10)) else '' end || format(
                '-- Rows are of whole units: of one that is cut off, or goes on, nothing is told.%s    '
                'last_at constant timestamptz := to_timestamp(floor(extract(epoch from least(%s, now() - '
                'interval ''1 minute''))::double precision / unit) * unit);', chr(10), of.until));
        if changed = text then
            raise exception '% is not as it was', of.signature;
        end if;
        text := changed;
        changed := replace(text, 'span constant double precision := extract(epoch from last_at - first_at);',
            'span constant double precision := extract(epoch from last_at)::double precision' || chr(10) ||
            '        - ceil(extract(epoch from first_at)::double precision / unit) * unit;');
        if changed = text then
            raise exception '% is not as it was', of.signature;
        end if;
        execute changed;
    end loop;
end
$$;
