#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every query of every dashboard on a filled PostgreSQL: it must run and give rows, with the sums that were sent.

UNBLEND_BINDIR as for test_collector.py."""

import glob
import json
import os
import re
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import test_collector  # noqa: E402
from test_collector import Collector, batch, lines  # noqa: E402

setUpModule, tearDownModule = test_collector.setUpModule, test_collector.tearDownModule
DASHBOARDS = sorted(glob.glob(os.path.join(HERE, "../../dashboards/*.json")))
INTERVAL_S = 10
OPS = ("read write open close stat seek readdir create unlink rename mkdir truncate setattr fsync mmap_fault "
       "block_read block_write block_flush block_discard").split()


def expand(sql, start, end, values):
    """What Grafana makes of a query: variables, then macros."""
    for name, value in values.items():
        quoted = ",".join("'" + v.replace("'", "''") + "'" for v in value)
        sql = sql.replace("${%s:sqlstring}" % name, quoted)
    sql = sql.replace("$__interval_ms", str(INTERVAL_S * 1000)).replace("$__interval", f"{INTERVAL_S}s")
    sql = re.sub(r"\$__timeFilter\((\w+)\)",
                 lambda m: f"{m[1]} between to_timestamp({start}) and to_timestamp({end})", sql)
    return re.sub(r"\$__timeGroupAlias\((\w+), *(\d+)s\)",
                  lambda m: f'floor(extract(epoch from {m[1]}) / {m[2]}) * {m[2]} as "time"', sql)


class TestDashboards(test_collector.Database):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.end = int(time.time()) // 10 * 10
        cls.start = cls.end - 600
        values = []
        for seq in range(60):
            records = [{"job": 0, "volume": 0, "op": op, "bytes": 8192 if op in ("read", "write") else 0, "errors": 0,
                        "latency_sum_ns": 5000, "latency_ns": "60:2",
                        **({"size": "0 96"} if op in ("read", "write") else {})} for op in OPS]
            values.append(batch(seq, start_ns=(cls.start + 10 * seq) * 10**9, records=records))
        status, answer = cls.collector.post(lines(*values), cls.token)
        assert status == 200, (answer, cls.collector.log())

    def setUp(self):
        pass  # keep the rows

    def ask(self, sql):
        sql = expand(sql, self.start, self.end, {"cluster": ["c1"], "job": ["%"]})
        self.assertNotIn("$", sql)
        return self.sql(f"select coalesce(json_agg(q), '[]') from ({sql}) as q")

    def panels(self):
        for path in DASHBOARDS:
            with open(path) as file:
                dashboard = json.load(file)
            for panel in dashboard["panels"]:
                for target in panel.get("targets", []):
                    yield dashboard, panel, target["rawSql"]

    def test_every_panel_has_rows(self):
        count = 0
        for dashboard, panel, sql in self.panels():
            with self.subTest(dashboard=dashboard["uid"], panel=panel["title"]):
                rows = json.loads(self.ask(sql))
                self.assertTrue(rows)
                for row in rows:
                    self.assertTrue(any(value is not None for name, value in row.items() if name != "time"))
                if "$__timeGroup" in sql:
                    self.assertEqual(len({row["time"] for row in rows}), 60)
                count += 1
        self.assertGreaterEqual(count, 8)

    def test_variables(self):
        for path in DASHBOARDS:
            with open(path) as file:
                dashboard = json.load(file)
            self.assertTrue(dashboard["uid"])
            self.assertNotIn("id", dashboard)
            for variable in dashboard["templating"]["list"]:
                if variable["type"] == "query":
                    self.assertTrue(json.loads(self.ask(variable["query"])))

    def test_panels_read_views_only(self):
        views = {"samples", "intervals", "nodes", "jobs", "volumes"}
        for _, panel, sql in self.panels():
            for relation in re.findall(r"(?:from|join) unblend\.(\w+)(?!\w*\()", sql):
                self.assertIn(relation, views, panel["title"])

    def test_figures(self):
        by_title = {panel["title"]: json.loads(self.ask(sql)) for _, panel, sql in self.panels()}
        for row in by_title["Bytes read and written"]:
            self.assertEqual(row["value"], 819.2)
        for row in by_title["Share of metadata operations"]:  # 10 of 13, and 9 of 12 without close
            self.assertAlmostEqual(row["metadata"], 10 / 13)
            self.assertAlmostEqual(row["without close"], 9 / 12)
        for row in by_title["Latency by operation, 99th percentile"]:
            self.assertEqual(row["value"], (8 + 4) << 6)
        self.assertEqual({(row["metric"], row["value"]) for row in by_title["Sizes of reads"]},
                         {("0", 1), (str(8 << 11), 1)})
        top, = by_title["Top jobs"]
        self.assertEqual((top["job"], top["read"], top["written"], top["operations"]),
                         ("slurm:42", 60 * 8192, 60 * 8192, 60 * 2 * 15))
        node, = by_title["Nodes"]
        self.assertEqual((node["node"], node["intervals"], node["hooks not available"]), ("n1", 60, 0))


if __name__ == "__main__":
    unittest.main(verbosity=2)
