# SPDX-License-Identifier: GPL-2.0-or-later
"""One job: on all its nodes, over all its attempts, down to the processes' groups."""
from cluster import NO_PROFILES
from events import OF_JOB, bursts
from grafana import (CLUSTERS, JOB, TIMES, annotation, cells_by_octave, dashboard, demand, heatmap, link, operations,
                     quantiles, row, series, stalls, stat, states, table, timeseries, values)

CHOSEN = values("job")
HERE = "cluster in (${cluster:sqlstring}) and job in (${job:sqlstring})"
PROFILES = ("from unblend.profiles as p\nwhere p.subject = 'job' and p.cluster in (${cluster:sqlstring}) "
            "and p.name in (${job:sqlstring}) and $__timeFilter(p.time)")
NO_RANKS = ("Nobody watched ranks of this job in this span of time. Agents watch processes with a rank's variable: RANK, "
            "LOCAL_RANK, SLURM_PROCID, OMPI_COMM_WORLD_RANK or PMI_RANK.")
NO_TREES = ("No agent told of trees of this job in this span of time: the first folders below a volume's root, by which "
            "work is told apart. Agents send them when they are started with --trees, and they are kept as long as raw rows.")
LOG = {"scaleDistribution": {"type": "log", "log": 10}}
# A checkpoint is seen without stored profiles, too.
WRITES = bursts("job", CHOSEN, "Write bursts", "purple", "write_bytes")
ATTEMPTS = annotation("Starts", "green", f"""select started as time, max(ended) as timeend, 'Attempt' as title,
  'on ' || count(*) || ' nodes' || coalesce(', exit ' || max(exit), '') as text, 'attempt' as tags
from unblend.jobs where {HERE} and $__timeFilter(started) group by started order by 1 limit 100""")

# As analyzer/phase.c tells them, of steps in the place of windows: a step in which it asked for next to nothing is quiet, and
# steps that nothing is known of are, too.
PHASES = f"""with d as (
  select time, max(seconds) as seconds, sum(read_bytes) as read, sum(write_bytes) as written, sum(read_ops + write_ops) as data,
    sum(metadata_ops) as metadata
  from {demand('job', CHOSEN)} as d group by 1),
m as (select min(time) as first, max(time) as last, max(seconds) as seconds from d),
s as (
  select t.time, m.seconds, coalesce(read, 0) as read, coalesce(written, 0) as written, coalesce(data, 0) as data,
    coalesce(metadata, 0) as metadata, avg(coalesce(read + written, 0)) over () as mean_bytes,
    avg(coalesce(metadata, 0)) over () as mean_metadata
  from m cross join generate_series(m.first, m.last, m.seconds * interval '1 second') as t (time) left join d on d.time = t.time),
p as (
  select s.*, case when read + written <= 0.05 * mean_bytes and metadata <= 0.05 * mean_metadata then 'quiet'
    when metadata >= 0.8 * (metadata + data) and read + written < 4096 * metadata then 'metadata'
    when read >= 0.8 * (read + written) then 'read' when written >= 0.8 * (read + written) then 'write' else 'mixed' end as phase
  from s)
"""
COLORS = {"read": "blue", "write": "purple", "metadata": "orange", "mixed": "green", "quiet": "gray"}


