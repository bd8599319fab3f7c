-- SPDX-License-Identifier: GPL-2.0-or-later
-- Batches that a node says will never arrive. Of a stream every seq below next_seq is then committed, in a range here, or
-- in a gap: nobody knows yet. Should one arrive all the same, it is stored, and leaves its range.

create table unblend.dropped (
    node_id   integer not null,
    stream_id bigint not null, -- of unblend.stream
    first_seq bigint not null,
    last_seq  bigint not null,
    ops       bigint, -- operations that they had counted; null: not known
    start_ns  bigint, -- what they covered; null: not known
    end_ns    bigint,
    why       text not null,
    told_at   timestamptz not null default now(),
    primary key (node_id, stream_id, first_seq)
);

create view unblend.drops as
select n.cluster, n.node, s.stream, d.first_seq, d.last_seq, d.last_seq - d.first_seq + 1 as batches, d.ops,
       d.start_ns, d.end_ns, unblend.timestamp_of(d.start_ns) as started, unblend.timestamp_of(d.end_ns) as ended,
       d.why, d.told_at
from unblend.dropped as d
left join unblend.node as n using (node_id)
left join unblend.stream as s using (stream_id);
comment on view unblend.drops is
    'Batches that nodes made and that will never arrive: why is quota (the spool was full), refused, damaged or gone; ops '
    'are the operations in them, null where nobody can tell.';
