# SPDX-License-Identifier: GPL-2.0-or-later
"""Every query of every dashboard and alert rule on a filled PostgreSQL, by a role that may read the views only: it must
run, give rows in the shape that its panel needs, and the sums that were sent.

UNBLEND_BINDIR as for collecting.py."""
import json
import os
import subprocess
import sys
import time

import collecting
import grafana
from asked import DASHBOARDS, Asked, Rules
from collecting import batch, lines
from harness import SOURCE

setUpModule, tearDownModule = collecting.setUpModule, collecting.tearDownModule
OPS = ("read write open close stat seek readdir create unlink rename mkdir truncate setattr fsync mmap_fault "
       "block_read block_write block_flush block_discard").split()


class TestFilled(Asked, Rules):
    """On a cluster that bench/fill made: all panels have something to show."""
    cluster = "prod"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        done = subprocess.run([sys.executable, os.path.join(SOURCE, "bench/fill"), "--db", cls.conninfo,
                               "--nodes", "14", "--raw",
                               "1h", "--minutes", "2h", "--hours", "10d"], capture_output=True, text=True, timeout=240)
        assert done.returncode == 0, done.stderr
        cls.until = int(cls.sql("select extract(epoch from max(time) + interval '1 minute')::bigint "
                                "from unblend.demand_1m"))

    def check_shape(self, kind, target, rows):
        for row in rows:
            self.assertEqual(list(row), list(rows[0]))
        columns = list(rows[0])
        if kind == "annotation":
            self.assertEqual(columns, ["time", "timeend", "title", "text", "tags"])
            return
        if target["format"] == "table":
            self.assertTrue(any(value is not None for row in rows for value in row.values()))
            return
        self.assertEqual(columns[0], "time")
        times = [row["time"] for row in rows]
        self.assertNotIn(None, times)
        self.assertEqual(times, sorted(times))
        kinds = {name: {type(row[name]) for row in rows} - {type(None)} for name in columns[1:]}
        if "metric" in kinds:  # a series each, named by it: three columns, or it is named by more
            self.assertEqual((columns, kinds["metric"]), (["time", "metric", "value"], {str}))
            self.assertEqual(len({(row["time"], row["metric"]) for row in rows}), len(rows))
            self.assertNotIn(None, [row["metric"] for row in rows])
            kinds.pop("metric")
        else:
            self.assertEqual(len(set(times)), len(rows))
        for name, found in kinds.items():
            self.assertLessEqual(found, {int, float}, name)
        self.assertTrue(any(kinds.values()))
        if kind == "heatmap":
            bounds = [float(name) for name in columns[1:]]
            self.assertEqual(bounds, sorted(set(bounds)))
            self.assertGreater(len(bounds), 10)

    def check_legend(self, kind, panel, rows):
        """Grafana gives a legend below a third of the panel: a table's head and three rows, where it is 8 high."""
        if kind != "timeseries":
            return
        legend = panel["options"]["legend"]
        series = len({row["metric"] for row in rows}) if "metric" in rows[0] else len(rows[0]) - 1
        if legend["displayMode"] == "table" and legend["placement"] == "bottom":
            self.assertLessEqual(series, (panel["gridPos"]["h"] - 8) * 0.6 + 3)
        self.assertTrue(legend["showLegend"])

    def check_ways(self, kind, panel, rows):
        """Whatever has a dashboard of its own leads there from a table."""
        if kind != "table":
            return
        linked = {override["matcher"]["options"]: [link["url"] for p in override["properties"] if p["id"] == "links"
                                                   for link in p["value"]] for override in panel["fieldConfig"]["overrides"]}
        for column in {"job", "node", "volume"} & set(rows[0]):
            urls = linked.get(column)
            self.assertTrue(urls, column)
            for url in urls:
                self.assertIn(f"var-{column}=${{__value.raw:percentencode}}", url)

    def test_every_query(self):
        count = 0
        for name, dashboard in DASHBOARDS.items():
            self.since = self.until - grafana.span_of(dashboard)
            # The slow node, and the one that something is known to be missing of.
            values = self.chosen(name, node=["node0007"]) if name == "node" else self.chosen(name)
            for title, kind, target, panel in grafana.queries(dashboard):
                with self.subTest(dashboard=name, panel=title):
                    rows = self.ask(grafana.expand(target["rawSql"], self.since, self.until,
                                                   grafana.interval_of(self.until - self.since, panel), values))
                    if kind != "annotation":
                        self.assertTrue(rows, target["rawSql"])
                    if rows:
                        self.check_shape(kind, target, rows)
                        self.check_legend(kind, panel, rows)
                        self.check_ways(kind, panel, rows)
                    count += 1
        self.assertGreater(count, 100)

    def test_long_spans(self):
        """By the hour, with the same rates: a step's rows are divided by what they stand for."""
        self.since = self.until - 7200
        short = self.panel("cluster", "Bytes read and written")
        self.since = self.until - 3 * 86400
        long = self.panel("cluster", "Bytes read and written")
        self.assertTrue(all(row["time"][14:19] == "00:00" for row in long))
        for column in ("read", "written"):
            means = [sum(row[column] for row in rows) / len(rows) for rows in (short[:60], long[-2:-1])]
            self.assertLess(abs(means[0] / means[1] - 1), 0.5, (column, means))

    def test_annotations(self):
        self.since = self.until - 3 * 86400
        for board, title in (("cluster", "Checkpoints"), ("profiles", "Checkpoints"), ("node", "Job starts"),
                             ("job", "Starts")):
            rows = self.panel(board, title)
            self.assertTrue(rows, (board, title))
            self.check_shape("annotation", None, rows)
        self.since = self.until - 7200
        # Of its six hours this tenant's minutes are known: those with a checkpoint stand out.
        names = [row["name"]
                 for row in self.ask("select distinct name from unblend.profiles where profile = 'checkpoint' and "
                                                 f"time > to_timestamp({self.since})")]
        for name in names:
            if self.panel("job", "Write bursts", job=[name]):
                return
        self.fail(f"no write burst of {names}")

    def test_alert_rules(self):
        """
        All but the storm, and what asks for six hours of raw rows, have an instance in this cluster, and the node that
        hangs is named.
        """
        for name in set(self.RULES) - {"metadata-storm", "used-growth"}:
            with self.subTest(rule=name):
                self.assertTrue(self.instances(name, self.until + 100))
        hung, = {row["node"] for row in self.instances("hang", self.until)}
        self.assertEqual(hung, "node0013")
        self.assertEqual(self.instances("node-silent", self.until), [])

    def test_the_slow_node_stands_out(self):
        self.since = self.until - 3600
        rows = [row for row in self.panel("storage", "Slowest devices of all nodes") if row["layer"] == "block"]
        self.assertEqual(rows[0]["node"], "node0013")
        self.assertGreater(rows[0]["served"], 4 * rows[1]["served"])
        oldest, = self.panel("node", "Oldest in flight", node=["node0013"])
        self.assertEqual(oldest["oldest"], 45_000_000_000)


