-- SPDX-License-Identifier: GPL-2.0-or-later
-- Hashes of bodies without a foreign key: they are written by the statement that has just moved their stream on, under
-- its lock, and nothing deletes streams; asking whether it is there cost as much as writing the hash.
alter table unblend.ledger drop constraint ledger_stream_id_fkey;
