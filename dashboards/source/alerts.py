# SPDX-License-Identifier: GPL-2.0-or-later
"""Alert rules, as a provisioning file: JSON, which YAML readers take. Queries give a row an instance, with its labels as
texts and one number; no row is no trouble. Nowhere is a $: some parts of the file have variables of the environment expanded,
with $$ for what is meant, others are taken as they stand, and which, is the version's choice."""

SOURCE = "unblend"  # of provisioning/datasource.yaml: rules take no variables
FOLDER = "Unblend"
RECENT = "now() - interval '10 minutes'"


def rule(uid, title, sql, above, summary, about, pending="0s", span_s=600, severity="warning"):
    expression = {"type": "__expr__", "uid": "__expr__"}
    return {
        "uid": f"unblend-{uid}", "title": title, "condition": "B", "for": pending, "noDataState": "OK",
        "execErrState": "Error", "labels": {"severity": severity, "service": "unblend"},
        "annotations": {"summary": summary, "description": about}, "isPaused": False,
        "data": [
            {"refId": "A", "relativeTimeRange": {"from": span_s, "to": 0}, "datasourceUid": SOURCE,
             "model": {"refId": "A", "format": "table", "rawQuery": True, "editorMode": "code", "rawSql": sql,
                       "intervalMs": 60000, "maxDataPoints": 100}},
            {"refId": "B", "relativeTimeRange": {"from": span_s, "to": 0}, "datasourceUid": "__expr__",
             "model": {"refId": "B", "type": "threshold", "expression": "A", "datasource": expression,
                       "conditions": [{"type": "query", "evaluator": {"type": "gt", "params": [above]},
                                       "operator": {"type": "and"}, "query": {"params": ["B"]},
                                       "reducer": {"type": "last", "params": []}}]}}]}


NODE = "{{ .Labels.node }} of {{ .Labels.cluster }}"
VOLUME = "{{ .Labels.volume }} of {{ .Labels.cluster }}"


def figure(form):
    """Rules whose queries have no row are expanded, too, without any value."""
    return f"{{{{ with .Values.A }}}}{{{{ {form} .Value }}}}{{{{ end }}}}"


VALUE, PERCENT, DURATION = map(figure, ("humanize", "humanizePercentage", "humanizeDuration"))

