# SPDX-License-Identifier: GPL-2.0-or-later
"""The cluster at a glance: what it asks of its storage, of which workloads that is made, and who asks most."""
from events import BURSTS, CHECKPOINTS
from grafana import (CLUSTERS, STEP, TIMES, dashboard, demand, link, operations, quantiles, row,
                     stat, table, timeseries)

NO_PROFILES = ("No profiles are stored for this span of time: unblend report --db ... --format json | "
               "unblend-collector profiles stores them, from a timer for instance.")
PROFILES = ("from unblend.profiles as p\nwhere p.subject = 'cluster' and p.cluster in (${cluster:sqlstring}) "
            "and $__timeFilter(p.time)")
SHARE_COLORS = [(None, "text"), (0.25, "yellow"), (0.75, "orange")]
JOB_LINK = link("Job ${__value.text}", "job", job="${__value.raw:percentencode}")
NODE_LINK = link("Node ${__value.text}", "node", node="${__value.raw:percentencode}")
VOLUME_LINK = link("Latency of ${__value.text}", "latency", volume="${__value.raw:percentencode}")
SHARE = "metadata_ops / nullif(read_ops + write_ops + metadata_ops + other_ops, 0)"


def by_name(subject, column):
    return f"""select name as "{column}", read_bytes as "read", write_bytes as written,
  read_ops + write_ops + metadata_ops + other_ops as operations, {SHARE} as metadata,
  data_latency_ns / nullif(read_ops + write_ops, 0) as "mean time", errors
from {demand(subject, step='null')} as d
order by read_bytes + write_bytes desc, name limit 20"""


TOP_JOBS = f"""with d as (
  select * from {demand('job', step='null')} as d order by read_bytes + write_bytes desc, name limit 20)
select d.name as job, j."user", j.nodes, p.profile, d.read_bytes as "read", d.write_bytes as written,
  d.read_ops + d.write_ops + d.metadata_ops + d.other_ops as operations, {SHARE} as metadata,
  d.data_latency_ns / nullif(d.read_ops + d.write_ops, 0) as "mean time", d.errors
from d
left join (select cluster, job, max("user") as "user", count(distinct node) as nodes from unblend.jobs
           where job = any(array(select name from d)) group by 1, 2) as j on j.cluster = d.cluster and j.job = d.name
left join (select distinct on (cluster, name) cluster, name, profile
           from (select cluster, name, profile, sum(coalesce(bytes, 0)) as bytes, sum(coalesce(ops, 0)) as ops
                 from unblend.profiles
                 where subject = 'job' and kind = 'pattern' and name = any(array(select name from d))
                   and $__timeFilter(time) group by 1, 2, 3) as p
           order by 1, 2, bytes desc, ops desc) as p on p.cluster = d.cluster and p.name = d.name
order by d.read_bytes + d.write_bytes desc, d.name"""

UNITS = {"read": "bytes", "written": "bytes", "operations": "short", "metadata": "percentunit", "mean time": "ns"}
COLORS = {"metadata": SHARE_COLORS, "errors": [(None, "text"), (1, "orange")]}


