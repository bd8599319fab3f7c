-- SPDX-License-Identifier: GPL-2.0-or-later
-- Functions on sums serve those who may read views only.
alter function unblend.tier_for(timestamptz, timestamptz) security definer set search_path = pg_catalog;
alter function unblend.cells(text, text, text, text, text, timestamptz, timestamptz)
    security definer set search_path = pg_catalog;
