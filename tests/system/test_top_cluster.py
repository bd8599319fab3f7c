# SPDX-License-Identifier: GPL-2.0-or-later
"""`unblend top --db`: two nodes in a PostgreSQL, and the screen that shows them."""
import datetime
import json
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import harness  # noqa: E402
import collecting  # noqa: E402
from terminal import Terminal  # noqa: E402
from collecting import batch, lines, pairs  # noqa: E402

setUpModule, tearDownModule = collecting.setUpModule, collecting.tearDownModule
INTERVALS = 5


class TestCluster(collecting.Database):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.second = cls.enroll("n2")

    def setUp(self):
        super().setUp()  # without rows
        # far enough back that all of them are complete, not so far that top leaves them out
        start = int(time.time()) // 10 * 10 - 70
        for node, token, reads in ("n1", self.token, 100), ("n2", self.second, 300):
            values = [batch(seq, node=node, stream=f"{start:016x}{reads:016x}", start_ns=(start + 10 * seq) * 10**9,
                            duration_ns=10**10, records=[
                                {"job": 0, "volume": 0, "op": "read", "bytes": 4096 * reads, "errors": 0,
                                 "latency_sum_ns": 1000 * reads, "size": pairs(80, reads),
                                 "latency_ns": pairs(60, reads)}])
                      for seq in range(INTERVALS)]
            status, answer = self.collector.post(lines(*values), token)
            assert status == 200, answer

    def test_nodes_apart_and_together(self):
        for tab, key, name in ("nodes", "nodes", "node"), ("jobs", "processes", "job"):
            text = harness.must([harness.unblend(), "top", "-b", "--json", "-n", "2", "--tab", tab, "--db",
                                 self.conninfo])
            for sample in map(json.loads, text.splitlines()):
                self.assertEqual("*", sample["node"])
                self.assertEqual(40, sample["totals"]["read_ops_s"])
                rows = {row[name]: row["read_ops_s"] for row in sample[key]}
                self.assertEqual({"n1": 10, "n2": 30} if tab == "nodes" else {"slurm:42": 40}, rows)

    def test_so_many_samples_are_the_last(self):
        """Of a minute, one that is asked for is no minute old."""
        last = int(self.sql("select extract(epoch from max(time))::bigint from unblend.intervals"))
        for count in 1, 2, INTERVALS:
            text = harness.must([harness.unblend(), "top", "-b", "--json", "-n", str(count), "--db", self.conninfo])
            ends = [datetime.datetime.fromisoformat(json.loads(sample)["time"].replace("Z", "+00:00")).timestamp()
                    for sample in text.splitlines()]
            self.assertEqual([last + 10 * (1 - n) for n in range(count)], ends[::-1])

    def test_nothing_has_come_for_long(self):
        """So many samples are asked for: the first is the last that there is, and it says how old it is."""
        top = [harness.unblend(), "top", "-b", "--json", "-n", "1", "--db", self.conninfo]
        self.wipe()
        result = subprocess.run(top, capture_output=True, text=True, timeout=30)
        self.assertEqual((1, ""), (result.returncode, result.stdout))
        self.assertRegex(result.stderr, r"^unblend: no node has told anything yet: .*\n$")
        start = int(time.time()) // 10 * 10 - 7200
        for node, token in ("n1", self.token), ("n2", self.second):
            values = [batch(seq, node=node, start_ns=(start + 10 * seq) * 10**9, duration_ns=10**10) for seq in (1, 2)]
            self.assertEqual(200, self.collector.post(lines(*values), token)[0])
        result = subprocess.run(top, capture_output=True, text=True, timeout=30)
        self.assertEqual(0, result.returncode, result.stderr)
        self.assertRegex(result.stderr, r"^unblend: warning: nothing has come since .*, 1h59m\d+s ago: .*\n$")
        sample, = map(json.loads, result.stdout.splitlines())
        self.assertEqual(0.4, sample["totals"]["read_ops_s"])

    def test_slow_nodes_are_waited_for(self):
        """An agent sends up to five seconds after an interval's end, at random: nobody is left out for that."""
        now = int(time.time())
        at = {node: [batch(seq, node=node, stream=f"{now:016x}{node[1]:0>16}", start_ns=start * 10**9, duration_ns=10**10)
                     for seq, start in ((1, now - 30), (2, now - 10))] for node in ("n1", "n2")}
        self.wipe()
        for node, token in ("n1", self.token), ("n2", self.second):
            self.assertEqual(200, self.collector.post(at[node][0], token)[0])
        self.assertEqual(200, self.collector.post(at["n1"][1], self.token)[0])
        with subprocess.Popen([harness.unblend(), "top", "-b", "--json", "-n", "2", "--tab", "nodes", "--db", self.conninfo],
                              stdout=subprocess.PIPE, text=True) as top:
            first = json.loads(top.stdout.readline())
            time.sleep(3)
            self.assertEqual(200, self.collector.post(at["n2"][1], self.second)[0])
            second = json.loads(top.stdout.readline())
        for sample, reads in (first, 0.1), (second, 0.2):
            self.assertEqual({"n1": reads, "n2": reads}, {row["node"]: row["read_ops_s"] for row in sample["nodes"]})

    def test_the_last_of_long_intervals_is_complete(self):
        """However long they are: the one before is shown while slow nodes of the last one are waited for."""
        now = int(time.time())
        self.wipe()
        for node, token, starts in ("n1", self.token, (now - 125, now - 65)), ("n2", self.second, (now - 125,)):
            values = [batch(seq, node=node, stream=f"{now:016x}{node[1]:0>16}", start_ns=start * 10**9,
                            duration_ns=60 * 10**9, interval_ms=60000) for seq, start in enumerate(starts, 6)]
            self.assertEqual(200, self.collector.post(lines(*values), token)[0])
        sample = json.loads(harness.must([harness.unblend(), "top", "-b", "--json", "-n", "1", "--tab", "nodes", "--db",
                                          self.conninfo]))
        self.assertEqual({"n1": 0.1, "n2": 0.1}, {row["node"]: row["read_ops_s"] for row in sample["nodes"]})

    def test_on_the_screen(self):
        with Terminal(100, 24, [harness.unblend(), "top", "--db", self.conninfo]) as terminal:
            screen = terminal.wait(r"n2\n")
            self.assertIn("2 nodes", screen)
            self.assertRegex(screen, r"Nodes +Processes +Jobs")
            self.assertRegex(screen, r"120K .* n2\n +40K .* n1\n")
            terminal.press("Enter")
            terminal.wait("The jobs of all nodes")
            terminal.press("Escape", "Tab", "Tab")
            terminal.wait("slurm:42")
            terminal.press("q")
            self.assertEqual((0, ""), (terminal.ended(), terminal.said()))

    def test_every_tab_and_key(self):
        """What works on a node works on the cluster, or says why it cannot."""
        with Terminal(160, 50, [harness.unblend(), "top", "--db", self.conninfo]) as terminal:
            for mark in (r"n2\n", r"PID USER.*\n.*slurm:42", r"PROCS.*\n.*slurm:42", r"MOUNT.*\n.*/data", "DEVICE",
                         "BYTES OPS%", "PK:MEAN", "WHAT"):
                terminal.wait(mark)
                terminal.press("Tab")
            terminal.wait(r"n2\n")
            terminal.press("Tab")
            for key, words in (("p", "a collector knows jobs only"), ("H", "a collector knows jobs only"),
                    ("t", "only a replay"), ("T", "only a replay"), ("b", "only in a replay"),
                    ("f", "choose one and press Enter"), ("c", "records hold no arguments")):
                terminal.press(key)
                terminal.wait(words)
            for key, words in (("a", "amounts over"), ("a", r"over \d+"), ("s", "FROZEN"), ("s", "every 10 s"),
                    ("F5", "slurm:42"), ("F5", "PID USER"), ("F2", "Setup of Processes"), ("Escape", "PID USER"),
                    ("F6", "Sort Processes by"), ("Escape", "PID USER"), ("h", "Keys"), ("Escape", "PID USER"),
                    ("Enter", "Operations"), ("f", "those of a process"), ("Escape", "PID USER"), ("K", "PID USER"),
                    ("r", "PID USER"), ("o", "PID USER"), ("Left", "PID USER"), ("Right", "PID USER")):
                terminal.press(key)
                terminal.wait(words)
            terminal.press("/")
            terminal.type("job:nobody's")
            terminal.press("Enter")
            terminal.wait("nothing matches the filter")
            terminal.press("Escape")
            terminal.wait("slurm:42")
            terminal.press("q")
            self.assertEqual((0, ""), (terminal.ended(), terminal.said()))