class TestFigures(Asked, Rules):
    """What a collector took and summed up comes out as it was sent."""
    cluster = "c1"
    JOB = "it's_50%"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.since = int(time.time()) // 60 * 60 - 900
        cls.until = cls.since + 600
        values = []
        for seq in range(60):
            start_ns = (cls.since + 10 * seq) * 10**9
            records = [{"job": 0, "volume": 0, "op": op, "bytes": 8192 if op in ("read", "write") else 0, "errors": 0,
                        "latency_sum_ns": 5000, "latency_ns": "60:2",
                        **({"size": "0 96", "order": [0, 1, 1]} if op in ("read", "write") else {})} for op in OPS]
            records[0].update({"in_flight": 2, "oldest_ns": 31 * 10**9, "in_flight_ns": 40 * 10**9})
            first = start_ns // 10**8
            value = batch(seq, start_ns=start_ns, records=records, slot_ms=100, flows=[
                {"job": 0, "volume": 0, "first": first, "slots": 100, "read_bytes": "0*50 4096*2 0*48",
                 "write_bytes": "0*50 4096*2 0*48", "metadata_ops": "0*50 10*2 0*48", "data_burst_ns": "88:3",
                 "data_steady_ns": "64"}])
            value["jobs"][0].update({"job": cls.JOB, "watched_ns": 20 * 10**9, "exposed_ns": 5 * 10**9})
            value["storage"] = [
                {"layer": "block", "volume": 0, "request": "read", "for": "job", "job": 0, "ops": 4, "bytes": 16384,
                 "errors": 0, "merges": 1, "queue_sum_ns": 4000, "service_sum_ns": 80000},
                {"layer": "block", "volume": 0, "request": "all", "for": "unknown", "in_flight": 3}]
            value["trees"] = [{"job": 0, "volume": 0, "tree": "/train", "opens": 2, "reads": 3, "metadata": 5,
                               "read_bytes": 100, "wait_ns": 7},
                              {"job": 0, "volume": 0, "tree": "/", "writes": 1, "write_bytes": 9}]
            value["coverage"].update({"lost_ops": 1})
            value["volumes"][0]["space"] = [80 << 30, 100 << 30, 7, 10]
            values.append(value)
        # Six hours ago it was half full, and nothing was done.
        past = batch(60, start_ns=(cls.until - 60 - 6 * 3600) * 10**9, records=[])
        past["volumes"][0]["space"] = [50 << 30, 100 << 30, 7, 10]
        values.append(past)
        status, answer = cls.collector.post(lines(*values), cls.token)
        assert status == 200, (answer, cls.collector.log())
        deadline = time.monotonic() + 120
        while cls.sql("select count(*) from unblend.pending_1m") != "0":
            assert time.monotonic() < deadline, "minutes are not summed up:\n" + cls.collector.log()
            time.sleep(0.3)

    def minutes(self, board, title, **expected):
        """Ten minutes, all alike."""
        rows = self.panel(board, title)
        self.assertEqual(len(rows), 10)
        for row in rows:
            for name, value in expected.items():
                self.assertAlmostEqual(row[name.replace("_", " ")], value)

    def one(self, board, title):
        row, = self.panel(board, title)
        return row

    def test_cluster(self):
        self.minutes("cluster", "Bytes read and written", read=819.2, written=819.2)
        self.minutes("cluster", "Metadata, of all", metadata=20 / 30)  # seeks, syncs and faults among them
        self.minutes("cluster", "Metadata share", metadata=10 / 13, without_close=9 / 12)
        rows = self.panel("cluster", "99th percentile of latency")
        self.assertEqual({(row["metric"], row["value"]) for row in rows},
                         {(op, (8 + 4) << 6) for op in ("read", "write", "open", "stat")})
        job = self.one("cluster", "Jobs that moved most")
        self.assertEqual((job["job"], job["user"], job["nodes"], job["read"], job["written"], job["operations"]),
                         (self.JOB, "ann", 1, 60 * 8192, 60 * 8192, 60 * 2 * 15))
        self.assertEqual(self.one("cluster", "Volumes")["volume"], "/data")

    def test_profiles(self):
        for row in self.panel("profiles", "Sizes of reads"):  # one empty, one of 16 KiB
            self.assertEqual({name: count for name, count in row.items() if count and name != "time"},
                             {"0": 6, "16384": 6})
        self.minutes("profiles", "Read against write", by_operations=0.5, by_bytes=0.5)
        self.minutes("profiles", "Opens per MiB", opens_per_MiB=4 / (16384 / 2**20))
        self.minutes("profiles", "Where transfers start", consecutive=0.5, random=0.5, sequential=0)

    def test_bursts(self):
        # 16 KiB in 2 slots of each 100, or in one second of ten.
        self.assertAlmostEqual(self.one("bursts", "Peak to mean, 100 ms")["peak"], 50)
        self.assertAlmostEqual(self.one("bursts", "Peak to mean, 1 s")["peak"], 10)
        self.assertAlmostEqual(self.one("bursts", "Peak to mean, 10 s")["peak"], 1)
        self.assertAlmostEqual(self.one("bursts", "Idle")["idle"], 0.98)
        rows = self.panel("bursts", "Bytes: mean, and windows of 1 s and 100 ms")
        self.assertEqual(len(rows), 60)
        for row in rows:
            self.assertAlmostEqual(row["mean"], 1638.4)
            self.assertEqual((row["busiest second"], row["busiest 100 ms"]), (16384, 81920))
        row, = [row for row in self.panel("bursts", "Latency in bursts and outside") if row["when"] == "in bursts"]
        self.assertEqual((row["class"], row["operations"], row["p99"]), ("data", 180, 8 << 10))

    def test_latency(self):
        for row in self.panel("latency", "Latency by volume and operation"):
            self.assertEqual((row["volume"], row["operations"], row["mean"], row["p50"], row["p99"]),
                             ("/data", 120, 2500, 768, 768))

    def test_node_and_job(self):
        self.minutes("node", "Bytes read and written", read=819.2, written=819.2)
        for board in ("node", "job"):
            self.assertEqual(self.one(board, "Oldest in flight")["oldest"], 31 * 10**9)
        self.assertEqual(self.one("node", "Lost operations")["lost"], 60)
        self.assertEqual(self.one("node", "Jobs")["job"], self.JOB)
        for row in self.panel("job", "Bytes by node"):
            self.assertEqual((row["metric"], row["value"]), ("n1", 1638.4))
        self.minutes("job", "Data stalls", exposed=0.25)
        for row in self.panel("job", "Data stalls by node"):
            self.assertEqual((row["metric"], row["value"]), ("n1", 0.25))
        group = self.one("job", "Groups of processes")
        self.assertEqual((group["node"], group["command"], group["read"]), ("n1", "python3", 60 * 8192))
        # Threads: 2 reads, 2 writes took 5 us each ten seconds.
        for row in self.panel("job", "Threads waiting in calls"):
            self.assertAlmostEqual(row["reads and writes"], 1e-6)

    def test_trees(self):
        self.assertEqual([list(row.values()) for row in self.panel("job", "Trees")],
                         [["/data", "/train", 120, 180, 0, 300, 6000, 0, 420], ["/data", "/", 0, 0, 60, 0, 0, 540, 0]])
        self.assertEqual(self.panel("job", "Trees", job=["another"]), [])

    def test_storage(self):
        row = self.panel("storage", "Queue against device")[0]
        self.assertEqual((row["queued"], row["served"]), (1000, 20000))
        row, = self.panel("storage", "Requests by party and job")
        self.assertEqual((row["job"], row["requests"], row["bytes"]), (self.JOB, 240, 60 * 16384))
        self.assertEqual({row["value"] for row in self.panel("storage", "In flight")}, {3})

    def test_capacity(self):
        row = self.one("capacity", "Demand by volume")
        self.assertEqual((row["volume"], row["p50"], row["max"]), ("/data", 1638.4, 1638.4))
        row = self.one("capacity", "How full")
        self.assertEqual((row["volume"], row["used"], row["full"], row["files full"]), ("/data", 80 << 30, 0.8, 0.7))
        demand = self.one("capacity", "Demand, 95th percentile")["demand"]
        self.assertEqual(demand, 1638.4)
        found, = self.panel("capacity", "Utilization", limit=["2"])
        self.assertAlmostEqual(found["utilization"], demand / 2**31)

    def test_alert_rules(self):
        storm, = self.instances("metadata-storm", self.until)
        self.assertEqual((storm["job"], storm["rate"]), (self.JOB, 2))
        hang = self.instances("hang", self.until)
        self.assertEqual([(row["op"], row["oldest"]) for row in hang], [("read", 31)])
        self.assertGreater(31, self.above("hang"))
        full, = self.instances("full", self.until)
        self.assertEqual((full["volume"], full["share"]), ("/data", 0.8))
        growing, = self.instances("used-growth", self.until - 59)
        self.assertAlmostEqual(growing["growth"], 1.2)
        lost, = self.instances("loss", self.until - 1)
        self.assertEqual((lost["node"], lost["lost"]), ("n1", 60))
        slow, = self.instances("p99", self.until)
        self.assertEqual((slow["what"], slow["p99"]), ("reads of /data", 768 / 1e6))

    def report(self):
        found = subprocess.run([os.path.join(collecting.BINDIR, "unblend"), "report", "--db", self.conninfo,
                                "-f", "json", "--since", grafana.instant(self.since).strip("'")],
                               capture_output=True, text=True, timeout=60)
        self.assertEqual((found.returncode, found.stderr), (0, ""))
        return found.stdout

    def store(self, text):
        return subprocess.run([collecting.COLLECTOR, "profiles", "--embedded", self.directory], input=text,
                              capture_output=True, text=True, timeout=60)

    def test_profiles_of_a_report(self):
        """What a report found stands in the panels, with the bytes and operations that were sent; once."""
        report = self.report()
        for _ in range(2):
            done = self.store(report)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertRegex(done.stdout, r"^\d+ profiles stored$")
        patterns = [p for p in json.loads(report)["cluster"]["profiles"] if p["kind"] == "pattern"]
        rows = self.panel("cluster", "Demand by profile")
        self.assertEqual({row["metric"] for row in rows},
                         {p["profile"] for p in patterns if p["share_bytes"] is not None})
        self.assertAlmostEqual(sum(row["value"] for row in rows), 1638.4, delta=1)
        rows = self.panel("cluster", "Operations by profile")
        self.assertAlmostEqual(sum(row["value"] for row in rows), 60 * 2 * 15 / 600, delta=0.01)
        rows = [row for row in self.panel("profiles", "Profiles by job") if row["kind"] == "pattern"]
        self.assertEqual({row["job"] for row in rows}, {self.JOB})
        self.assertAlmostEqual(sum(row["share of bytes"] for row in rows), 1)
        self.assertEqual(self.one("cluster", "Jobs that moved most")["profile"],
                         max(patterns, key=lambda p: p["share_bytes"])["profile"])

    def test_no_report(self):
        """One line that names what is wrong, and nothing is stored."""
        before = self.sql("select count(*) from unblend.profiles")
        good = json.loads(self.report())
        broken = []
        for change in (lambda r: r.update(schema="other/1"), lambda r: r["span"].update(start="yesterday"),
                       lambda r: r["jobs"][0].update(job=7), lambda r: r["jobs"][0]["ops"]["read"].update(ops=-1),
                       lambda r: r["jobs"][0]["profiles"].append(r["jobs"][0]["profiles"][0]),
                       lambda r: r.pop("cluster")):
            value = json.loads(json.dumps(good))
            change(value)
            broken.append(json.dumps(value))
        for text, part in zip([*broken, "{", ""],
                              ("schema", "span.start", "jobs[0].job", "jobs[0].ops", "twice", "cluster",
                                                   "line 1", "No data")):
            done = self.store(text)
            self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (1, "", 1), done.stderr)
            self.assertIn(part, done.stderr)
        self.assertEqual(self.sql("select count(*) from unblend.profiles"), before)

    def test_fleet(self):
        # It has been silent since it sent, which on a busy machine may be long ago.
        self.assertEqual(self.one("fleet", "Nodes heard of")["nodes"] + self.one("fleet", "Silent nodes")["nodes"], 1)
        self.assertEqual(self.one("fleet", "Lost operations")["lost"], 60)
        self.minutes("fleet", "Nodes that were watched", nodes=1)
        self.minutes("fleet", "Coverage of time", watched=1)
