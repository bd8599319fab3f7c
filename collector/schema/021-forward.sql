-- SPDX-License-Identifier: GPL-2.0-or-later
-- Batches on their way to another site: written with the data, in the same transaction, as the very bytes that will
-- leave (a line of JSON, compressed by zstd), and deleted when the other side has committed them.

create table unblend.outbox (
    outbox_id  bigint generated always as identity primary key,
    body       bytea not null,
    refused    text, -- why the other side will never take it; null: it waits
    created_at timestamptz not null default now()
);
create index outbox_waiting on unblend.outbox (outbox_id) where refused is null;
