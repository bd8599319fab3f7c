#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the kernel says of tasks that wait for I/O: never more than its own file gained, and null where it has none."""
import os
import tempfile
import unittest

import harness
from test_path import Agent, Collector, system_user, until

PRESSURE = "/proc/pressure/io"
MIB = 1 << 20


def totals():
    """{"some": seconds, "full": seconds} since the boot."""
    with open(PRESSURE, encoding="ascii") as file:
        return {line.split()[0]: int(line.rsplit("=", 1)[1]) / 1e6 for line in file}


def is_told():
    try:
        return bool(totals())
    except OSError:
        return False


@unittest.skipUnless(is_told(), "this kernel does not tell of pressure")
class PressureTest(harness.SystemTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        system_user()
        os.chmod(cls.directory, 0o755)
        cls.target = os.path.join(cls.directory, "written")

    def wait_for_a_disk(self):
        """Whoever waits for a disk waits for I/O; the kernel adds that up every two seconds."""
        return ["sh", "-c", f"for i in 1 2 3; do {harness.tool('dd')} if=/dev/zero of={self.target} bs={MIB} count=64"
                " oflag=dsync; sleep 1; done"]

    def assert_within(self, told, before, after):
        for kind in ("some", "full"):
            seconds = told[kind] * told["seconds"]
            self.assertLessEqual(seconds, after[kind] - before[kind] + 1e-6, kind)
        self.assertLessEqual(told["full"], told["some"])

    def test_a_recording(self):
        before = totals()
        self.assertEqual(0, harness.record(self.path("x.rec"), self.wait_for_a_disk()).returncode)
        after = totals()
        report = harness.report(self.path("x.rec")).data
        told = report["nodes"][0]["io_pressure"]
        self.assert_within(told, before, after)
        self.assertGreater(told["some"], 0)
        self.assertIn("pressure", [hook["hook"] for hook in report["coverage"]["hooks"]])
        text = harness.must([harness.unblend(), "report", self.path("x.rec")])
        self.assertRegex(text, r"\nPressure  tasks waited for I/O [\d.]+ % of the time, all at once [\d.]+ %,\n"
                               r" +as the kernel sees it\n")
        html = harness.must([harness.unblend(), "report", "-f", "html", self.path("x.rec")])
        self.assertIn("Some waited for I/O", html)

    def test_through_a_database(self):
        directory = tempfile.mkdtemp(dir=self.directory)
        os.chmod(directory, 0o755)
        collector = Collector(directory)
        self.addCleanup(lambda: collector.process.poll() is None and collector.stop())
        token = os.path.join(directory, "token")
        with open(token, "w", encoding="ascii") as file:
            file.write(collector.enroll())
        agent = Agent(directory, collector, token)
        self.addCleanup(lambda: agent.process.poll() is None and agent.stop())
        self.assertEqual(0, agent.record("pressed", self.wait_for_a_disk(), self.path("y.rec")).returncode)
        self.assertEqual(0, agent.stop())
        copy = [batch["io_pressure"] for batch in harness.batches(agent.copy)]
        self.assertGreater(sum(some for some, _ in copy), 0)

        def rows(view):
            return harness.must([harness.tool("psql"), collector.conninfo(), "-Atc",
                                 f"select count(*), sum(io_some_ns), sum(io_full_ns) from unblend.{view}"]).strip()
        expected = [sum(some for some, _ in copy), sum(full for _, full in copy)]
        self.assertEqual("|".join(map(str, [len(copy), *expected])), rows("intervals"))
        until(lambda: rows("intervals_1m").split("|")[1:] == list(map(str, expected)), "the minutes have it, too", 120)

    def test_no_file(self):
        """A root without it, as kernels without CONFIG_PSI have."""
        root = tempfile.mkdtemp(dir=self.directory)
        os.makedirs(os.path.join(root, "proc", "pressure"))
        batches = self.batches_below(root)
        self.assertEqual([], [batch for batch in batches if "io_pressure" in batch])
        with open(os.path.join(root, "proc", "pressure", "io"), "w", encoding="ascii") as file:
            file.write("some avg10=0.00 avg60=0.00 avg300=0.00 total=5\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1\n")
        batches = self.batches_below(root)
        self.assertEqual([[0, 0]] * len(batches), [batch["io_pressure"] for batch in batches])

    def batches_below(self, root):
        copy = tempfile.mktemp(dir=self.directory)
        daemon = harness.run(
            [harness.tool("timeout"), "--preserve-status", "-s", "TERM", "6", os.path.join(harness.bindir(), "unblend-agent"),
             "--root", root, "--socket", f"{copy}.sock", "--interval", "1s", "--copy", copy, "--user", "root"])
        self.assertEqual(0, daemon.returncode, daemon.stderr)
        batches = harness.batches(copy)
        self.assertTrue(batches)
        return batches


if __name__ == "__main__":
    harness.main()
