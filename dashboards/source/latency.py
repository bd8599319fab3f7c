# SPDX-License-Identifier: GPL-2.0-or-later
"""How long programs waited, by operation and volume."""
from events import BURSTS, CHECKPOINTS
from grafana import (VOLUMES, cells_by_octave, choice_variable, dashboard, heatmap, link, operations, quantiles, row, table,
                     timeseries, values)

VOLUME = values("volume")
OPERATIONS = ("read write open close stat seek readdir create unlink rename mkdir truncate setattr fsync mmap_fault "
              "block_read block_write block_flush block_discard").split()
OP = choice_variable("op", "Operation", OPERATIONS, ["read", "write", "open", "stat"], multi=True,
                     about="One heatmap each; block_ operations are requests to devices.")
CHOSEN = "array[${op:sqlstring}]::text[]"
LOG = {"scaleDistribution": {"type": "log", "log": 10}}


def build():
    return dashboard(
        "latency", "Latency",
        "How long calls took, as programs waited for them: by operation and volume, all nodes together.",
        [VOLUMES, OP], [
            [timeseries("99th percentile by operation",
                        "A value is its bucket's lower bound; buckets are at most 12.5 % wide.",
                        f"select time, part as metric, value\n"
                        f"from {quantiles('volume', VOLUME, CHOSEN, 'latency', 0.99)} as q order by 1, 2", "ns",
                        custom=LOG),
             timeseries("99th percentile by volume", "Of the chosen operations together.",
                        f"select time, part as metric, value\n"
                        f"from {quantiles('volume', VOLUME, CHOSEN, 'latency', 0.99, by='name')} as q order by 1, 2",
                        "ns", custom=LOG)],
            [{**heatmap("Latency of $op",
                        "How many calls took so long, by powers of two. Two bands are two ways: page cache and "
                        "device, for instance.",
                        cells_by_octave("volume", VOLUME, "array[${op:sqlstring}]", "latency", 10, 35), "ns"),
              "repeat": "op", "repeatDirection": "h", "maxPerRow": 2}],
            [row("By volume and operation")],
            [table("Latency by volume and operation", "Over the whole span; the mean is exact.",
                   f"""select o.name as volume, o.op as operation, o.ops as operations, o.latency_sum_ns / nullif(o.ops, 0) as mean,
  q.p50, q.p95, q.p99, o.errors
from {operations('volume', VOLUME, CHOSEN, step='null')} as o
left join (select part, max(value) filter (where quantile = 0.5) as p50, max(value) filter (where quantile = 0.95) as p95,
             max(value) filter (where quantile = 0.99) as p99
           from {quantiles('volume', VOLUME, CHOSEN, 'latency', '0.5, 0.95, 0.99', by='both', step='null')} as q
           group by 1) as q on q.part = o.name || ' ' || o.op
order by o.ops desc, 1, 2 limit 200""", width=24,
                   links={"volume": [link("Capacity of ${__value.text}", "capacity", volume="${__value.raw:percentencode}")]},
                   units={"operations": "short", "mean": "ns", "p50": "ns", "p95": "ns", "p99": "ns"},
                   colors={"errors": [(None, "text"), (1, "orange")]})],
        ], [BURSTS, CHECKPOINTS])
