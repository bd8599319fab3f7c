-- SPDX-License-Identifier: GPL-2.0-or-later
-- What reports found: which profiles a span of time was made of. unblend-collector profiles stores them, from unblend
-- report's JSON: the analyzer alone knows how to tell them apart, and only reads.

create table unblend.profile_share (
    subject    text not null check (subject in ('cluster', 'job')),
    cluster    text not null,
    name       text not null, -- of the job; '' for a cluster
    time       timestamptz not null, -- where the span begins
    until      timestamptz not null,
    kind       text not null, -- pattern or pipeline
    profile    text not null,
    share_ops  double precision, -- of the subject's operations and bytes; null: not known
    share_bytes double precision,
    confidence double precision,
    ops        double precision not null, -- of the subject in the span, file layer
    bytes      double precision not null, -- read and written
    effective  double precision, -- workloads at a time, of a cluster; null: not known
    primary key (subject, cluster, time, name, kind, profile),
    check (time < until)
);
create index profile_share_job on unblend.profile_share (name, time) where subject = 'job';

create view unblend.profiles as
select p.time, p.until, p.subject, p.cluster, p.name, p.kind, p.profile, p.share_ops, p.share_bytes, p.confidence,
       p.share_ops * p.ops as ops, p.share_bytes * p.bytes as bytes,
       extract(epoch from p.until - p.time)::double precision as seconds, p.effective,
       1 - 1 / nullif(p.effective, 0) as blend_index
from unblend.profile_share as p;
comment on view unblend.profiles is
    'What spans of time were made of, as reports found: a row for each profile of a cluster (name is empty) or job. '
    'Patterns'' shares add to 1; ops and bytes are those that the share stands for. effective is how many workloads a '
    'cluster''s volumes met at a time, and blend_index 1 - 1 / effective. What could not be told is null.';
