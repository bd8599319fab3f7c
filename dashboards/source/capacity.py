# SPDX-License-Identifier: GPL-2.0-or-later
"""How much is asked for against what there is, and when it will not do any more."""
from events import BURSTS
from grafana import VOLUMES, dashboard, demand, link, row, stat, table, text_variable, timeseries, values

CHOSEN = values("volume")
LIMIT = text_variable("limit", "Limit, GiB/s", "0",
                      "What the platform is rated for, of the chosen volumes together, in GiB a "
                      "second; 0 takes the highest that was ever seen, which is no limit but is known to be possible.")
GIB = "nullif('0${limit:raw}'::float8, 0) * 1073741824"
ALL_BY_HOUR = ("from unblend.demand_by_hour as h\nwhere h.subject = 'volume' and h.cluster in (${cluster:sqlstring})\n"
               f"  and (h.name = any({CHOSEN}) or array_position({CHOSEN}, null) is not null)")
RATES = f"(select time, sum(read_bytes + write_bytes) / max(seconds) as rate from {demand('volume', CHOSEN, together=True)} as d group by 1)"
HIGHEST = f"(select max(bytes) / 3600 as rate from (select h.time, sum(h.read_bytes + h.write_bytes) as bytes {ALL_BY_HOUR} group by 1) as h)"
DAYS = f"""(select date_trunc('day', h.time) as day, sum(h.read_bytes + h.write_bytes) / 86400 as rate
  {ALL_BY_HOUR} and h.time < date_trunc('day', now()) and $__timeFilter(h.time) group by 1)"""
# Agents ask once a minute, each for the volumes that it mounts; of a shared volume any answer will do.
FULL = f"""with last as (
  select cluster, volume, max(fstype) as fstype, count(distinct node) as nodes, max(used_bytes) as used, max(total_bytes) as total,
    max(used_files) as files, max(total_files) as total_files
  from unblend.space where cluster in (${{cluster:sqlstring}}) and (volume = any({CHOSEN}) or array_position({CHOSEN}, null) is not null)
    and time > least($__timeTo()::timestamptz, now()) - interval '3 minutes' and time <= $__timeTo() group by 1, 2),
since as (
  select greatest($__timeFrom()::timestamptz, least($__timeTo()::timestamptz, now()) - interval '1 day',
    (select since from unblend.tiers where tier = 'raw')) as at offset 0),
first as (
  select cluster, volume, min(used_bytes) as used, min(time) as at from unblend.space
  where time >= (select at from since) and time < (select at from since) + interval '3 minutes' group by 1, 2)
"""
GROWN = """(last.used - first.used) * 86400
    / nullif(extract(epoch from least($__timeTo()::timestamptz, now()) - first.at), 0)"""
USED = [(None, "green"), (0.7, "yellow"), (0.9, "red")]


