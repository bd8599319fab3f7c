-- SPDX-License-Identifier: GPL-2.0-or-later
-- Who may come in besides nodes that somebody enrolled: nodes by a join token, and other sites.

-- Lets nodes with such names make tokens of their own, each name once. Like a node's token it is here as a hash only.
create table unblend.join_token (
    join_id    integer generated always as identity primary key,
    lookup     bytea not null,
    sha256     bytea not null check (length(sha256) = 32),
    glob       text not null,
    cluster    text not null, -- '' is any
    expires_at timestamptz not null,
    uses_left  integer not null check (uses_left >= 0),
    reborn_s   bigint, -- a name may come again when its node has been silent for so long; null: never
    created_at timestamptz not null default now()
);
create index join_token_lookup on unblend.join_token (lookup);

-- Every exchange of a join token.
create table unblend.enrolment (
    enrolment_id bigint generated always as identity primary key,
    join_id      integer not null,
    cluster      text not null,
    node         text not null,
    address      text not null,
    enrolled_at  timestamptz not null default now()
);

alter table unblend.token add column join_id integer; -- null: enrolled by a person

-- Another site, whose collector forwards to us, or whose bundles are imported. What it sends is kept under clusters
-- named SITE/CLUSTER, so it can never write as one of our nodes or of another site's.
create table unblend.site (
    site       text primary key check (site <> '' and site !~ '/'),
    lookup     bytea,
    sha256     bytea check (length(sha256) = 32), -- of its token; null: bundles only
    public_key bytea unique check (length(public_key) = 32), -- Ed25519, of its bundles; null: no bundles
    created_at timestamptz not null default now()
);
create index site_lookup on unblend.site (lookup);

-- What a role needs that writes (collectors with --db), and one that reads (Grafana, reports). Partitions and
-- migrations are the owner's.
create function unblend.grant_writer(name text) returns void language plpgsql as $$
begin
    execute format('grant usage on schema unblend to %I', name);
    execute format('grant select, insert, update, delete on all tables in schema unblend to %I', name);
    execute format('revoke insert, update, delete on unblend.migration from %I', name);
    execute format('grant usage on all sequences in schema unblend to %I', name);
    execute format('alter default privileges in schema unblend grant select, insert, update, delete on tables to %I', name);
    execute format('alter default privileges in schema unblend grant usage on sequences to %I', name);
end
$$;
comment on function unblend.grant_writer(text) is 'Lets a role write what collectors write.';

create function unblend.grant_reader(name text) returns void language plpgsql as $$
declare
    view_name text;
begin
    execute format('grant usage on schema unblend to %I', name);
    for view_name in select table_name from information_schema.views where table_schema = 'unblend' loop
        execute format('grant select on unblend.%I to %I', view_name, name);
    end loop;
end
$$;
comment on function unblend.grant_reader(text) is 'Lets a role read the views, and nothing else.';
