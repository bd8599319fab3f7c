-- SPDX-License-Identifier: GPL-2.0-or-later
-- What the collector writes. Everybody else reads the views of 003-views.sql, which stay as they are when
-- the tables change. Times that must be exact are nanoseconds since 1970 in a bigint; timestamptz, which
-- ends at microseconds, stands beside them for partitions and people.

create type unblend.operation as enum (
    'read', 'write', 'open', 'close', 'stat', 'seek', 'readdir', 'create', 'unlink', 'rename', 'mkdir',
    'truncate', 'setattr', 'fsync', 'mmap_fault',
    'block_read', 'block_write', 'block_flush', 'block_discard');

-- A token lets one node in: the lookup part finds the row, the whole SHA-256 is compared in constant time.
create table unblend.token (
    node       text not null,
    cluster    text not null, -- '' is any
    lookup     bytea not null,
    sha256     bytea not null check (length(sha256) = 32),
    created_at timestamptz not null default now(),
    primary key (node, cluster)
);
create index token_lookup on unblend.token (lookup);

create table unblend.node (
    node_id    integer generated always as identity primary key,
    cluster    text not null,
    node       text not null,
    first_seen timestamptz not null default now(),
    unique (cluster, node)
);

-- The ledger. Of a stream every seq below next_seq is committed, except for those in a gap; a batch that
-- comes late closes its gap. So it stays exact for ever without a row a batch.
create table unblend.stream (
    stream_id  bigint generated always as identity primary key,
    node_id    integer not null references unblend.node,
    stream     text not null,
    next_seq   bigint not null default 0,
    first_batch timestamptz not null default now(),
    last_batch  timestamptz not null default now(),
    unique (node_id, stream)
) with (fillfactor = 50);

create table unblend.gap (
    stream_id bigint not null references unblend.stream on delete cascade,
    first_seq bigint not null,
    last_seq  bigint not null,
    primary key (stream_id, first_seq)
);

-- Hashes of the bodies of the last thousand or so batches of a stream, to tell a repetition from a clash.
create table unblend.ledger (
    stream_id bigint not null references unblend.stream on delete cascade,
    seq       bigint not null,
    sha256    bytea not null,
    primary key (stream_id, seq)
);

-- What a node says about itself; a new row when anything changes.
create table unblend.host (
    host_id  bigint generated always as identity primary key,
    node_id  integer not null references unblend.node,
    digest   bytea not null,
    role     text not null,
    kernel   text not null,
    boot_id  text not null,
    hooks    json not null, -- json and not jsonb: the order of keys and hooks is kept
    bypasses json not null,
    unique (node_id, digest)
);

-- One attempt of a job on one node. What can still change (end, exit) is outside the digest.
create table unblend.job (
    job_id   bigint generated always as identity primary key,
    node_id  integer not null references unblend.node,
    digest   bytea not null,
    job      text not null,
    kind     text not null,
    "user"   text,
    command  text not null,
    labels   json not null,
    start_ns bigint, -- null: not known
    end_ns   bigint, -- null: running
    exit     integer, -- null: not known
    unique (node_id, digest)
);

create table unblend.volume (
    volume_id bigint generated always as identity primary key,
    node_id   integer not null references unblend.node,
    digest    bytea not null,
    volume    text not null,
    source    text not null,
    fstype    text not null,
    scope     text not null,
    mounts    json not null,
    unique (node_id, digest)
);

-- One row an interval of a node. The arrays are the batch's own tables of jobs and volumes, in its order.
create sequence unblend.batch_id;
create table unblend.batch (
    time         timestamptz not null, -- start_ns
    batch_id     bigint not null default nextval('unblend.batch_id'),
    node_id      integer not null,
    stream_id    bigint not null,
    seq          bigint not null,
    host_id      bigint not null,
    start_ns     bigint not null,
    duration_ns  bigint not null,
    interval_ms  bigint not null,
    lost         bigint not null,
    killed       bigint not null,
    in_flight    bigint not null,
    unattributed bigint not null,
    overflow     bigint not null,
    records      integer not null,
    job_ids      bigint[] not null,
    job_end_ns   bigint[], -- as of this interval, null where it ran; null when all did
    job_exit     integer[],
    volume_ids   bigint[] not null,
    received     timestamptz not null default now()
) partition by range (time);
create index batch_time on unblend.batch (time, batch_id);
create table unblend.batch_default partition of unblend.batch default;

-- One row an interval of a series. No primary key: the ledger keeps rows unique, and an index on them would
-- triple the cost of writing.
create table unblend.sample (
    time           timestamptz not null,
    batch_id       bigint not null,
    job_id         bigint not null,
    volume_id      bigint not null,
    node_id        integer not null,
    position       integer not null, -- in its batch
    op             unblend.operation not null,
    ops            bigint not null,
    bytes          bigint not null,
    errors         bigint not null,
    latency_sum_ns bigint not null,
    size           bytea not null,
    latency        bytea not null
) partition by range (time);
create index sample_time on unblend.sample using brin (time) with (pages_per_range = 32);
create table unblend.sample_default partition of unblend.sample default;
