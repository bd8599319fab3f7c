# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether what the other dashboards show is all there is: agents, what they lost, spools, collectors, the database."""
from grafana import coverage, dashboard, link, row, stat, table, timeseries

CLUSTER = "cluster in (${cluster:sqlstring})"
ENDED = "time + duration_ns / 1000 * interval '1 microsecond'"
ZERO_IS_FINE = [(None, "green"), (1, "red")]
NODE_LINK = link("Node ${__value.text}", "node", node="${__value.raw:percentencode}")
RECENT = "time > least($__timeTo()::timestamptz, now()) - interval '5 minutes' and time <= $__timeTo()"


def build():
    return dashboard(
        "fleet", "Fleet health",
        "Whether what the other dashboards show is all there is: which agents are heard of, how late, "
        "what they lost, and what the database holds.", [], [
            [stat("Nodes heard of", "That have sent a batch within two minutes.",
                  f"select count(*) as nodes from unblend.nodes where {CLUSTER} and "
                  f"last_seen >= now() - interval '2 minutes'", "none", graph=False),
             stat("Silent nodes", "That have not, and were heard of within a week.",
                  f"select count(*) as nodes from unblend.nodes where {CLUSTER} "
                  f"and last_seen < now() - interval '2 minutes'\n"
                  "  and last_seen > now() - interval '7 days'", "none", ZERO_IS_FINE, graph=False),
             stat("Lag, median", "From an interval's end to its arrival. Some seconds are usual: an agent "
                                 "sends after its interval. More means that spools are being emptied, or that the "
                  "network or the collector is slow.",
                  f"""select percentile_disc(0.5) within group (order by extract(epoch from received - ({ENDED}))) as lag
from unblend.intervals where {CLUSTER} and {RECENT}""", "s", [(None, "green"), (30, "yellow"), (120, "red")], graph=False),
             stat("Lost operations", "That kernels say they missed.",
                  f"select sum(lost_ops) as lost from {coverage(step='null')} as c", "short",
                  ZERO_IS_FINE, graph=False),
             stat("Batches dropped",
                  "That agents made and will never deliver: the spool was full, or the batch was refused or damaged.",
                  f"select coalesce(sum(batches), 0) as batches from unblend.drops "
                  f"where {CLUSTER} and $__timeFilter(told_at)", "short", ZERO_IS_FINE, graph=False),
             stat("Silent in between",
                  "Spans in which a node that is back now was not watched, of the last fifteen minutes.",
                  f"""select count(*) as gaps from (
  select start_ns - lag(start_ns + duration_ns) over (partition by cluster, node order by start_ns) as gap_ns, interval_ms
  from unblend.intervals where {CLUSTER}
    and time > least($__timeTo()::timestamptz, now()) - interval '15 minutes' and time <= $__timeTo()) as i
where gap_ns > interval_ms * 1500000""", "none", ZERO_IS_FINE, graph=False)],
            [timeseries("Nodes that were watched",
                        "Nodes with at least one interval in a step; by the hour, over more than six.",
                        f"select time, node_count as nodes from {coverage()} as c order by 1", "none", width=8, min=0),
             timeseries("Coverage of time", "How much of the time of these nodes was watched: 1 is all of it.",
                        f"select time, least(1, watched_ns / 1e9 / seconds / node_count) as watched "
                        f"from {coverage()} as c order by 1", "percentunit", width=8, min=0, max=1),
             timeseries("What was not seen",
                        "Operations that kernels missed, that were counted under a coarser key only, or that "
                        "have no job or volume.",
                        f"""select time, lost_ops as lost, overflow_ops as "coarser key",
  unattributed_ops as "without job or volume", killed_ops as killed
from {coverage()} as c order by 1""", "short", width=8, many=True)],
            [timeseries("Batches that arrived",
                        "A second, as collectors stored them. Falls show when a collector or the database "
                        "stood still, peaks after it how spools were emptied.",
                        f"""select $__timeGroupAlias(received, 10s), count(*) / 10.0 as batches
from unblend.intervals where {CLUSTER} and {RECENT} group by 1 order by 1""", "ops", width=8,
                        empty="No batch of the last five minutes of this span arrived."),
             timeseries("Records stored", "Rows of series, as nodes sent them, a second.",
                        f"select time, records / seconds as records from {coverage()} as c order by 1", "ops", width=8),
             timeseries("Watching less to save cost",
                        "Seconds in which agents left out processes, all but metadata, or everything, "
                        "because watching would have cost more than they were told that it may.",
                        f"""select time, job_keys_ms / 1000 as "by job only", metadata_only_ms / 1000 as "metadata only",
  detached_ms / 1000 as nothing
from {coverage()} as c order by 1""", "s", width=8)],
            [table("Nodes", "Those that are silent longest first. A click leads to the node.",
                   f"""select node, cluster, role, kernel, extract(epoch from now() - last_seen) as silent, last_seen as "last heard of", first_seen as "since"
from unblend.nodes where {CLUSTER} order by last_seen nulls first, node limit 1000""", width=12,
                   units={"silent": "s"}, links={"node": [NODE_LINK]},
                   colors={"silent": [(None, "green"), (60, "yellow"), (120, "red")]}),
             table("Lag by node", "In the last five minutes of the span: the median and the largest time from an "
                                  "interval's end to its arrival. A spool that is being emptied shows here.",
                   f"""select node, percentile_disc(0.5) within group (order by lag) as median, max(lag) as max, count(*) as batches,
  sum(lost_ops) as lost
from (select node, extract(epoch from received - ({ENDED})) as lag, lost_ops from unblend.intervals
      where {CLUSTER} and {RECENT}) as i
group by 1 order by 3 desc limit 100""", width=12, units={"median": "s", "max": "s"}, links={"node": [NODE_LINK]},
                   colors={"max": [(None, "text"), (30, "yellow"), (120, "red")],
                           "lost": [(None, "text"), (1, "red")]})],
            [row("What is known of the gaps")],
            [table("Hooks that are missing",
                   "Kinds of operations that some kernels let nobody count, and on how many nodes. What they "
                   "would have counted is null elsewhere, never 0.",
                   f"""select told->>'hook' as hook, told->>'why' as why, count(distinct node) as nodes, min(node) as "for example"
from (select distinct on (node) node, hooks from unblend.intervals where {CLUSTER} and {RECENT} order by node, time desc) as i
cross join lateral json_array_elements(i.hooks) as e (told)
where told->>'state' <> 'attached' group by 1, 2 order by 3 desc, 1 limit 50""", empty="Every hook is attached on every node.",
                   widths={"hook": 120, "nodes": 70, "for example": 140}),
             table("Around the kernel", "Software that does storage I/O past the kernel, and is not counted.",
                   f"""select told->>'what' as what, told->>'why' as why, count(distinct node) as nodes, min(node) as "for example"
from (select distinct on (node) node, bypass from unblend.intervals where {CLUSTER} and {RECENT} order by node, time desc) as i
cross join lateral json_array_elements(i.bypass) as e (told)
group by 1, 2 order by 3 desc, 1 limit 50""", empty="Nothing is known that goes around the kernel.",
                   widths={"what": 120, "nodes": 70, "for example": 140})],
            [table("Batches that will never come", "As their agents told.",
                   f"""select node, why, batches, ops as operations, started, ended, told_at as "told at"
from unblend.drops where {CLUSTER} and $__timeFilter(told_at) order by told_at desc limit 100""",
                   links={"node": [NODE_LINK]}, empty="Every batch has arrived, or still may."),
             table("What the database holds",
                   "From when on each tier has all rows: raw as agents sent them, by the minute (1m), by the "
                   "hour (1h); empty where nothing was dropped yet.",
                   "select tier, since from unblend.tiers order by case tier when 'raw' then 1 "
                   "when '1m' then 2 else 3 end")],
        ], span={"from": "now-1h", "to": "now"})
