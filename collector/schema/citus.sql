-- SPDX-License-Identifier: GPL-2.0-or-later
-- init-db --citus: the same tables, spread over the workers of a Citus cluster. Rows of a node lie together, on one
-- worker, whatever their table and tier; sums over nodes are spread by what they are about. What every query joins is
-- everywhere. The ledger and its streams stay on the coordinator: they are small, and
-- a stream has one lock; so does what was watched of a cluster, a row an hour that is added to.
select create_reference_table('unblend.node');
select create_reference_table('unblend.host');
select create_reference_table('unblend.job');
select create_reference_table('unblend.volume');
select create_reference_table('unblend.subject');
select create_distributed_table('unblend.batch', 'node_id', colocate_with => 'none');
select create_distributed_table('unblend.sample', 'node_id', colocate_with => 'unblend.batch');
select create_distributed_table('unblend.flow', 'node_id', colocate_with => 'unblend.batch');
select create_distributed_table('unblend.pending_1m', 'node_id', colocate_with => 'unblend.batch');
select create_distributed_table('unblend.batch_1m', 'node_id', colocate_with => 'unblend.batch');
select create_distributed_table('unblend.sample_1m', 'node_id', colocate_with => 'unblend.batch');
select create_distributed_table('unblend.pending_1h', 'node_id', colocate_with => 'unblend.batch');
select create_distributed_table('unblend.batch_1h', 'node_id', colocate_with => 'unblend.batch');
select create_distributed_table('unblend.sample_1h', 'node_id', colocate_with => 'unblend.batch');
select create_distributed_table('unblend.total_1m', 'subject_id', colocate_with => 'none');
select create_distributed_table('unblend.total_1h', 'subject_id', colocate_with => 'unblend.total_1m');
select create_distributed_table('unblend.demand_1m', 'subject_id', colocate_with => 'unblend.total_1m');
select create_distributed_table('unblend.demand_1h', 'subject_id', colocate_with => 'unblend.total_1m');
select create_distributed_table('unblend.profile_share', 'cluster', colocate_with => 'none');
