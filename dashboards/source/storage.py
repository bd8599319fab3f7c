# SPDX-License-Identifier: GPL-2.0-or-later
"""The storage side: what devices and file systems' servers were asked, how long that was queued and served, and what
programs wanted meanwhile."""
from events import OF_NODE, bursts
from grafana import NODE, STEP, dashboard, demand, link, query_variable, row, series, table, timeseries, values

CHOSEN = values("node")
STATION = query_variable(
    "station", "Device or server",
    "select distinct source from unblend.storage\nwhere cluster in (${cluster:sqlstring}) "
    "and node in (${node:sqlstring}) and $__timeFilter(time) and source is not null order by 1", multi=True, refresh=2,
    about="Block devices, and what FUSE, NFS, Lustre and platforms serve.")
HERE = ("cluster in (${cluster:sqlstring}) and node in (${node:sqlstring}) and $__timeFilter(time)\n"
        "  and source in (${station:sqlstring})")
NO_STORAGE = ("No storage side was told of for this choice: an agent tells of block devices where its kernel has "
              "the events, and of servers when it can see them. unblend doctor on the node says what it can.")
# The last minute, whatever the span: a look over all nodes reads raw rows.
RECENT = "time > least($__timeTo()::timestamptz, now()) - interval '1 minute' and time <= $__timeTo()"


def over_time(title, about, columns, unit, width=8, where="", **more):
    return timeseries(title, about, f"""select $__timeGroupAlias(time, $__interval), {columns}
from unblend.storage where {HERE}{where} group by 1 order by 1""", unit, width=width, interval="10s", empty=NO_STORAGE, **more)


def by(expression, value, where=""):
    return f"""select $__timeGroupAlias(time, $__interval), {expression} as metric, {value} as value
from unblend.storage where {HERE}{where} group by 1, {expression} order by 1, 2"""


def build():
    return dashboard(
        "storage", "Storage",
        "Block devices and backends of a node: depth, how long requests were queued and how long they were "
        "served, beside what programs asked for. These are raw rows: choose some hours.", [NODE, STATION], [
            [timeseries("Asked by programs",
                        "Bytes that programs on this node read and wrote, page cache hits included.",
                        f"""select time, sum(read_bytes) / max(seconds) as "read", sum(write_bytes) / max(seconds) as written
from {demand('node', CHOSEN)} as d group by 1 order by 1""", "binBps"),
             timeseries("Reached devices and servers",
                        "Bytes of requests that came to an end: less than was asked for where the "
                        "page cache served, more where it read ahead. Without what one layer tells of another.",
                        by("layer || ' ' || request", "sum(bytes) / ($__interval_ms / 1000.0)",
                           " and bytes is not null"),
                        "binBps", interval="10s", empty=NO_STORAGE)],
            [over_time("Queue against device",
                       "Mean time that requests waited to be issued, and from then to their completion. "
                       "When queueing grows and service does not, more was asked than the device takes at a time.",
                       "sum(queue_sum_ns) / nullif(sum(requests) filter (where queue_sum_ns is not null), 0) "
                       "as queued,\n"
                       "  sum(service_sum_ns) / nullif(sum(requests) filter (where service_sum_ns is not null), 0) "
                       "as served", "ns", custom={"scaleDistribution": {"type": "log", "log": 10}}),
             timeseries("In flight", "Requests issued and not completed at an interval's end, by device: its depth.",
                        by("source", "max(in_flight)", " and in_flight is not null"), "short", width=8, interval="10s",
                        empty=NO_STORAGE),
             timeseries("Service time by device", "Mean, from issue to completion.",
                        by("source", "sum(service_sum_ns) / nullif(sum(requests), 0)",
                           " and service_sum_ns is not null and requests > 0"), "ns", width=8, interval="10s",
                        empty=NO_STORAGE, custom={"scaleDistribution": {"type": "log", "log": 10}})],
            [timeseries("Requests by device", "That came to an end, a second.",
                        by("source", "sum(requests) / ($__interval_ms / 1000.0)", " and requests is not null"),
                        "iops", width=8, interval="10s", empty=NO_STORAGE),
             timeseries("Requests by party",
                        "For whom: jobs, the kernel's own writeback, the kernel itself, or servers.",
                        by("coalesce(party, '?')", "sum(requests) / ($__interval_ms / 1000.0)",
                           " and requests is not null"),
                        "iops", width=8, stack=True, interval="10s", empty=NO_STORAGE),
             over_time("Merges and errors",
                       "Requests that became part of another one, and those that failed, a second.",
                       "sum(merges) / ($__interval_ms / 1000.0) as merges, "
                       "sum(errors) / ($__interval_ms / 1000.0) as errors", "iops")],
            [row("Who asks, and where it is slow")],
            [table("Requests by party and job", "On this node, over the whole span.",
                   f"""select layer, source, request, party, job, sum(requests) as requests, sum(bytes) as bytes, sum(errors) as errors,
  sum(queue_sum_ns) / nullif(sum(requests), 0) as queued, sum(service_sum_ns) / nullif(sum(requests), 0) as served
from unblend.storage where {HERE} and requests is not null
group by 1, 2, 3, 4, 5 order by 6 desc limit 100""", width=24, height=8,
                   units={"bytes": "bytes", "requests": "short", "queued": "ns", "served": "ns"}, empty=NO_STORAGE,
                   links={"job": [link("Job ${__value.text}", "job", job="${__value.raw:percentencode}")]},
                   colors={"errors": [(None, "text"), (1, "red")]})],
            [table("Slowest devices of all nodes",
                   "In the last minute of the span: mean service time of devices with at least ten "
                   "requests. A click leads to the node.",
                   f"""select node, source, layer, sum(requests) as requests, sum(service_sum_ns) / sum(requests) as served,
  sum(queue_sum_ns) / sum(requests) as queued
from unblend.storage
where cluster in (${{cluster:sqlstring}}) and {RECENT} and service_sum_ns is not null
group by 1, 2, 3 having sum(requests) >= 10 order by 5 desc limit 20""", width=24,
                   units={"requests": "short", "served": "ns", "queued": "ns"}, empty=NO_STORAGE,
                   links={"node": [link("Storage of ${__value.text}", "storage",
                                        node="${__value.raw:percentencode}")]})],
        ], [bursts("node", CHOSEN), OF_NODE], span={"from": "now-1h", "to": "now"})
