# SPDX-License-Identifier: GPL-2.0-or-later
"""What a workload looks like to storage: sizes, ratios, metadata, files."""
from cluster import NO_PROFILES
from events import BURSTS, checkpoints
from grafana import (JOBS, STEP, TIMES, cells_by_octave, dashboard, demand, heatmap, link, operations, row,
                     table, timeseries, values)

JOB = values("job")
OF_JOB = (f"(p.name = any({JOB}) or array_position({JOB}, null) is not null) and p.subject = 'job'\n"
          "  and p.cluster in (${cluster:sqlstring}) and $__timeFilter(p.time)")


def sizes(op):
    return cells_by_octave("job", JOB, f"array['{op}']", "size", 8, 27)


def per_second(only):
    return f"""select time, op as metric, sum(ops) / max(seconds) as value
from {operations('job', JOB, only, together=True)} as o group by 1, op order by 1, 2"""


def build():
    return dashboard(
        "profiles", "Profiles",
        "What workloads look like to storage: sizes of reads, writes and files, read against write, "
        "metadata by operation, and what reports took that for.", [JOBS], [
            [heatmap("Sizes of reads",
                     "How many reads brought so many bytes, by powers of two; the lowest row holds all below "
                     "512 bytes, empty reads included. Sizes are what was transferred, not what was asked for.",
                     sizes("read"), "bytes"),
             heatmap("Sizes of writes", "The same of writes.", sizes("write"), "bytes")],
            [timeseries("Read against write", "Shares of reads, by operations and by bytes. 1 is all reads.",
                        f"""select time, sum(read_ops) / nullif(sum(read_ops + write_ops), 0) as "by operations",
  sum(read_bytes) / nullif(sum(read_bytes + write_bytes), 0) as "by bytes"
from {demand('job', JOB, together=True)} as d group by 1 order by 1""", "percentunit", width=8, min=0, max=1),
             timeseries("Metadata by operation", "Metadata operations a second.",
                        per_second("array['open', 'close', 'stat', 'readdir', 'create', 'unlink', 'rename', 'mkdir', "
                                   "'truncate', 'setattr']"), "ops", width=8, stack=True),
             timeseries("Data, seeks and syncs", "Operations a second; zip-like readers seek many times a read.",
                        per_second("array['read', 'write', 'seek', 'fsync', 'mmap_fault']"), "ops", width=8,
                        stack=True)],
            [heatmap("Sizes of opened files",
                     "How large files were when they were opened: a file counts as often as it is "
                     "opened.", cells_by_octave("job", JOB, "array['open', 'create']", "size", 8, 34), "bytes"),
             timeseries("Where transfers start",
                        "Shares of reads and writes that start where the previous one of the same open "
                        "file ended (consecutive), beyond that (sequential), or before (random).",
                        f"""select time, sum(consecutive) / nullif(sum(sequential + consecutive + random), 0) as consecutive,
  sum(sequential) / nullif(sum(sequential + consecutive + random), 0) as sequential,
  sum(random) / nullif(sum(sequential + consecutive + random), 0) as random
from {operations('job', JOB, "array['read', 'write']", together=True)} as o group by 1 order by 1""", "percentunit", height=9,
                        stack="percent", min=0, max=1)],
            [timeseries("Opens per MiB",
                        "Opens and creates to a MiB read and written: shards need next to none, small files many.",
                        f"""select time, sum(ops) filter (where op in ('open', 'create'))
  / nullif(sum(bytes) filter (where op in ('read', 'write')) / 1048576, 0) as "opens per MiB"
from {operations('job', JOB, "array['open', 'create', 'read', 'write']", together=True)} as o group by 1 order by 1""", "none", width=8),
             timeseries("Mean bytes of a transfer", "Read and written.",
                        f"""select time, sum(read_bytes) / nullif(sum(read_ops), 0) as "read",
  sum(write_bytes) / nullif(sum(write_ops), 0) as "write"
from {demand('job', JOB, together=True)} as d group by 1 order by 1""", "bytes", width=8),
             timeseries("Profiles over time", "Shares of bytes by pattern, as reports told them apart.",
                        f"""select $__timeGroupAlias(p.time, $__interval), p.profile as metric, sum(p.bytes) as value
from unblend.profiles as p where {OF_JOB} and p.kind = 'pattern' and p.bytes is not null
group by 1, p.profile order by 1, 2""", "bytes", width=8, stack="percent", interval="5m", empty=NO_PROFILES)],
            [row("What it was taken for")],
            [table("Profiles by job",
                   "What reports found, over the whole span: patterns add to 1 for a job; pipelines name "
                   "what patterns make together. Confidence is the least that was stated.",
                   f"""select p.name as job, p.kind, p.profile, sum(p.bytes) as bytes, sum(p.ops) as operations,
  sum(p.bytes) / nullif(sum(sum(p.bytes)) over (partition by p.cluster, p.name, p.kind), 0) as "share of bytes",
  sum(p.ops) / nullif(sum(sum(p.ops)) over (partition by p.cluster, p.name, p.kind), 0) as "share of operations",
  min(p.confidence) as confidence
from unblend.profiles as p where {OF_JOB}
group by p.cluster, p.name, p.kind, p.profile order by sum(p.bytes) desc nulls last, 1, 3 limit 200""", width=24, empty=NO_PROFILES,
                   units={"bytes": "bytes", "operations": "short", "share of bytes": "percentunit",
                          "share of operations": "percentunit", "confidence": "percentunit"},
                   links={"job": [link("Job ${__value.text}", "job", job="${__value.raw:percentencode}")]})],
        ], [BURSTS, checkpoints(f"(p.name = any({JOB}) or array_position({JOB}, null) is not null)")])
