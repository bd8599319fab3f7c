-- SPDX-License-Identifier: GPL-2.0-or-later
-- Rollups: the same rows over a minute (_1m) and over an hour (_1h), by node as they are, and summed up over nodes.
--
-- A rollup only ever adds rows, in the transaction that takes the batches they were made of out of the queue: so each
-- batch is in them once, whoever is killed when. What comes late makes rows of its own beside those that are there;
-- whoever reads sums up.

-- Scans by batch_id meet few pages: ids ascend as rows do, whatever the time of what they hold.
create index batch_ids on unblend.batch using brin (batch_id) with (pages_per_range = 32);
create index sample_ids on unblend.sample using brin (batch_id) with (pages_per_range = 32);
create index flow_ids on unblend.flow using brin (batch_id) with (pages_per_range = 32);

-- Batches whose minutes, and batches of minutes whose hours, are not made yet.
create table unblend.pending_1m (
    node_id  integer not null,
    batch_id bigint not null,
    time     timestamptz not null,
    received timestamptz not null default now()
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
create table unblend.pending_1h (like unblend.pending_1m including defaults)
    with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
insert into unblend.pending_1m (node_id, batch_id, time) select node_id, batch_id, time from unblend.batch;

-- From when on the rows of a tier are all there; what is older was dropped.
create table unblend.tier (
    tier  text primary key,
    since timestamptz not null
);
insert into unblend.tier values ('raw', '-infinity'), ('1m', '-infinity'), ('1h', '-infinity');

-- What keep has pinned: partitions of raw rows that meet such a span are not dropped.
create table unblend.kept (
    since   timestamptz not null,
    until   timestamptz not null,
    made_at timestamptz not null default now(),
    check (since < until)
);

-- The raw tables again, for rows of a longer interval.
create table unblend.batch_1m (like unblend.batch including defaults) partition by range (time);
create table unblend.batch_1h (like unblend.batch including defaults) partition by range (time);
create table unblend.sample_1m (like unblend.sample including defaults) partition by range (time);
create table unblend.sample_1h (like unblend.sample including defaults) partition by range (time);
create table unblend.batch_1m_default partition of unblend.batch_1m default;
create table unblend.batch_1h_default partition of unblend.batch_1h default;
create table unblend.sample_1m_default partition of unblend.sample_1m default;
create table unblend.sample_1h_default partition of unblend.sample_1h default;
create index batch_1m_time on unblend.batch_1m (time, batch_id);
create index batch_1h_time on unblend.batch_1h (time, batch_id);
create index batch_1m_ids on unblend.batch_1m using brin (batch_id) with (pages_per_range = 32);
create index sample_1m_ids on unblend.sample_1m using brin (batch_id) with (pages_per_range = 32);
create index sample_1m_node on unblend.sample_1m (node_id, time);
create index sample_1h_node on unblend.sample_1h (node_id, time);
create index sample_1m_time on unblend.sample_1m using brin (time) with (pages_per_range = 32);
create index sample_1h_time on unblend.sample_1h using brin (time) with (pages_per_range = 32);

-- What sums over nodes are about: a cluster (name ''), or a job, volume or node of it.
create table unblend.subject (
    subject_id bigint generated always as identity primary key,
    subject    text not null check (subject in ('cluster', 'node', 'job', 'volume')),
    cluster    text not null,
    name       text not null,
    unique (subject, cluster, name)
);

-- Sums by subject and operation, with histograms as arrays: PostgreSQL takes those apart by itself.
create table unblend.total_1m (
    time            timestamptz not null,
    subject_id      bigint not null,
    op              unblend.operation not null,
    ops             bigint not null,
    bytes           bigint not null,
    errors          bigint not null,
    latency_sum_ns  bigint not null,
    sequential      bigint not null,
    consecutive     bigint not null,
    random          bigint not null,
    size_buckets    smallint[] not null,
    size_counts     bigint[] not null,
    latency_buckets smallint[] not null,
    latency_counts  bigint[] not null
) partition by range (time);
create table unblend.total_1h (like unblend.total_1m) partition by range (time);
create table unblend.total_1m_default partition of unblend.total_1m default;
create table unblend.total_1h_default partition of unblend.total_1h default;
create index total_1m_subject on unblend.total_1m (subject_id, op, time);
create index total_1h_subject on unblend.total_1h (subject_id, op, time);
create index total_1m_time on unblend.total_1m using brin (time) with (pages_per_range = 32);
create index total_1h_time on unblend.total_1h using brin (time) with (pages_per_range = 32);

-- A row a subject, and narrow: what lists and overviews over long spans read.
create table unblend.demand_1m (
    time                timestamptz not null,
    subject_id          bigint not null,
    read_ops            bigint not null,
    write_ops           bigint not null,
    metadata_ops        bigint not null,
    other_ops           bigint not null, -- seek, fsync and mmap_fault
    read_bytes          bigint not null,
    write_bytes         bigint not null,
    errors              bigint not null,
    data_latency_ns     bigint not null, -- summed: of read and write,
    metadata_latency_ns bigint not null
) partition by range (time);
create table unblend.demand_1h (like unblend.demand_1m) partition by range (time);
create table unblend.demand_1m_default partition of unblend.demand_1m default;
create table unblend.demand_1h_default partition of unblend.demand_1h default;
create index demand_1m_subject on unblend.demand_1m (subject_id, time);
create index demand_1h_subject on unblend.demand_1h (subject_id, time);
create index demand_1m_time on unblend.demand_1m using brin (time) with (pages_per_range = 32);
create index demand_1h_time on unblend.demand_1h using brin (time) with (pages_per_range = 32);