def build():
    return dashboard(
        "job", "Job", "One job on all its nodes and over all its attempts: what it asks for, when it waits, "
                      "when it writes checkpoints.", [JOB], [
            [stat("Read", "Over the whole span.",
                  f"select sum(read_bytes) as bytes from {demand('job', CHOSEN, 'null')} as d", "bytes", graph=False),
             stat("Written", "Over the whole span.",
                  f"select sum(write_bytes) as bytes from {demand('job', CHOSEN, 'null')} as d", "bytes", graph=False),
             stat("Nodes", "On which it ran, ever.",
                  f"select count(distinct node) as nodes from unblend.jobs where {HERE}", "none", graph=False),
             stat("Attempts", "How often it began, where the most often on a node.",
                  f"select max(n) as attempts from (select count(*) as n from unblend.jobs where {HERE} "
                  f"group by node) as a", "none", graph=False),
             stat("Waiting in calls",
                  "How many of its threads were inside storage calls at a time, on average, all nodes "
                  "together. Calls that pass in a page cache are in it, threads that wait for data of others are not.",
                  f"""select time, sum(data_latency_ns + metadata_latency_ns) / max(seconds) / 1e9 as threads
from {demand('job', CHOSEN)} as d group by 1 order by 1""", "none", decimals=2),
             stat("Oldest in flight",
                  "For how long a call had been running that was not over at the end of an interval. "
                  "Beyond 30 s something hangs.",
                  f"select max(oldest_ns) as oldest from {series('null', CHOSEN, '')} as s", "ns",
                  [(None, "green"), (1e9, "yellow"), (30e9, "red")], graph=False)],
            [states("Phases", "What it did for the most part: an ingest writes, epochs read, with pauses between them. Of at most a hundred "
                              "steps, of a minute at least: shorter ones belong to what is around them. Epochs without a pause between "
                              "are told by working sets, which only unblend report --db knows.",
                    PHASES + "select time, phase from p order by 1", COLORS)],
            [timeseries("Bytes read and written", "All nodes together.",
                        f"""select time, sum(read_bytes) / max(seconds) as "read", sum(write_bytes) / max(seconds) as written
from {demand('job', CHOSEN)} as d group by 1 order by 1""", "binBps"),
             timeseries("Bytes by node",
                        "Read and written a second: ranks that do less than others wait, or are waited for.",
                        f"""select time, part as metric, (coalesce(read_bytes, 0) + coalesce(write_bytes, 0)) / seconds as value
from {series('null', CHOSEN, 'node')} as s where part is not null order by 1, 2""", "binBps")],
            [timeseries("Data stalls",
                        "Exposed I/O: for what share of their time its ranks did nothing but wait while their processes "
                        "did I/O. What a loader reads ahead is in the waiting beside this, and not in here.",
                        f"""select time, sum(exposed_ns) / sum(watched_ns) as "exposed"
from {stalls(CHOSEN)} as s group by 1 order by 1""", "percentunit", width=8, min=0, max=1, empty=NO_RANKS),
             timeseries("Threads waiting in calls",
                        "On average, by what for. A training job that stands still here while it "
                        "reads nothing computes; one that waits in reads all the time is stalled by data.",
                        f"""select time, sum(data_latency_ns) / max(seconds) / 1e9 as "reads and writes",
  sum(metadata_latency_ns) / max(seconds) / 1e9 as metadata
from {demand('job', CHOSEN)} as d group by 1 order by 1""", "none", width=8, stack=True),
             timeseries("Waiting by node",
                        "Threads inside storage calls, on average: a straggler waits longer for the same.",
                        f"""select time, part as metric, latency_sum_ns / seconds / 1e9 as value
from {series('null', CHOSEN, 'node')} as s where part is not null order by 1, 2""", "none", width=8)],
            [timeseries("99th percentile of latency", "As its programs waited.",
                        f"""select time, part as metric, value
from {quantiles('job', CHOSEN, "array['read', 'write', 'open', 'stat', 'fsync']", 'latency', 0.99)} as q order by 1, 2""",
                        "ns", width=8, custom=LOG),
             timeseries("Operations", "A second, by operation.",
                        f"""select time, op as metric, sum(ops) / max(seconds) as value
from {operations('job', CHOSEN)} as o where class <> 'block' group by 1, op order by 1, 2""", "ops", width=8, stack=True),
             heatmap("Latency of reads", "How many reads took so long.",
                     cells_by_octave("job", CHOSEN, "array['read']", "latency", 10, 35), "ns", width=8, height=8)],
            [timeseries("Data stalls by node",
                        "The same on each node: where one alone stands still, the others wait for it at the next step.",
                        f"""select time, part as metric, exposed_ns / watched_ns as value
from {stalls(CHOSEN, "node")} as s order by 1, 2""", "percentunit", min=0, max=1, empty=NO_RANKS),
             timeseries("What it is", "Bytes a second by pattern, as reports told them apart.",
                        f"""select $__timeGroupAlias(p.time, $__interval), p.profile as metric,
  sum(p.bytes) / greatest($__interval_ms / 1000.0, max(p.seconds)) as value
{PROFILES} and p.kind = 'pattern' and p.bytes is not null
group by 1, p.profile order by 1, 2""", "binBps", stack=True, interval="5m", empty=NO_PROFILES)],
            [row("Where, and by whom")],
            [table("Phases, one by one",
                   "Neighbouring steps of one kind. At least three of reading, alike in bytes, are epochs; before the first of them it "
                   "ramps up.",
                   PHASES + """, c as (select *, (phase is distinct from lag(phase) over (order by time))::integer as begins from p),
n as (select *, sum(begins) over (order by time) as number from c)
select min(time) as "time", phase, sum(seconds) as length, sum(read) as "read", sum(written) as written, sum(metadata) as metadata
from n group by number, phase order by 1 limit 200""", width=24, height=6, maxDataPoints=100,
                   units={"length": "s", "read": "bytes", "written": "bytes", "metadata": "short"})],
            [table("Groups of processes",
                   "A row an attempt on a node: all processes that were started from it. Single processes "
                   "stay on their node: unblend top there, or unblend record, shows them. A click leads to the node.",
                   f"""select j.node, j.command, j."user", j.started, j.ended, j.exit, s.read_bytes as "read", s.write_bytes as written,
  s.latency_sum_ns as "time in calls", s.errors, s.oldest_ns as "oldest in flight"
from unblend.jobs as j
left join {series('null', CHOSEN, 'node', 'null')} as s on s.part = j.node
where j.cluster in (${{cluster:sqlstring}}) and j.job in (${{job:sqlstring}})
  and coalesce(j.started, '-infinity') < $__timeTo() and coalesce(j.ended, 'infinity') > $__timeFrom()
order by s.read_bytes + s.write_bytes desc nulls last, j.node, j.started limit 500""", width=24,
                   units={"read": "bytes", "written": "bytes", "time in calls": "ns", "oldest in flight": "ns"},
                   links={"node": [link("Node ${__value.text}", "node", node="${__value.raw:percentencode}")]},
                   colors={"oldest in flight": [(None, "text"), (30e9, "red")],
                           "exit": [(None, "text"), (1, "orange")]})],
            [table("Volumes", "What it did where, over the whole span.",
                   f"""select part as volume, read_bytes as "read", write_bytes as written, metadata_ops as metadata, errors
from {series('null', CHOSEN, 'volume', 'null')} as s
order by coalesce(read_bytes, 0) + coalesce(write_bytes, 0) desc limit 50""", width=24, height=6,
                   units={"read": "bytes", "written": "bytes", "metadata": "short"},
                   links={"volume": [link("Latency of ${__value.text}", "latency",
                                          volume="${__value.raw:percentencode}")]})],
            [table("Trees",
                   "In which folders of a volume it did that, over the whole span; / is the root itself. Opens are among "
                   "metadata. Time inside is that of all these calls together. Out of raw rows.",
                   f"""select volume, tree, opens, reads, writes, metadata, read_bytes as "read",
  write_bytes as written, wait_ns as "time inside"
from unblend.tree_sums({CLUSTERS}, {CHOSEN}, {TIMES}) as t
order by wait_ns desc, 1, 2 limit 200""", width=24, height=8, empty=NO_TREES,
                   units={"opens": "short", "reads": "short", "writes": "short", "metadata": "short", "read": "bytes",
                          "written": "bytes", "time inside": "ns"},
                   links={"volume": [link("Latency of ${__value.text}", "latency",
                                          volume="${__value.raw:percentencode}")]})],
        ], [OF_JOB, WRITES, ATTEMPTS])
