# SPDX-License-Identifier: GPL-2.0-or-later
"""One node: what runs on it, what that asks for, and what was seen of it."""
from events import OF_NODE, bursts
from grafana import (NODE, annotation, cells_by_octave, coverage, dashboard, demand, heatmap, link, quantiles, row,
                     series, stat, table, timeseries, values)

CHOSEN = values("node")
HERE = "cluster in (${cluster:sqlstring}) and node in (${node:sqlstring})"
LOG = {"scaleDistribution": {"type": "log", "log": 10}}
GAPS = annotation("Not watched", "red", f"""select since as time, coalesce(until, now()) as timeend, 'Nothing known' as title,
  'of ' || node as text, 'gap' as tags
from unblend.node_gaps where {HERE} and since < $__timeTo() and coalesce(until, now()) > $__timeFrom()
order by 1 limit 100""", enable=False)
JOBS = annotation("Job starts", "green", f"""select started as time, ended as timeend, job as title,
  command || coalesce(', exit ' || exit, '') as text, kind as tags
from unblend.jobs where {HERE} and $__timeFilter(started) order by 1 limit 100""")


def build():
    return dashboard(
        "node", "Node", "One node: what runs on it, what that asks for, and what could not be seen.", [NODE], [
            [stat("Last heard of", "When the node's last batch came. Agents send each ten seconds.",
                  f"select extract(epoch from now() - last_seen) as age from unblend.nodes where {HERE}", "s",
                  [(None, "green"), (60, "yellow"), (120, "red")], graph=False),
             stat("Lost operations", "Counted by the kernel as missed. Figures are too small by so much.",
                  f"select sum(lost_ops) as lost from {coverage(CHOSEN, 'null')} as c", "short",
                  [(None, "green"), (1, "red")], graph=False),
             stat("In flight at the most", "Calls that were running at the end of an interval.",
                  f"select max(in_flight) as calls from {series(CHOSEN, 'null', '')} as s", "short", graph=False),
             stat("Oldest in flight", "For how long the oldest of them had been running. Beyond 30 s something hangs.",
                  f"select max(oldest_ns) as oldest from {series(CHOSEN, 'null', '')} as s", "ns",
                  [(None, "green"), (1e9, "yellow"), (30e9, "red")], graph=False),
             stat("Errors", "Calls that failed. Many programs look for files that are not there: see which.",
                  f"select sum(errors) as errors from {demand('node', CHOSEN, 'null')} as d", "short", graph=False),
             stat("Hooks missing", "Kinds of operations that this kernel lets nobody count: unblend doctor tells why.",
                  f"""select (select count(*) from json_array_elements(hooks) as hook where hook->>'state' <> 'attached') as missing
from (select hooks from unblend.intervals_1m where {HERE} and $__timeFilter(time) order by time desc limit 1) as i""", "none",
                  [(None, "green"), (1, "yellow")], graph=False)],
            [timeseries("Bytes read and written", "By programs on this node, page cache hits included.",
                        f"""select time, sum(read_bytes) / max(seconds) as "read", sum(write_bytes) / max(seconds) as written
from {demand('node', CHOSEN)} as d group by 1 order by 1""", "binBps"),
             timeseries("Operations by class", "Operations a second.",
                        f"""select time, sum(read_ops) / max(seconds) as "read", sum(write_ops) / max(seconds) as "write",
  sum(metadata_ops) / max(seconds) as metadata, sum(other_ops) / max(seconds) as "seek, sync, fault"
from {demand('node', CHOSEN)} as d group by 1 order by 1""", "ops", stack=True, many=True)],
            [timeseries("Bytes by job", "Read and written a second, by job.",
                        f"""select time, part as metric, (coalesce(read_bytes, 0) + coalesce(write_bytes, 0)) / seconds as value
from {series(CHOSEN, 'null', 'job')} as s where part is not null order by 1, 2""", "binBps", width=8, stack=True),
             timeseries("Bytes by volume", "Read and written a second, by volume.",
                        f"""select time, part as metric, (coalesce(read_bytes, 0) + coalesce(write_bytes, 0)) / seconds as value
from {series(CHOSEN, 'null', 'volume')} as s where part is not null order by 1, 2""", "binBps", width=8, stack=True),
             timeseries("Page cache",
                        "Bytes of reads that the page cache served, and those that it did not, where that is known.",
                        f"""select time, nullif(cache_hit_bytes, 0) / seconds as hits, nullif(cache_miss_bytes, 0) / seconds as misses
from {series(CHOSEN, 'null', '')} as s order by 1""", "binBps", width=8, stack=True,
                        empty="For none of these reads it is known whether the page cache served them.")],
            [heatmap("Latency of reads", "How many reads took so long.",
                     cells_by_octave("node", CHOSEN, "array['read']", "latency", 10, 35), "ns", width=8),
             timeseries("99th percentile against the cluster's median node",
                        "A node that is slow in the same operation as others do fast is sick.",
                        f"""select time, part as metric, value
from {quantiles('node', CHOSEN, "array['read', 'write', 'open', 'stat']", 'latency', 0.99)} as q
union all
select time, part || ', cluster' as metric, value
from {quantiles('cluster', 'null', "array['read', 'write']", 'latency', 0.99)} as q order by 1, 2""", "ns", width=8,
                        height=9, custom=LOG),
             timeseries("Tasks that waited for I/O",
                        "Share of the time, as the kernel tells it (/proc/pressure/io): at least one task, and all that had "
                        "something to do. Waits for FUSE, locks and most network file systems are not in it.",
                        f"""select $__timeGroupAlias(time, $__interval), sum(io_some_ns)::double precision / sum(duration_ns) as "some",
  sum(io_full_ns)::double precision / sum(duration_ns) as "all"
from unblend.intervals_1m where {HERE} and $__timeFilter(time) and io_some_ns is not null group by 1 order by 1""",
                        "percentunit", width=8, height=9, interval="1m",
                        empty="This node's kernel does not tell: CONFIG_PSI, or psi=1 on its command line.")],
            [row("Who, and what was seen")],
            [table("Jobs", "That did storage I/O in this span of time; a click leads to the job, on all its nodes.",
                   f"""select part as job, read_bytes as "read", write_bytes as written, metadata_ops as metadata,
  latency_sum_ns as "time in calls", errors, oldest_ns as "oldest in flight"
from {series(CHOSEN, 'null', 'job', 'null')} as s
order by coalesce(read_bytes, 0) + coalesce(write_bytes, 0) desc limit 50""",
                   units={"read": "bytes", "written": "bytes", "metadata": "short", "time in calls": "ns",
                          "oldest in flight": "ns"},
                   links={"job": [link("Job ${__value.text}", "job", job="${__value.raw:percentencode}")]},
                   colors={"oldest in flight": [(None, "text"), (30e9, "red")]}),
             table("Volumes", "As the node mounts them.",
                   f"""select v.volume, v.source, v.fstype, v.scope, s.read_bytes as "read", s.write_bytes as written, s.errors
from {series(CHOSEN, 'null', 'volume', 'null')} as s
left join (select volume, max(source) as source, max(fstype) as fstype, max(scope) as scope from unblend.volumes where {HERE}
           group by 1) as v on v.volume = s.part
order by coalesce(s.read_bytes, 0) + coalesce(s.write_bytes, 0) desc limit 50""",
                   units={"read": "bytes", "written": "bytes"},
                   links={"volume": [link("Latency of ${__value.text}", "latency",
                                          volume="${__value.raw:percentencode}")]})],
            [timeseries("What was not seen",
                        "Operations that the kernel missed, that could be counted under a coarser key only, "
                        "or that have no job or volume.",
                        f"""select time, lost_ops as lost, overflow_ops as "coarser key",
  unattributed_ops as "without job or volume", killed_ops as killed
from {coverage(CHOSEN)} as c order by 1""", "short", many=True),
             table("Around the kernel",
                   "Software that does storage I/O past the kernel, and cannot be counted; hooks that are "
                   "missing, and why.",
                   f"""select coalesce(told->>'what', told->>'hook') as what, told->>'device' as device, told->>'why' as why
from (select hooks, bypass from unblend.intervals_1m where {HERE} and $__timeFilter(time) order by time desc limit 1) as i,
  lateral (select e.told from json_array_elements(i.bypass) as e (told) union all
           select e.told from json_array_elements(i.hooks) as e (told) where e.told->>'state' <> 'attached') as t""", height=8, widths={"what": 120, "device": 120},
                   empty="Nothing is known to go around, and every hook is attached.")],
        ], [bursts("node", CHOSEN), OF_NODE, JOBS, GAPS])
