# SPDX-License-Identifier: GPL-2.0-or-later
"""What happened, at the axes of whatever is drawn: bursts and checkpoints."""
from grafana import annotation, demand


def bursts(subject="cluster", names="null", title="Bursts", color="orange", column="read_bytes + write_bytes"):
    """Minutes (hours, over long spans) that ask for three times the mean and more."""
    one = title[:-1]
    return annotation(title, color, f"""with d as (
  select time, sum({column}) as bytes, max(seconds) as seconds
  from {demand(subject, names, "'1m'")} as d group by 1)
select time, time + seconds * interval '1 second' as timeend, '{one}' as title,
  pg_size_pretty((bytes / seconds)::numeric) || '/s, ' || round(bytes / mean, 1) || ' times the mean' as text, 'burst' as tags
from d cross join (select avg(bytes) as mean from d) as m
where bytes > 3 * mean order by bytes desc limit 100""")


def checkpoints(where):
    """What a job is doing while it writes most: of jobs p.name for which the condition holds."""
    return annotation("Checkpoints", "blue", f"""select p.time, p.until as timeend, 'Checkpoint of ' || p.name as title,
  pg_size_pretty(p.bytes::numeric) || ' written, ' || round((100 * p.share_bytes)::numeric) || ' % of its bytes' as text,
  'checkpoint' as tags
from unblend.profiles as p
where p.subject = 'job' and p.profile = 'checkpoint' and p.share_bytes >= 0.2 and p.cluster in (${{cluster:sqlstring}})
  and {where} and $__timeFilter(p.time)
order by p.bytes desc limit 100""")


BURSTS = bursts()
CHECKPOINTS = checkpoints("true")
OF_JOB = checkpoints("p.name in (${job:sqlstring})")
OF_NODE = checkpoints("p.name in (select job from unblend.jobs where cluster in (${cluster:sqlstring}) "
                      "and node in (${node:sqlstring}))")
