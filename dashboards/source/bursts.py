# SPDX-License-Identifier: GPL-2.0-or-later
"""What averages hide: demand in windows of a tenth of a second."""
from events import BURSTS, OF_JOB
from grafana import CLUSTERS, JOB, TIMES, dashboard, demand, link, row, stat, table, timeseries, values

CHOSEN = values("job")
NO_FLOWS = ("No slots of 100 ms are kept for this span of time: they are as long as raw rows are, two days if "
            "the collector was not told otherwise.")
METRICS = (("bytes", "Bytes", "binBps"), ("metadata_ops", "Metadata operations", "ops"))


def windows(metric, width_ms):
    return f"unblend.windows({CLUSTERS}, {CHOSEN}, '{metric}', {TIMES}, {width_ms})"


def peak_to_mean(width_ms, label):
    return stat(f"Peak to mean, {label}",
                f"The largest window of {label} against the mean of all, empty ones included, in "
                "bytes read and written. 1 is an even flow; from 10 on storage is sized for the peak and "
                "idles otherwise.",
                f"select max(value) / nullif(avg(value), 0) as peak from {windows('bytes', width_ms)} as w", "none",
                [(None, "green"), (3, "yellow"), (10, "orange")], graph=False, decimals=1)


def over_time(metric, title, unit):
    return timeseries(f"{title}: mean, and windows of 1 s and 100 ms",
                      "Of each step, its mean, its busiest second and its busiest tenth of a second, all a second. "
                      "All nodes of the job together.",
                      f"""select $__timeGroupAlias(time, $__interval), 10 * avg(value) as mean, max(second) as "busiest second",
  10 * max(value) as "busiest 100 ms"
from (select time, value, sum(value) over (partition by date_trunc('second', time)) as second
      from {windows(metric, 100)} as w) as w
group by 1 order by 1""", unit, interval="10s", empty=NO_FLOWS)


def build():
    return dashboard(
        "bursts", "Bursts", "Maximum against average, down to 100 ms, and what bursts do to latency. Slots are raw "
                            "rows: choose a job and some minutes; only the last panels hold for long spans.", [JOB], [
            [peak_to_mean(100, "100 ms"), peak_to_mean(1000, "1 s"), peak_to_mean(10000, "10 s"),
             stat("Idle", "Share of windows of 100 ms without a byte.",
                  f"select avg((value = 0)::integer) as idle from {windows('bytes', 100)} as w", "percentunit",
                  graph=False),
             stat("Variation", "Standard deviation over mean of windows of 1 s (CV).",
                  f"select stddev_pop(value) / nullif(avg(value), 0) as cv from {windows('bytes', 1000)} as w", "none",
                  graph=False, decimals=2),
             stat("Dispersion", "Variance over mean of metadata operations in windows of 1 s (Fano): 1 is "
                                "chance, more is "
                  "bursts.",
                  f"select var_pop(value) / nullif(avg(value), 0) as fano from {windows('metadata_ops', 1000)} as w",
                  "none", graph=False, decimals=1)],
            [over_time(*metric) for metric in METRICS],
            [table("Latency in bursts and outside",
                   "Of reads and writes (data), and metadata operations, by whether they ended "
                   "in a burst. By octaves: a value is its octave's lower bound.",
                   f"""select class, case when bursts then 'in bursts' else 'steady' end as "when", max(count) as operations,
  max(value) filter (where quantile = 0.5) as p50, max(value) filter (where quantile = 0.95) as p95,
  max(value) filter (where quantile = 0.99) as p99
from unblend.burst_quantiles({CLUSTERS}, {CHOSEN}, {TIMES}, array[0.5, 0.95, 0.99]) as b group by 1, 2 order by 1, 2""",
                   units={"p50": "ns", "p95": "ns", "p99": "ns", "operations": "short"}, empty=NO_FLOWS),
             table("Busiest seconds", "The ten seconds in which the job asked for most, and their busiest tenth.",
                   f"""select date_trunc('second', time) as "time", sum(value) as bytes, 10 * max(value) as "busiest 100 ms",
  count(*) filter (where value > 0) / 10.0 as busy
from {windows('bytes', 100)} as w group by 1 having sum(value) > 0 order by 2 desc limit 10""",
                   units={"bytes": "bytes", "busiest 100 ms": "binBps", "busy": "percentunit", "time": "time:YYYY-MM-DD HH:mm:ss"},
                   widths={"time": 160}, empty=NO_FLOWS)],
            [row("Over long spans, all jobs")],
            [timeseries("Cluster: busiest minute against the mean",
                        "Of each step, in bytes read and written a second; by hours over long spans.",
                        f"""select $__timeGroupAlias(time, $__interval), avg(rate) as mean, max(rate) as "busiest minute"
from (select time, sum(read_bytes + write_bytes) / max(seconds) as rate
      from {demand('cluster', step="'1m'")} as d group by 1) as d
group by 1 order by 1""", "binBps", interval="10m"),
             table("Jobs by their busiest minute", "The largest minute of each job against its mean while it ran.",
                   f"""select name as job, max(rate) as "busiest minute", avg(rate) as mean, max(rate) / nullif(avg(rate), 0) as "peak to mean"
from (select name, (read_bytes + write_bytes) / seconds as rate from {demand('job', step="'1m'")} as d) as d
group by 1 having max(rate) > 0 order by max(rate) desc limit 20""", height=8,
                   units={"busiest minute": "binBps", "mean": "binBps"},
                   links={"job": [link("Bursts of ${__value.text}", "bursts", job="${__value.raw:percentencode}")]})],
        ], [BURSTS, OF_JOB], span={"from": "now-15m", "to": "now"})
