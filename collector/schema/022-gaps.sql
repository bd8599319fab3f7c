-- SPDX-License-Identifier: GPL-2.0-or-later
-- When nothing is known of a node: neither a figure nor a zero.

create view unblend.node_gaps as
select cluster, node, unblend.timestamp_of(ended_ns) as since, unblend.timestamp_of(start_ns) as until
from (
    select cluster, node, start_ns, interval_ms,
           max(start_ns + duration_ns) over (partition by cluster, node order by start_ns
                                             rows between unbounded preceding and 1 preceding) as ended_ns
    from unblend.intervals
) as interval_of
where start_ns - ended_ns > interval_ms * 1500000
union all
select cluster, node, last_seen, null from unblend.nodes where last_seen < now() - interval '2 minutes';
comment on view unblend.node_gaps is
    'Spans of raw intervals between which more than half an interval is missing, and until null for nodes that have been '
    'silent for two minutes.';