def build():
    percentiles = ",\n  ".join(f"percentile_disc({q}) within group (order by rate) as p{round(100 * q)}"
                               for q in (0.5, 0.95, 0.99))
    return dashboard(
        "capacity", "Capacity",
        "What volumes are asked for against what they can do: demand, headroom, growth. Demand is what "
        "programs asked for, page cache hits included.", [VOLUMES, LIMIT], [
            [stat("Demand, 95th percentile", "Bytes a second, of the span's steps.",
                  f"select percentile_disc(0.95) within group (order by rate) as demand from {RATES} as r", "binBps",
                  graph=False, width=6),
             stat("Highest hour ever seen", "The largest mean of an hour, of all hours that are kept.",
                  f"select rate as highest from {HIGHEST} as h", "binBps", graph=False, width=6),
             stat("Utilization", "95th percentile of demand over the limit (over the highest hour, where "
                                 "none is given).",
                  f"""select p / coalesce({GIB}, (select rate from {HIGHEST} as h)) as utilization
from (select percentile_disc(0.95) within group (order by rate) as p from {RATES} as r) as r""", "percentunit", USED,
                  graph=False, width=6),
             stat("Growth a day",
                  "Slope of a straight line through the days of the span that are over, in bytes a second more "
                  "each day, over the mean. It needs three days.",
                  f"""select case when count(*) >= 3 then regr_slope(rate, extract(epoch from day) / 86400) / nullif(avg(rate), 0) end as growth
from {DAYS} as d""", "percentunit", graph=False, width=6, decimals=2, empty="less than three days")],
            [timeseries("Demand and limit",
                        "Read and written by programs; the limit as given above, else the highest hour ever seen.",
                        f"""select time, sum(read_bytes) / max(seconds) as "read", sum(write_bytes) / max(seconds) as written,
  coalesce({GIB}, (select rate from {HIGHEST} as h)) as "limit"
from {demand('volume', CHOSEN, together=True)} as d group by 1 order by 1""", "binBps", width=16,
                        overrides=[{"matcher": {"id": "byName", "options": "limit"}, "properties": [
                            {"id": "color", "value": {"mode": "fixed", "fixedColor": "red"}},
                            {"id": "custom.lineStyle", "value": {"fill": "dash", "dash": [10, 10]}},
                            {"id": "custom.fillOpacity", "value": 0}]}]),
             timeseries("Demand by day", "Means of whole days, and the line through them.",
                        f"""select d.day as "time", d.rate as mean, l.slope * extract(epoch from d.day) / 86400 + l.base as trend
from {DAYS} as d cross join (select regr_slope(rate, extract(epoch from day) / 86400) as slope,
  regr_intercept(rate, extract(epoch from day) / 86400) as base from {DAYS} as d) as l order by 1""", "binBps", width=8,
                        empty="No day of this span is over and known: choose more days.")],
            [timeseries("Operations",
                        "A second, by class: many platforms are out of operations long before they are out of bytes.",
                        f"""select time, sum(read_ops) / max(seconds) as "read", sum(write_ops) / max(seconds) as "write",
  sum(metadata_ops) / max(seconds) as metadata
from {demand('volume', CHOSEN, together=True)} as d group by 1 order by 1""", "ops", stack=True),
             timeseries("Calls at a time",
                        "How many threads were inside reads, writes and metadata calls, on average: what the "
                        "storage must serve at once. By Little's law it is rate times latency.",
                        f"""select time, sum(data_latency_ns) / max(seconds) / 1e9 as data,
  sum(metadata_latency_ns) / max(seconds) / 1e9 as metadata
from {demand('volume', CHOSEN, together=True)} as d group by 1 order by 1""", "short", stack=True)],
            [row("By volume")],
            [table("How full", "As agents asked in the last minutes of the span. Growth is from the first to the last "
                               "answer, of at most a day; unblend report tells from two weeks on with what certainty a "
                   "volume will be full when.",
                   FULL + f"""select last.volume, last.fstype, last.nodes, last.used, last.total, last.used::float8 / nullif(last.total, 0) as full,
  last.files::float8 / nullif(last.total_files, 0) as "files full", {GROWN} as "growth a day",
  case when last.used > first.used then (last.total - last.used) / ({GROWN}) * 86400 end as "full in"
from last left join first on first.cluster = last.cluster and first.volume = last.volume
order by last.used::float8 / nullif(last.total, 0) desc nulls last limit 100""", width=24, height=8,
                   units={"used": "bytes", "total": "bytes", "full": "percentunit", "files full": "percentunit",
                          "growth a day": "bytes", "full in": "s"},
                   colors={"full": USED, "files full": USED,
                           "full in": [(None, "red"), (7 * 86400, "yellow"), (30 * 86400, "green")]},
                   links={"volume": [link("Latency of ${__value.text}", "latency",
                                          volume="${__value.raw:percentencode}")]},
                   empty="No agent told in the last minutes of this span how full volumes are.")],
            [table("Demand by volume",
                   "Bytes read and written a second, over the steps of the span, and how long it was above its own "
                   "95th percentile at a stretch is in unblend report.",
                   f"""select name as volume, avg(rate) as mean,
  {percentiles}, max(rate) as max, max(operations) as "operations, max", max(metadata) as "metadata, max"
from (select name, (read_bytes + write_bytes) / seconds as rate, (read_ops + write_ops + metadata_ops) / seconds as operations,
        metadata_ops / seconds as metadata
      from {demand('volume', CHOSEN)} as d) as d
group by 1 order by max(rate) desc limit 100""", width=24,
                   units={"mean": "binBps", "p50": "binBps", "p95": "binBps", "p99": "binBps", "max": "binBps",
                          "operations, max": "ops", "metadata, max": "ops"},
                   links={"volume": [link("Latency of ${__value.text}", "latency",
                                          volume="${__value.raw:percentencode}")]})],
        ], [BURSTS], span={"from": "now-7d", "to": "now"}, refresh="5m")