RULES = [
    rule("node-silent", "Node silent", """select cluster, node, extract(epoch from now() - last_seen)::float8 as silent
from unblend.nodes where last_seen > now() - interval '1 day' and last_seen < now() - interval '30 seconds'""", 180,
         f"Nothing was heard of node {NODE} for {DURATION}",
         "Its agent, its network or the node is down. What it counts meanwhile waits in its spool. A node that was "
         "taken out of service is forgotten after a day.", severity="critical"),
    rule("loss", "Operations lost", f"""select cluster, node, sum(lost_ops)::float8 as lost
from unblend.intervals where time > {RECENT} group by 1, 2 having sum(lost_ops) > 0""", 0,
         f"The kernel of {NODE} missed {VALUE} operations in ten minutes",
         "Figures are too small by so much. unblend doctor on the node says which hooks lose; kernels that preempt BPF programs do."),
    rule("dropped", "Batches dropped", f"""select cluster, node, why, sum(batches)::float8 as batches
from unblend.drops where told_at > {RECENT} group by 1, 2, 3""", 0,
         f"{VALUE} batches of node {NODE} will never come ({{{{ .Labels.why }}}})",
         "quota: its spool was full before the collector came back. refused: the collector does not take them, see its log."),
    rule("hang", "Operation in flight over 30 s", """select cluster, node, job, volume, op, max(oldest_ns)::float8 / 1e9 as oldest
from unblend.samples where time > now() - interval '2 minutes' and oldest_ns > 30000000000 group by 1, 2, 3, 4, 5
order by 6 desc limit 100""", 30,
         f"A {{{{ .Labels.op }}}} of job {{{{ .Labels.job }}}} on {{{{ .Labels.volume }}}}, node {NODE}, has been running for {DURATION}",
         "Its storage hangs, for this node at least: see whether other nodes have the same, and unblend top there for the process.",
         severity="critical"),
    rule("p99", "Slow reads", """select cluster, 'reads of ' || name as what, value::float8 / 1e6 as p99
from (select s.cluster, s.name, (select value from unblend.quantiles('volume', array[s.cluster], array[s.name],
          array['read'], 'latency', now() - interval '15 minutes', now(), null, array[0.99], '') as q) as value
      from unblend.subjects as s where s.subject = 'volume' and 100 < (
          select sum(d.read_ops) from unblend.demand_by_minute as d where d.subject_id = s.subject_id
            and d.time > now() - interval '15 minutes')) as v
where value is not null""", 500,
         "The 99th percentile of {{ .Labels.what }} of {{ .Labels.cluster }} is " + f"{VALUE} ms",
         "Over fifteen minutes, by volumes that are read at all. Set the threshold to what the platform promises.", pending="5m",
         span_s=900),
    rule("metadata-storm", "Metadata storm", """select cluster, name as job, max(metadata_ops)::float8 / 60 as rate
from unblend.demand_by_minute where subject = 'job' and time > now() - interval '5 minutes'
  and metadata_ops > 3 * (read_ops + write_ops) group by 1, 2""", 50000,
         f"Job {{{{ .Labels.job }}}} of {{{{ .Labels.cluster }}}} asks for {VALUE} metadata operations a second",
         "And does hardly anything else: a scan, an import or a clean-up. Others on the same file system wait for it.", pending="2m"),
    rule("headroom", "Little headroom", """select cluster, name as volume,
  (percentile_disc(0.95) within group (order by read_bytes + write_bytes) filter (where time > now() - interval '1 day'))::float8
    / nullif(max(read_bytes + write_bytes), 0) as utilization
from unblend.demand_by_hour where subject = 'volume' and time > now() - interval '30 days'
group by 1, 2 having count(*) >= 48""", 0.95,
         f"Volume {VOLUME}: the last day's demand is at {PERCENT} of the highest hour of a month",
         "The highest hour is no limit, but the most that was ever seen to pass. Where the platform's limit is known, put it in the "
         "place of max(...).", pending="1h", span_s=3600),
    rule("full", "Volume nearly full", """select cluster, volume, max(used_bytes::float8 / nullif(total_bytes, 0)) as share
from unblend.space where time > now() - interval '3 minutes' group by 1, 2 having max(total_bytes) > 0""", 0.9,
         f"Volume {VOLUME} is full to {PERCENT}",
         "Of what may be used. Many file systems slow down before they are full.", pending="5m", severity="critical"),
    rule("used-growth", "Used bytes grow fast", """select last.cluster, last.volume,
  ((last.used - past.used) * 4 / nullif(last.total, 0))::float8 as growth
from (select cluster, volume, max(used_bytes) as used, max(total_bytes)::float8 as total from unblend.space
      where time > now() - interval '3 minutes' group by 1, 2) as last
join (select cluster, volume, max(used_bytes) as used from unblend.space
      where time > now() - interval '363 minutes' and time <= now() - interval '6 hours' group by 1, 2) as past
  on past.cluster = last.cluster and past.volume = last.volume""", 0.1,
         f"Volume {VOLUME} fills by {PERCENT} of its size a day",
         "As it did in the last six hours: at 0.1 an empty one is full in ten days. See which jobs write there.", pending="10m"),
    rule("growth", "Demand grows fast", """select cluster, name as volume,
  regr_slope(bytes, day)::float8 / nullif(avg(bytes), 0)::float8 as growth
from (select cluster, name, extract(epoch from date_trunc('day', time)) / 86400 as day, sum(read_bytes + write_bytes)::float8 as bytes
      from unblend.demand_by_hour where subject = 'volume' and time >= date_trunc('day', now()) - interval '14 days'
        and time < date_trunc('day', now()) group by 1, 2, 3) as d
group by 1, 2 having count(*) >= 7""", 0.05,
         f"Demand for volume {VOLUME} grows by {PERCENT} of itself a day",
         "The slope of two weeks' days over their mean: at 0.05 it doubles in three weeks.", pending="1h", span_s=3600),
]


def build():
    return {"apiVersion": 1,
            "groups": [{"orgId": 1, "name": "Unblend", "folder": FOLDER, "interval": "1m", "rules": RULES}]}
