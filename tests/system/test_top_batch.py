# SPDX-License-Identifier: GPL-2.0-or-later
"""`unblend top` without a terminal: -b, --json, --csv, and what it does not take."""
import csv
import io
import json
import re
import signal
import subprocess

import harness
import made
from top_case import TABS, TopTest, listed


class TestBatch(TopTest):
    def test_first_sample_and_titles(self):
        done = self.batch("-n", "2")
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        self.assertEqual(2, done.stdout.count("total: "))
        self.assertEqual(2, done.stdout.count("PID USER"))
        self.assertIn("python3", done.stdout.split("total: ")[1])

    def test_quiet(self):
        counts = []
        for quiet in "-q", "-qq", "-qqq", "--quiet=2":
            done = self.batch("-n", "3", quiet)
            self.assertEqual((0, ""), (done.returncode, done.stderr))
            counts.append((done.stdout.count("total: "), done.stdout.count("PID USER")))
        self.assertEqual([(3, 1), (3, 0), (0, 0), (3, 0)], counts)

    def test_flags(self):
        done = self.batch("-n", "1", "-P", "-t", "-k", "-o", "-qqq", "-p", "4102")
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        self.assertRegex(done.stdout, r"^12:00:01 +4102 60001 +\d+\.\d\d ")
        self.assertEqual(1, done.stdout.count("\n"))
        done = self.batch("-a", "-qqq", "-u", "root", "-s", "pid")
        self.assertEqual(70, done.stdout.count(" find"))

    def test_json_has_the_columns_that_are_listed(self):
        known = {line[0] for line in listed("column")} - {"history"}
        seen = set()
        for tab in TABS:
            done = self.batch("--json", "--tab", tab)
            samples = [json.loads(line) for line in done.stdout.splitlines()]
            self.assertEqual(made.SECONDS, len(samples))
            last = samples[-1]
            rows = last[{"jobs": "processes", "coverage": "items"}.get(tab, tab)]
            self.assertTrue(rows, tab)
            for row in rows:
                self.assertEqual(set(), set(row) - known - {"exited"})
                seen |= set(row)
            self.assertIsNone(last["totals"]["fault_bytes_s"])
            self.assertEqual("mmap_fault", last["coverage"]["hooks"][1]["hook"])
        self.assertEqual({"lost", "node", "tid"}, known - seen)  # those of a cluster, and of threads

    def test_sums(self):
        """What is shown since the start are the recording's sums."""
        want = [0, 0]
        for batch in harness.batches(self.recording):
            for one in batch["records"]:
                want[0] += one["bytes"] if one["op"] == "read" else 0
                want[1] += one["bytes"] if one["op"] == "write" else 0
        for tab, key in ("jobs", "processes"), ("volumes", "volumes"):
            last = json.loads(self.batch("--json", "-a", "--tab", tab).stdout.splitlines()[-1])
            self.assertEqual(want, [last["totals"]["read_bytes"], last["totals"]["write_bytes"]])
            self.assertEqual(want, [sum(row[name] for row in last[key]) for name in ("read_bytes", "write_bytes")])

    def test_the_last_bucket_is_no_negative_time(self):
        batch = harness.batches(self.recording)[0]
        batch["records"] = [{key: record[key] for key in ("job", "volume", "process", "op", "bytes", "latency_sum_ns")} |
                            {"errors": 0, "latency_ns": "495"} for record in batch["records"] if "process" in record]
        recording = harness.write_recording(self.path("last.rec"), [{**batch, "flows": []}])
        sample = json.loads(self.batch("--json", recording=recording).stdout)
        self.assertEqual({2 ** 63 - 1}, {row["p99_ns"] for row in sample["processes"]} - {None})

    def test_csv(self):
        rows = list(csv.DictReader(io.StringIO(self.batch("--csv", "-n", "2").stdout, newline="")))
        self.assertEqual({"2026-03-01T12:00:01.000Z", "2026-03-01T12:00:02.000Z"}, {row["time"] for row in rows})
        one, = [row for row in rows if row["pid"] == "4102" and row["time"].endswith(":01.000Z")]
        self.assertEqual((float(one["read_ops_s"]), one["job"], one["fault_bytes_s"]), (640.0, "train-resnet", ""))

    def test_wrong_usage(self):
        for options, words in ((["--tab", "x"], "no tab"), (["-s", "x"], "no column"), (["-f", "("], "--filter"),
                               (["-d", "0.01"], "0.1 s"), (["--json", "--csv"], "both"), (["--theme", "x"], "theme"),
                               (["--tab", "nodes"], "--db"),
                               (["--threads"], "recordings hold processes"), (["--tab", "threads"], "recordings")):
            done = self.batch(*options)
            self.assertEqual((2, ""), (done.returncode, done.stdout), options)
            self.assertRegex(done.stderr, r"^unblend: [^\n]*" + re.escape(words) + r"[^\n]*\n$")

    def test_a_configuration_file(self):
        path = self.path("top.conf")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"replay = {self.recording}\njson\ntab = jobs\ncount = 2\n")
        done = harness.run([harness.unblend(), "top", "--config", path, "--count", "1"])
        self.assertEqual((0, "", 1), (done.returncode, done.stderr, len(done.stdout.splitlines())))
        self.assertEqual("jobs", json.loads(done.stdout)["tab"])
        with open(path, "a", encoding="utf-8") as file:
            file.write("colour = red\n")
        done = harness.run([harness.unblend(), "top", "--config", path])
        self.assertEqual((2, ""), (done.returncode, done.stdout))
        self.assertRegex(done.stderr, rf"^unblend: {re.escape(path)}:5: 'colour' is no option[^\n]*\n$")

    def test_a_closed_pipe_is_the_end(self):
        top = subprocess.Popen([harness.unblend(), "top", "-b", "--replay", self.recording], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        top.stdout.readline()
        top.stdout.close()
        self.assertEqual("", top.stderr.read())
        top.stderr.close()
        self.assertEqual(-signal.SIGPIPE, top.wait(30))