def build():
    def rate(what, name):
        return f'select time, sum({what}) / max(seconds) as "{name}" from {demand("cluster")} as d group by 1 order by 1'

    return dashboard(
        "cluster", "Cluster",
        "What the cluster asks of its storage, of which workloads that is made, and who asks most.", [], [
            [stat("Read", "Bytes read by programs a second, page cache hits included.", rate("read_bytes", "read"),
                  "binBps"),
             stat("Written", "Bytes written by programs a second.", rate("write_bytes", "written"), "binBps"),
             stat("Operations", "File operations a second: data, metadata, seeks and syncs; not the block layer's.",
                  rate("read_ops + write_ops + metadata_ops + other_ops", "operations"), "ops"),
             stat("Metadata, of all",
                  "Metadata operations among all but the block layer's. From a quarter on metadata is a "
                  "load of its own; above three quarters hardly anything else is.",
                  f"select time, sum(metadata_ops) / nullif(sum(read_ops + write_ops + metadata_ops + other_ops), 0) "
                  f"as \"metadata\" from {demand('cluster')} as d group by 1 order by 1", "percentunit", SHARE_COLORS),
             stat("Blend index", "0: workloads come one after the other. 0.5: two evenly mixed at any time; it "
                                 "nears 1 the "
                  "more there are.", f"select p.time, avg(p.blend_index) as blend {PROFILES} group by 1 order by 1",
                  "none", decimals=2, empty="no profiles stored"),
             stat("Silent nodes", "Nodes that have sent nothing for two minutes, and did in this span of time.",
                  "select count(*) as silent from unblend.nodes where cluster in (${cluster:sqlstring})\n"
                  "  and last_seen < now() - interval '2 minutes' and last_seen >= $__timeFrom()", "none",
                  [(None, "green"), (1, "red")], graph=False)],
            [timeseries("Demand by profile",
                        "Bytes a second, by the workload that they belong to, as reports told them "
                        "apart. What fits no profile is unknown.",
                        f"""select $__timeGroupAlias(p.time, $__interval), p.profile as metric,
  sum(p.bytes) / greatest($__interval_ms / 1000.0, max(p.seconds)) as value
{PROFILES} and p.kind = 'pattern' and p.bytes is not null
group by 1, p.profile order by 1, 2""", "binBps", stack=True, empty=NO_PROFILES, interval="5m"),
             timeseries("Operations by profile",
                        "Operations a second, likewise: small files and scans move few bytes and "
                        "keep storage busy all the same.",
                        f"""select $__timeGroupAlias(p.time, $__interval), p.profile as metric,
  sum(p.ops) / greatest($__interval_ms / 1000.0, max(p.seconds)) as value
{PROFILES} and p.kind = 'pattern' and p.ops is not null
group by 1, p.profile order by 1, 2""", "ops", stack=True, empty=NO_PROFILES, interval="5m")],
            [timeseries("Bytes read and written", "Really transferred, page cache hits included.",
                        f"""select time, sum(read_bytes) / max(seconds) as "read", sum(write_bytes) / max(seconds) as written
from {demand('cluster')} as d group by 1 order by 1""", "binBps"),
             timeseries("Operations by class",
                        "Data are reads and writes; metadata are open, close, stat, readdir, create, "
                        "unlink, rename, mkdir, truncate and setattr.",
                        f"""select time, sum(read_ops) / max(seconds) as "read", sum(write_ops) / max(seconds) as "write",
  sum(metadata_ops) / max(seconds) as metadata, sum(other_ops) / max(seconds) as "seek, sync, fault"
from {demand('cluster')} as d group by 1 order by 1""", "ops", stack=True, many=True)],
            [timeseries("Metadata share", "Of all operations but seeks; and the same without close on both sides.",
                        f"""select time, sum(ops) filter (where class = 'metadata')
    / nullif(sum(ops) filter (where class in ('data', 'metadata', 'sync')), 0) as metadata,
  sum(ops) filter (where class = 'metadata' and op <> 'close')
    / nullif(sum(ops) filter (where class in ('data', 'metadata', 'sync') and op <> 'close'), 0) as "without close"
from {operations('cluster')} as o group by 1 order by 1""", "percentunit", width=8, min=0, max=1),
             timeseries("Bursts: busiest minute against the mean",
                        "Of each step, its mean and its busiest minute (hour, over "
                        "long spans). Shorter ones are on the dashboard Bursts.",
                        f"""select $__timeGroupAlias(time, $__interval), avg(rate) as mean, max(rate) as "busiest minute"
from (select time, sum(read_bytes + write_bytes) / max(seconds) as rate
      from {demand('cluster', step="'1m'")} as d group by 1) as d
group by 1 order by 1""", "binBps", width=8, interval="10m"),
             timeseries("99th percentile of latency",
                        "Of reads, writes, opens and stats, as programs waited for them. A value "
                        "is its bucket's lower bound; buckets are at most 12.5 % wide.",
                        f"""select time, part as metric, value
from {quantiles('cluster', 'null', "array['read', 'write', 'open', 'stat']", 'latency', 0.99)} as q order by 1, 2""",
                        "ns", width=8, custom={"scaleDistribution": {"type": "log", "log": 10}})],
            [row("Who")],
            [table("Jobs that moved most",
                   "Over the whole span. A click leads to the job. The profile is what most of its "
                   "bytes are.", TOP_JOBS, width=24, units=UNITS, colors=COLORS, links={"job": [JOB_LINK]})],
            [table("Nodes that moved most", "Over the whole span; a click leads to the node.", by_name("node", "node"),
                   units=UNITS, colors=COLORS, links={"node": [NODE_LINK]}),
             table("Volumes", "Over the whole span, all nodes together; a click leads to the volume's latencies.",
                   by_name("volume", "volume"), units=UNITS, colors=COLORS, links={"volume": [VOLUME_LINK]})],
        ], [BURSTS, CHECKPOINTS])
