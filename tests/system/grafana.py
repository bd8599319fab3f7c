# SPDX-License-Identifier: GPL-2.0-or-later
"""What Grafana makes of a dashboard's queries before PostgreSQL sees them: its variables, then the macros of its
PostgreSQL data source, as that expands them."""
import json
import math
import re
import subprocess
import time

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
MACRO = re.compile(r"\$(__\w+)\(([^)]*)\)")


class Session:
    """One connection, by psql, that has become a role."""

    def __init__(self, conninfo, role):
        self.psql = subprocess.Popen(["psql", "-XAtq", conninfo], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT, text=True)
        self.ask(f"set role {role}; set statement_timeout = '60s'")

    def ask(self, sql):
        """What it printed; an error is one, with its message."""
        self.psql.stdin.write(sql + ";\n\\echo done :ERROR\n")
        self.psql.stdin.flush()
        lines = []
        for line in self.psql.stdout:
            if line.startswith("done "):
                if line.strip() != "done false":
                    raise AssertionError("\n".join([*lines, sql]))
                return "\n".join(lines)
            lines.append(line.rstrip("\n"))
        raise AssertionError("\n".join(["psql has ended", *lines, sql]))

    def close(self):
        self.psql.stdin.close()
        self.psql.wait(60)
        self.psql.stdout.close()


def instant(at):
    return "'" + time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at)) + "'"


def seconds(text):
    return float(text[:-1]) * UNITS[text[-1]]


def span_of(dashboard):
    """How many seconds a dashboard shows when it is opened."""
    found = re.fullmatch(r"now-(\w+)", dashboard["time"]["from"])
    assert dashboard["time"]["to"] == "now", dashboard["time"]
    return seconds(found[1])


def interval_of(span_s, panel):
    """$__interval: what fits a thousand points, or as many as the panel wants, and no less than it asks for."""
    step = max(span_s / panel.get("maxDataPoints", 1000), seconds(panel.get("interval", "1s")))
    return next(round for round in (1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1200, 1800, 3600, 7200,
                                    10800, 21600, 43200, 86400, 7 * 86400) if round >= math.floor(step))


def quoted(values):
    return ",".join("'" + value.replace("'", "''") + "'" for value in values)


def with_variables(sql, variables):
    """variables: {name: [value]}, or {name: text} for what All stands for, which goes in as it is."""
    for name, value in variables.items():
        text = value if isinstance(value, str) else quoted(value)
        raw = value if isinstance(value, str) else ",".join(value)
        sql = sql.replace("${%s:sqlstring}" % name, text).replace("${%s:raw}" % name, raw)
    return sql


def expand(sql, since, until, interval_s, variables):
    """What the data source makes of it."""
    sql = with_variables(sql, variables)
    sql = sql.replace("$__interval_ms", str(interval_s * 1000)).replace("$__interval", f"{interval_s}s")

    def macro(found):
        name, arguments = found[1], [argument.strip() for argument in found[2].split(",")]
        if name == "__timeFrom":
            return instant(since)
        if name == "__timeTo":
            return instant(until)
        if name == "__timeFilter":
            return f"{arguments[0]} BETWEEN {instant(since)} AND {instant(until)}"
        if name == "__timeGroupAlias":
            width = f"{seconds(arguments[1]):g}"
            return f'floor(extract(epoch from {arguments[0]})/{width})*{width} AS "time"'
        raise AssertionError(f"a macro that the PostgreSQL data source does not have: {found[0]}")

    sql = MACRO.sub(macro, sql)
    if "$__" in sql or "${" in sql:
        raise AssertionError(f"left over: {sql}")
    return sql


def good_when_empty(panel):
    """Whether it lists troubles, and says so when there are none."""
    empty = panel.get("fieldConfig", {}).get("defaults", {}).get("noValue", "")
    return empty.startswith(("Nothing is known", "Every "))


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def choose(dashboard, since, until, ask, chosen=()):
    """Values of all variables as a browser would have them at first: All, or else the first. ask(sql) returns rows."""
    values = {}
    for variable in dashboard["templating"]["list"]:
        name = variable["name"]
        if variable["type"] == "query":
            rows = [next(iter(row.values())) for row in ask(expand(variable["query"], since, until, 60, values))]
            assert rows, f"{dashboard['uid']}: nothing to choose for {name}"
            values[name] = variable.get("allValue") or (rows if variable["multi"] else rows[:1])
        elif variable["type"] in ("custom", "textbox"):
            value = variable["current"]["value"]
            values[name] = value if isinstance(value, list) else [value]
        if name in chosen:
            values[name] = chosen[name]
    return values


def queries(dashboard):
    """(title, kind, query, panel) of all that a dashboard asks, but for its variables."""
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            yield panel["title"], panel["type"], target, panel
    for annotation in dashboard["annotations"]["list"]:
        if "target" in annotation:
            yield annotation["name"], "annotation", annotation["target"], {"interval": "1m"}
